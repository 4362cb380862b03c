"""BERT's uncased WordPiece tokeniser, without a dependency on a hub library."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

_CJK_RANGES = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
_LONGEST_WORD = 100  # as in BERT: longer words are unknown


def _is_punctuation(char: str) -> bool:
    """Return whether BERT takes `char` for punctuation, ASCII symbols such as $ included."""
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or (
        unicodedata.category(char).startswith("P")
    )


def _is_separate(char: str) -> bool:
    code = ord(char)
    return _is_punctuation(char) or any(low <= code <= high for low, high in _CJK_RANGES)


def _basic_words(text: str) -> Iterator[str]:
    """Yield lowercase words without accents; a punctuation or Chinese character is one word."""
    word: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(char)
        if category == "Mn" or char in "\x00\ufffd":
            continue
        if char.isspace() or category.startswith("C"):
            # Line ends and tabs separate words; other control characters are dropped.
            if not char.isspace():
                continue
            piece = ""
        elif _is_separate(char):
            piece = char
        else:
            word.append(char)
            continue
        if word:
            yield "".join(word)
            word.clear()
        if piece:
            yield piece
    if word:
        yield "".join(word)


class WordPiece:
    """Greedy longest-match-first sub-words (Wu et al., 2016, as used by Devlin et al., 2019)."""

    def __init__(self, vocabulary: Mapping[str, int], limit: int = 256) -> None:
        """`vocabulary` maps a piece to its id; `limit`: longest sequence with [CLS] and [SEP]."""
        self._ids = dict(vocabulary)
        self._limit = limit
        self._first, self._last = self._ids["[CLS]"], self._ids["[SEP]"]
        self._unknown = self._ids["[UNK]"]

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text` between [CLS] and [SEP], 2 to `limit` of them."""
        ids: list[int] = []
        for word in _basic_words(text):
            ids.extend(self._pieces(word))
            if len(ids) >= self._limit - 2:
                break
        return [self._first, *ids[: self._limit - 2], self._last]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self._ids:
                    pieces.append(self._ids[piece])
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces
