"""Normalisation: one spelling for equal answers, and the terms by which they are compared.

`normalise` writes numbers and dates in one way and opens contractions; it removes no word, so the
text can still be read and divided. `terms` are what a strict F1 counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from eval.metrics.dates import in_parts
from eval.metrics.numbers import in_figures
from memsys.text.terms import stem

ARTICLES = frozenset(("a", "an", "the"))

# Written without spaces: Chinese and Japanese characters.
_CJK = "㐀-鿿豈-﫿ぁ-ヺ々〇𠀀-𲎯"
_TERM = re.compile(
    rf"[{_CJK}]|(?<!\S)-\d+(?:[.:]\d+)*|\d+(?:[.:]\d+)*(?:(?:st|nd|rd|th|s)\b)?|[^\W_{_CJK}]+"
)
_QUOTES = str.maketrans("‘’ʼ＇`´‐‑‒–—―−⁄", "''''''-------/", "\u00ad\u200b\u200c\u200d\u2060\ufeff")

_CONTRACTIONS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\bshan't\b", "shall not"),
        (r"\blet's\b", "let us"),
        (r"n't\b", " not"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\bi'm\b", "i am"),
        (r"'d\b", " would"),
        # After these words 's is a verb (read as "is"), after any other a possessive.
        (r"\b(s?he|it|that|there|here|this|what|who|where|how|when|why)'s\b", r"\1 is"),
        (r"(?<=\d)'s\b", "s"),  # the 1980's
        (r"(?<!\w)'([0-4]\d)(?![\w'])", r"20\1"),  # May '23
        (r"(?<!\w)'([5-9]\d)(?![\w'])", r"19\1"),
        (r"'s\b|'", ""),
    )
)
_SIGNS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bcannot\b", "can not"),
        (r"\b(do|does|did|is|are|was|were|has|have|had|could|would|should)nt\b", r"\1 not"),
        (r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)", lambda m: m[0].replace(",", "")),  # 1,200
        (r"\b[a-z](?:\.[a-z]\b)+\.?", lambda m: m[0].replace(".", "")),  # p.m., u.s.
        (r"百分之(\d+(?:\.\d+)?|[零〇一二两三四五六七八九十百]+)", r"\1 percent "),
        (r"%|\bper cent\b|\bpct\b", " percent "),
        (r"\$", " dollars "),
        (r"€", " euros "),
        (r"£", " pounds "),
        (r"&", " and "),
        (r"(?<![\w.])(\d+(?:\.\d+)?)(?!(?:st|nd|rd|th|s)\b)(?=[a-z])", r"\1 "),  # 10july, 5pm
    )
)
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
    for pattern, replacement in (*(_CONTRACTIONS if "'" in plain else ()), *_SIGNS):
        plain = pattern.sub(replacement, plain)
    return _spaced(in_parts(_spaced(in_figures(_spaced(plain)))))


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
