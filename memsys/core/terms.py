"""Words and index terms, for English and Chinese.

One definition serves BM25, the graph built by rules and the reader without a model, so that a
difference between two strategies is never a difference between two tokenisers.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from pathlib import Path

from Stemmer import Stemmer

_WORD = re.compile(r"[㐀-鿿豈-﫿]+|[^\W_㐀-鿿豈-﫿]+(?:['’][^\W_㐀-鿿豈-﫿]+)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")  # as _WORD, in half the time
_CJK = re.compile(r"[㐀-鿿豈-﫿]")
QUOTED = re.compile(r"[\"“”「『《]([^\"“”「」『』《》]{2,40})[\"“”」』》]")
_STEMMER = Stemmer("porter")

# Function words only, question words included.
STOPWORDS = frozenset(Path(__file__).with_name("stopwords.txt").read_text("utf-8").split())
_CJK_STOP = frozenset(
    "的了是在和有吗呢吧啊呀哦嗯也都就还又很我你他她它们这那个么什怎哪谁为着过给把被让"
)


def is_cjk(text: str) -> bool:
    """Return whether `text` contains a Chinese character."""
    return not text.isascii() and _CJK.search(text) is not None


def words(text: str) -> tuple[str, ...]:
    """Return the lowercase words in order; a run of Chinese characters is one word."""
    return tuple(map(_lower, written(text)))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the Porter stem (1980; Snowball's `porter`) of a lowercase word without its 's."""
    return str(_STEMMER.stemWord(word.removesuffix("'s")))


def cjk_terms(run: str) -> list[str]:
    """Return the bigrams of a Chinese run (Nie et al., 2000); a single character is returned as is.
    Bigrams of two function characters, and a single function character, are dropped.
    """
    if len(run) == 1:
        return [] if run in _CJK_STOP else [run]
    pairs = (run[i : i + 2] for i in range(len(run) - 1))
    return [pair for pair in pairs if not (pair[0] in _CJK_STOP and pair[1] in _CJK_STOP)]


@lru_cache(maxsize=65_536)
def terms(text: str) -> tuple[str, ...]:
    """Return the index terms in order: stems of content words, bigrams of Chinese runs."""
    return tuple(chain.from_iterable(map(word_terms, written(text))))


def written(text: str) -> list[str]:
    """Return the words and Chinese runs of a text as written, in order."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


@lru_cache(maxsize=65_536)
def word_terms(word: str) -> tuple[str, ...]:
    """Return the index terms of one word or Chinese run as written."""
    lower = _lower(word)
    if is_cjk(lower):
        return tuple(cjk_terms(lower))
    return () if lower in STOPWORDS else (stem(lower),)


@lru_cache(maxsize=65_536)  # so that equal words of many texts are one string
def _lower(word: str) -> str:
    return word.lower().replace("’", "'")
