"""The test collection behind a run: documents, topics, judgements and pools, ids without blanks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from eval.datasets.pooled import POOLED
from eval.datasets.reload import load_original
from eval.records.rankings import SESSION, session_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.records.trec import document_of, encode
from eval.summary.retrieval import evidence_of
from memsys.errors import InputError
from memsys.text.turns import line
from memsys.types import Session, Turn

UnitName = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Document:
    """A turn or a whole session of `conversation`. `session`: the document id of its session.
    `speakers`: of its turns, each once.
    """

    id: str
    conversation: str
    text: str
    session: str
    time: str
    speakers: tuple[str, ...]


class Collection:
    """Documents of the stores that a run's questions are asked of, and the run's topics.

    `pools`: whether a question is ranked among the documents of its conversation alone.
    """

    def __init__(self, run: Run, unit: UnitName) -> None:
        """Load the data set of `run`; InputError if its files are absent or others than then."""
        try:
            dataset = load_original(run.manifest)
        except InputError as error:
            raise InputError(f"{run.label}: the texts cannot be exported: {error}") from error
        self._unit = unit
        self._pooled = any(one.id == POOLED for one in dataset.conversations)
        self._records = run.records
        asked = {self._store_of(record) for record in run.records.values()}
        self.documents = [
            _document(conversation.id, session, turns, unit)
            for conversation in dataset.conversations
            if conversation.id in asked
            for session in conversation.sessions
            for turns in ([session.turns] if unit == SESSION else zip(session.turns))
        ]
        settings = run.manifest["config"].get("dataset")
        filtered = isinstance(settings, Mapping) and bool(settings.get("owner_filter"))
        self.pools = filtered or not self._pooled

    def topics(self) -> Iterator[tuple[str, str]]:
        """Yield id and question, each on one line, in the order of the records."""
        for record in self._records.values():
            yield encode(record["id"]), " ".join(record["question"].split())

    def pool_of(self, record: Record) -> list[str]:
        """Return the ids of the documents of the question's conversation."""
        return self._by_conversation[record["conversation"]]

    def relevant(self, record: Record) -> list[str]:
        """Return the ids of the documents that are evidence for the question."""
        store = self._store_of(record)
        return [document_of(store, id_) for id_ in evidence_of(record, self._unit)]

    def _store_of(self, record: Record) -> str:
        return POOLED if self._pooled else record["conversation"]

    @cached_property
    def _by_conversation(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for document in self.documents:
            found.setdefault(document.conversation, []).append(document.id)
        return found


def _document(store: str, session: Session, turns: tuple[Turn, ...], unit: UnitName) -> Document:
    id_ = session_of(turns[0].id)
    return Document(
        document_of(store, id_ if unit == SESSION else turns[0].id),
        session.owner or store,
        "\n".join(map(line, turns)),
        document_of(store, id_),
        session.time.isoformat(),
        tuple(dict.fromkeys(turn.speaker for turn in turns)),
    )
