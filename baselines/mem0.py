"""A memory that a language model maintains, after Mem0 (Chhikara et al., 2025: Building
production-ready AI agents with scalable long-term memory, arXiv 2504.19413, section 2.1).
docs/mem0.md describes the algorithm and the differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.errors import InputError
from memsys.facts.extract import ExtractSettings
from memsys.facts.fact_book import FactBook
from memsys.facts.fact_writer import FactChange, FactWriter, UpdateSettings
from memsys.index.rank import Start
from memsys.store import Parts, Store
from memsys.stores.vectors import VectorStore
from memsys.strategy import Strategy
from memsys.types import Candidate, Query, Session


class FactStore(Store):
    """The current facts of a book, with the indexes of any store."""

    def __init__(self, parts: Parts, book: FactBook) -> None:
        super().__init__(parts)
        self.add(book.memories)
        self._book = book

    @property
    def bytes_beside(self) -> int:
        """Size of the book's vectors and history; the index of this store shares its vectors."""
        return self._book.bytes


class Mem0(Strategy):
    """Top k by cosine over the current facts of both speakers."""

    writes_memory: ClassVar[bool] = True
    start: ClassVar[Start | None] = "vector"

    def __init__(
        self,
        parts: Parts,
        k: int,
        budget: int | None,
        infer: bool,
        facts: Mapping[str, Any],
        update: Mapping[str, Any],
        vector_store: VectorStore | None = None,
    ) -> None:
        """`infer`: False stores the memories of `parts.memory` and asks no model. `vector_store`:
        see FactBook. Raises InputError without a model, or if a setting or prompt cannot be used.
        """
        super().__init__(parts, k, budget)
        self._book = FactBook(parts.embedder, vector_store)
        self._writer: FactWriter | None = None
        if infer:
            if parts.llm is None:
                raise InputError(
                    "strategy=mem0: no model to write the memory; add llm=openai, or llm=local "
                    "strategy.update.calls=schema"
                )
            settings = ExtractSettings(**facts), UpdateSettings(**update)
            self._writer = FactWriter(parts.llm, *settings, self._book)
            self.prompts, self.events = self._writer.prompts, self._writer.log

    @property
    def history(self) -> Sequence[FactChange]:
        """Every change of a fact, in order."""
        return self._book.history

    def ingest(self, session: Session) -> int:
        """Return the change in the number of facts, negative if more were deleted than added.
        Raises LLMError if the model answered for none of the session.
        """
        if self._writer is None:
            return super().ingest(session)
        before = len(self.store.memories)
        try:
            self._writer.write(session)
        finally:
            self.store = FactStore(self.parts, self._book)
        return len(self.store.memories) - before

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by cosine."""
        return self.best(self.store.similarity(query.text)), {}

    def close(self) -> None:
        """Delete the vectors from a shared store."""
        if self._writer is not None:
            self._book.clear()
