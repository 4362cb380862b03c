"""The facts of a book, ready for queries."""

from __future__ import annotations

from memsys.facts.book import FactBook
from memsys.store import Parts, Store


class FactStore(Store):
    """The facts that hold at present, with indexes as any store has them."""

    def __init__(self, parts: Parts, book: FactBook) -> None:
        super().__init__(parts)
        self.add(book.memories)
        self._book = book

    @property
    def bytes_beside(self) -> int:
        """Of the book's vectors and history: the index over these facts has no other vectors."""
        return self._book.bytes
