"""Keys of entities as numbers: a million memories have tens of millions of phrases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from memsys.graph.entities import key_of, read

_WORD = 32  # bits


class NumberedKeys(dict[str, tuple[int | None, Sequence[int], bool, bool]]):
    """A word's number is its place among those seen, a phrase's are its two words' side by side.
    Remembers every token. See entities.Keys.
    """

    def __init__(self) -> None:
        super().__init__()
        self._words: defaultdict[str, int] = defaultdict(lambda: len(self._words))
        self.read = self.__getitem__

    def __missing__(self, token: str) -> tuple[int | None, Sequence[int], bool, bool]:
        """Read a token that comes for the first time."""
        key, pairs, is_upper, ends = read(token)
        number = None if key is None else self.number(key)
        self[token] = number, [self.number(pair) for pair in pairs], is_upper, ends
        return self[token]

    def number(self, key: str) -> int:
        """Of a key as text."""
        parts = key.split(" ")
        if len(parts) == 2:
            return self.phrase(*(self._words[part] for part in parts))
        return self._words[key]

    def quoted(self, text: str) -> int | None:
        """See entities.Keys."""
        key = key_of(text)
        return self.number(key) if key else None

    def phrase(self, before: int, key: int) -> int:
        """See entities.Keys."""
        return before + 1 << _WORD | key

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The keys as text."""
        words = list(self._words)
        texts = []
        for number in numbers:
            before, key = number >> _WORD, words[number & (1 << _WORD) - 1]
            texts.append(f"{words[before - 1]} {key}" if before else key)
        return texts
