"""The test collection behind a run: documents, topics, judgements and pools, ids without blanks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eval.datasets.reload import load_original
from eval.datasets.types import Dataset
from eval.records.rankings import SESSION, session_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.records.trec import POOLED, document_of, encode
from eval.summary.retrieval import evidence_of
from memsys.errors import InputError
from memsys.text.turns import line
from memsys.types import Session, Turn

UnitName = Literal["turn", "session"]


@dataclass(frozen=True, slots=True)
class Document:
    """A turn or a whole session. `session`: the document id of its session. `speakers`: of its
    turns, each once.
    """

    id: str
    text: str
    session: str
    time: str
    speakers: tuple[str, ...]


class Collection:
    """Documents by store, and the topics of a run in the order of its records."""

    def __init__(self, run: Run, unit: UnitName) -> None:
        """Load the data set of `run`; InputError if its files are absent or others than then."""
        try:
            dataset = load_original(run.manifest)
        except InputError as error:
            raise InputError(f"{run.label}: the texts cannot be exported: {error}") from error
        self.unit = unit
        self.pooled = POOLED in run.manifest["stores"]
        self._records = run.records
        self._documents = self._by_store(dataset)

    def documents(self) -> Iterator[Document]:
        """Yield the documents of all stores that the run's questions are asked of."""
        for store in dict.fromkeys(map(self.store_of, self._records.values())):
            yield from self._documents[store]

    def topics(self) -> Iterator[tuple[str, str]]:
        """Yield id and question, each on one line."""
        for record in self._records.values():
            yield encode(record["id"]), " ".join(record["question"].split())

    def pool_of(self, record: Record) -> list[str]:
        """Return the ids of the documents among which the question is ranked."""
        return [document.id for document in self._documents[self.store_of(record)]]

    def relevant(self, record: Record) -> list[str]:
        """Return the ids of the documents that are evidence for the question."""
        store = self.store_of(record)
        return [document_of(store, id_) for id_ in evidence_of(record, self.unit)]

    def store_of(self, record: Record) -> str:
        """Return the store that the question is asked of."""
        return POOLED if self.pooled else record["conversation"]

    def _by_store(self, dataset: Dataset) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = {}
        for conversation in dataset.conversations:
            store = POOLED if self.pooled else conversation.id
            for session in conversation.sessions:
                groups = [session.turns] if self.unit == SESSION else [(t,) for t in session.turns]
                found.setdefault(store, []).extend(
                    _document(store, session, turns, self.unit) for turns in groups
                )
        return found


def _document(store: str, session: Session, turns: tuple[Turn, ...], unit: UnitName) -> Document:
    id_ = session_of(turns[0].id)
    return Document(
        document_of(store, id_ if unit == SESSION else turns[0].id),
        "\n".join(map(line, turns)),
        document_of(store, id_),
        session.time.isoformat(),
        tuple(dict.fromkeys(turn.speaker for turn in turns)),
    )
