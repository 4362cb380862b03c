"""Language of a conversation, by a naive Bayes classifier over byte n-grams.

The classifier is py3langid (Lui and Baldwin, 2012, "langid.py"): 97 languages, offline and
deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

UNDETERMINED = "und"  # the ISO 639 code where nothing can be said
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_TEXTS = 100  # that are read, evenly spread
_CHARACTERS = 10_000  # that are read at most
_ENOUGH = 40  # bytes of words; below, one English text in fifty is taken for another language


def covers(languages: frozenset[str] | None, language: str) -> bool:
    """Return whether `language` is one of `languages`; True where either is unknown."""
    return languages is None or language == UNDETERMINED or language in languages


def language_of(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of the language that most of `texts` is in, such as "en" or "zh";
    "und" if there are too few words to say.

    At most 100 texts are read, evenly spread, each from its beginning, 10,000 characters in all.
    Digits, punctuation and emoji do not count.
    """
    n = min(len(texts), _TEXTS)
    sample = (texts[i * len(texts) // n][: _CHARACTERS // n] for i in range(n))
    words = " ".join(word for text in sample for word in _WORD.findall(text))
    if len(words.encode()) < _ENOUGH:
        return UNDETERMINED
    return _likeliest(words)


@lru_cache(maxsize=256)
def _likeliest(words: str) -> str:
    import py3langid  # noqa: PLC0415 - its model takes 0.1 s, and 30 MB while it loads

    # Latin attracts English with foreign words, and nobody chats in it.
    return next(str(code) for code, _ in py3langid.rank(words) if code != "la")
