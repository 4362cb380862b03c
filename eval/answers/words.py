"""When two texts are the same but for how they were typed."""

from __future__ import annotations

from functools import lru_cache

_QUOTES = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "‛": "'",
        "`": "'",
        "´": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
    }
)


@lru_cache(maxsize=65_536)
def normal(text: str) -> str:
    """`text` in lower case, with straight quotes, single blanks between words and none around."""
    return " ".join(text.translate(_QUOTES).casefold().split())
