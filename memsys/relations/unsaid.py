"""Names that occur in deleted texts alone, and so have to be deleted with them."""

from __future__ import annotations

from collections.abc import Iterable

from memsys.facts.fact import plain


class Unsaid:
    """Tells whether the words of a name are those of a deleted text and of no remaining one."""

    def __init__(self, deleted: Iterable[str], remaining: Iterable[str]) -> None:
        self._deleted, self._remaining = _joined(deleted), _joined(remaining)

    def __contains__(self, name: object) -> bool:
        """Return whether a deleted text has `name`, by whole words, and no remaining one has."""
        words = f" {plain(str(name))} "
        return words in self._deleted and words not in self._remaining


def _joined(texts: Iterable[str]) -> str:
    return " \n ".join(f" {plain(text)} " for text in texts)
