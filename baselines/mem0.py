"""A memory that a language model keeps, in the manner of Mem0.

Chhikara et al., 2025: Mem0, building production-ready AI agents with scalable long-term memory
(arXiv 2504.19413), section 2.1. docs/mem0.md says how it goes and what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.errors import InputError
from memsys.facts.book import Change, FactBook
from memsys.facts.extract import ExtractSettings
from memsys.facts.keeper import FactKeeper, UpdateSettings
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
    """Top k by cosine over the facts that hold at present, of both speakers."""

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
        """`infer`: False stores what `parts.memory` makes of the messages and asks no model.
        `vector_store`: see FactBook.

        Raises InputError where there is no model, or a setting or prompt cannot be used.
        """
        super().__init__(parts, k, budget)
        self._keeper: FactKeeper | None = None
        if infer:
            if parts.llm is None:
                raise InputError(
                    "strategy=mem0: no model to write the memory; add llm=openai, or llm=local "
                    "strategy.update.calls=schema"
                )
            settings = ExtractSettings(**facts), UpdateSettings(**update)
            self._keeper = FactKeeper(parts.llm, parts.embedder, *settings, vector_store)
            self.prompts, self.events = self._keeper.prompts, self._keeper.log

    @property
    def history(self) -> Sequence[Change]:
        """Every change of a fact, in order."""
        return self._keeper.book.history if self._keeper else ()

    def ingest(self, session: Session) -> int:
        """Returns by how many the facts grew, which is below 0 where more were dropped than added.

        Raises LLMError where the model answered for nothing of the session.
        """
        if self._keeper is None:
            return super().ingest(session)
        before = len(self.store.memories)
        try:
            self._keeper.keep(session)
        finally:
            self.store = FactStore(self.parts, self._keeper.book)
        return len(self.store.memories) - before

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Score: the cosine."""
        return self.best(self.store.similarity(query.text)), {}

    def close(self) -> None:
        """Leave nothing in a shared store."""
        if self._keeper:
            self._keeper.book.clear()
