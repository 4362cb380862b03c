"""Roots of words, so that "bought" matches "did she buy", and lists of light words."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from memsys.text.tables import load_table
from memsys.text.terms import STOPWORDS, cjk_terms, is_cjk, stem, words

WORDS = load_table(Path(__file__).parent / "words.yaml")
_BASE = {
    form: entry.split()[0] for entry in WORDS["forms"].split(";") for form in entry.split()[1:]
}
LIGHT = frozenset(WORDS["light"].split())


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Return the stem of the base form of a lowercase English word."""
    word = word.removesuffix("'s")
    return stem(_BASE.get(word, word))


@lru_cache(maxsize=65_536)
def roots(text: str) -> frozenset[str]:
    """Return the distinct content roots of a text: base-form stems, or bigrams of Chinese runs."""
    found: set[str] = set()
    for word in words(text):
        if is_cjk(word):
            found.update(cjk_terms(word))
        elif word not in STOPWORDS:
            found.add(root(word))
    return frozenset(found)


def is_light(word: str) -> bool:
    """Return whether a lowercase word has no content."""
    return word in STOPWORDS or word in LIGHT or (len(word) == 1 and not word.isdigit())
