"""Normalisation: one spelling for equal answers, and the terms by which they are compared.

`normalise` writes numbers and dates in one way and opens contractions; it removes no word, so the
text can still be read and divided. `terms` are the units that the strict F1 compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

from eval.metrics.dates import in_parts
from eval.metrics.numbers import in_figures
from memsys.core.terms import stem
from memsys.core.yaml_text import load_table

ARTICLES = frozenset(("a", "an", "the"))

# Written without spaces: Chinese and Japanese characters.
CJK = "㐀-鿿豈-﫿ぁ-ヺ々〇𠀀-𲎯"
_TERM = re.compile(
    rf"[{CJK}]|(?<!\S)-\d+(?:[.:]\d+)*|\d+(?:[.:]\d+)*(?:(?:st|nd|rd|th|s)\b)?|[^\W_{CJK}]+"
)
_Rule = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
_QUOTES = str.maketrans("‘’ʼ＇`´‐‑‒–—―−⁄", "''''''-------/", "\u00ad\u200b\u200c\u200d\u2060\ufeff")


def _rules(rows: Iterable[tuple[str, str, str | None]]) -> list[_Rule]:
    def closed(m: re.Match[str]) -> str:
        return m[0].replace(",", "").replace(".", "")

    return [(part, re.compile(row), closed if new is None else new) for part, row, new in rows]


_TABLE = load_table(Path(__file__).parent / "spelling.yaml")
_CONTRACTIONS, _SIGNS = _rules(_TABLE["contractions"]), _rules(_TABLE["signs"])
_SPACES = re.compile(r"\s+")


def fold(text: str) -> str:
    """Return `text` in one width, case and set of quotes and digits (NFKC and case folding)."""
    if text.isascii():
        return text.lower()
    before, folded = "", text
    while before != folded:  # a few characters take two rounds
        before, folded = folded, normalize("NFKC", folded.translate(_QUOTES).casefold())
    return re.sub(r"\d", lambda m: str(int(m[0])), folded)


def _respell(plain: str) -> str:
    """Apply all rules once to folded text with single spaces."""
    for rewrite in (_respell_words, in_figures, in_parts):
        rewritten = rewrite(plain)
        if rewritten is not plain:
            plain = _spaced(rewritten)
    return plain


def _respell_words(text: str) -> str:
    for part, pattern, replacement in (*(_CONTRACTIONS if "'" in text else ()), *_SIGNS):
        if part in text:
            text = pattern.sub(replacement, text)
    return text


def _spaced(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


@lru_cache(maxsize=65_536)
def normalise(text: str) -> str:
    """Return `text` in lower case with numbers in figures, dates in parts and full contractions.

    "She won't pay $1,200 on May 7th" becomes "she will not pay dollars 1200 on month5 day7".
    Nothing but apostrophes, currency and percent signs is removed. Normalising twice changes
    nothing: rules are applied until the text is stable ("5/7/2023may").
    """
    before, plain = "", _spaced(fold(text))
    while before != plain:
        before, plain = plain, _respell(plain)
    return plain


@lru_cache(maxsize=65_536)
def terms(text: str) -> tuple[str, ...]:
    """Return the terms of `normalise(text)` in order: Porter stems, numbers, CJK characters.

    Punctuation and articles are dropped, but not where nothing else is left ("A").
    """
    found = _TERM.findall(normalise(text))
    content = [word for word in found if word not in ARTICLES] or found
    # Porter leaves words of two letters alone; Snowball's would make "is" the "i" of "I".
    return tuple(stem(word) if len(word) > 2 and word.isalpha() else word for word in content)
