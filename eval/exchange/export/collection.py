"""The test collection behind a run: documents, topics, judgements and pools, with encoded ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from eval.datasets.pooled import POOLED
from eval.datasets.reload import load_original
from eval.records.rankings import SESSION, session_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.records.trec import document_of, encode
from eval.summary.retrieval import evidence_of
from memsys.core.errors import InputError
from memsys.core.turns import are_documents, line
from memsys.core.types import UNDATED, Session, Turn

UnitName = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Document:
    """A turn, a whole session, or a document of a retrieval benchmark, which has no session, time
    and speakers. `session`: the document id of its session. `speakers`: each once.
    """

    id: str
    text: str
    session: str | None
    time: str | None
    speakers: tuple[str, ...]

    def fields(self) -> dict[str, str]:
        """Return session, time and speaker as far as they are known."""
        known = {"session": self.session, "time": self.time, "speaker": ", ".join(self.speakers)}
        return {name: value for name, value in known.items() if value}


class Collection:
    """Documents of the stores that a run's questions are asked of, and the run's topics.

    `pools`: the ids of the documents among which a question is ranked, by its conversation; None
    if these are all documents.
    """

    def __init__(self, run: Run, unit: UnitName, code: Callable[[str], str] = encode) -> None:
        """Load the data set of `run`; InputError if its files are absent or others than then, if
        it has no sessions to be the `unit`, or if several corpora share an id. `code` encodes ids.
        """
        try:
            conversations = load_original(run.manifest).conversations
        except InputError as error:
            raise InputError(f"{run.label}: the texts cannot be exported: {error}") from error
        self._unit, self._code = unit, code
        self._records = run.records
        self._benchmark = all(are_documents(one.sessions) for one in conversations)
        pooled = any(one.id == POOLED for one in conversations)
        self._pooled = pooled and not self._benchmark
        if self._benchmark and unit == SESSION:
            raise InputError(f"{run.label}: its documents belong to no sessions; use --unit turn")
        asked = {self._store_of(record) for record in run.records.values()}
        pools: dict[str, list[str]] = {}
        self.documents: dict[str, Document] = {}
        for one in conversations:
            for session in one.sessions if one.id in asked else ():
                for turns in [session.turns] if unit == SESSION else [(t,) for t in session.turns]:
                    document = self._document(one.id, session, turns)
                    if self.documents.setdefault(document.id, document) != document:
                        raise InputError(
                            f"{run.label}: two documents have the id {document.id}; run and "
                            "export each corpus alone"
                        )
                    pools.setdefault(session.owner or one.id, []).append(document.id)
        settings = run.manifest["config"].get("dataset")
        filtered = isinstance(settings, Mapping) and bool(settings.get("owner_filter"))
        whole = (self._pooled and not filtered) or (self._benchmark and len(pools) == 1)
        self.pools = None if whole else pools

    def id_of(self, store: str, id_: str) -> str:
        """Return the document id of a turn or session. Those of a retrieval benchmark are its own,
        as a document may be in several pools.
        """
        return document_of(POOLED if self._benchmark else store, id_, self._code)

    def topics(self) -> Iterator[tuple[str, str]]:
        """Yield id and question, each on one line, in the order of the records."""
        for record in self._records.values():
            yield self._code(record["id"]), " ".join(record["question"].split())

    def relevant(self, record: Record) -> list[str]:
        """Return the ids of the documents that are evidence for the question."""
        store = self._store_of(record)
        return [self.id_of(store, id_) for id_ in evidence_of(record, self._unit)]

    def _store_of(self, record: Record) -> str:
        return POOLED if self._pooled else record["conversation"]

    def _document(self, store: str, session: Session, turns: tuple[Turn, ...]) -> Document:
        id_ = session_of(turns[0].id)
        return Document(
            self.id_of(store, id_ if self._unit == SESSION else turns[0].id),
            "\n".join(map(line, turns)),
            None if self._benchmark else self.id_of(store, id_),
            None if session.time == UNDATED else session.time.isoformat(),
            tuple(dict.fromkeys(turn.speaker for turn in turns)),
        )
