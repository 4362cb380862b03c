"""Chinese entities of a store: the n-grams of characters that recur, each as long as it can be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_SHORTEST, _LONGEST = 2, 16  # characters of an entity
_RUN = re.compile(r"[㐀-鿿豈-﫿]+")
# Pronouns, particles, adverbs and a measure word: an n-gram with one of them links what has no
# topic in common. Characters that are also common in nouns (都, 有, 过) are absent.
_FUNCTION = re.compile("[我你您他她它咱们这那哪谁什么怎的了吗呢啊呀哦嗯很也是又还就不没个]")


def recurring(texts: Iterable[str]) -> frozenset[str]:
    """Return the n-grams of 2 to 16 Chinese characters that are in two texts or more, without those
    that are in no other texts than a longer one: where each 友圈 is part of 朋友圈, only 朋友圈.

    These are the maximal repeats (Gusfield, 1997, section 7.12), counted by text. An n-gram of one
    text alone links no memories. What recurs and is longer is a sentence, and no entity. Time and
    memory grow linearly with the length of the texts.
    """
    parts = [frozenset(_parts(" ".join(_RUN.findall(text)))) for text in texts]
    parts = [one for one in parts if one]
    maximal: set[str] = set()
    shorter: Mapping[str, int] = {}
    for length in range(_SHORTEST, _LONGEST + 2):
        counts = Counter(gram for one in parts for gram in _grams(one, length, shorter))
        frequency = {gram: count for gram, count in counts.items() if count > 1}
        within = {
            gram
            for longer, count in frequency.items()
            for gram in (longer[:-1], longer[1:])
            if shorter.get(gram) == count
        }
        maximal.update(shorter.keys() - within)
        shorter = frequency
    return frozenset(maximal)


def ngrams_in(run: str, vocabulary: frozenset[str]) -> list[str]:
    """Return the n-grams of a Chinese run that are in `vocabulary`, in order of appearance."""
    return [
        gram
        for part in _parts(run)
        for start in range(len(part))
        for end in range(start + _SHORTEST, min(start + _LONGEST, len(part)) + 1)
        if (gram := part[start:end]) in vocabulary
    ]


def _parts(text: str) -> list[str]:
    """Return the parts of Chinese runs between function characters, of two characters or more."""
    runs = (run for run in text.split(" ") for run in _FUNCTION.split(run))
    return [run for run in runs if len(run) >= _SHORTEST]


def _grams(parts: Iterable[str], length: int, shorter: Mapping[str, int]) -> set[str]:
    """Return the n-grams of a text whose two n-grams of one character less recur."""
    grams = {part[at : at + length] for part in parts for at in range(len(part) - length + 1)}
    if length == _SHORTEST:
        return grams
    return {gram for gram in grams if gram[:-1] in shorter and gram[1:] in shorter}
