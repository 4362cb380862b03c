"""Entities by rule: names, quoted phrases, noun-like phrases and keywords, without a model.

Named entities alone leave a nearly unconnected graph on everyday dialogue; phrases and keywords,
weighted by rarity, connect it. Chinese entities are the n-grams of characters that recur in a
store, each as long as it can be.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memsys.core.terms import QUOTED, STOPWORDS, is_cjk, stem
from memsys.core.titles import SAY_NOTHING, SENTENCE_END

EntityKind = Literal["name", "phrase", "keyword"]

_TOKEN = re.compile(r"[㐀-鿿豈-﫿]+|[^\W_㐀-鿿豈-﫿]+(?:['’][^\W_㐀-鿿豈-﫿]+)*|[^\w\s]|\n")
_WORD_BITS = 32  # of a NumberedKeys number
_SHORTEST, _LONGEST = 2, 16  # characters of an entity
_RUN = re.compile(r"[㐀-鿿豈-﫿]+")
# Pronouns, particles, adverbs and a measure word: an n-gram with one of them links what has no
# topic in common. Characters that are also common in nouns (都, 有, 过) are absent.
_FUNCTION = re.compile("[我你您他她它咱们这那哪谁什么怎的了吗呢啊呀哦嗯很也是又还就不没个]")


def entities_in(content: str, ignored: frozenset[int], keys: NumberedKeys) -> dict[int, EntityKind]:
    """Return the entities of a memory with their kinds, in order of appearance, without those
    `ignored`. A key is stems joined by a space (Chinese: an n-gram or a quoted phrase).
    """
    kinds: dict[int, EntityKind] = {}
    for quoted in QUOTED.findall(content):
        key = keys.quoted(quoted)
        if key is not None and key not in ignored:
            kinds[key] = "name"
    before: int | None = None  # key of the preceding word, if in the same phrase
    starts_sentence = True
    capitalised = False
    for token in _TOKEN.findall(content):
        key, ngrams, is_upper, ends = keys[token]
        if key is not None and key not in ignored:
            name = is_upper and not starts_sentence
            if name or key not in kinds:
                kinds[key] = "name" if name else "keyword"
            if before is not None:
                both_names = name and capitalised
                phrase = keys.phrase(before, key)
                if both_names or phrase not in kinds:
                    kinds[phrase] = "name" if both_names else "phrase"
            before = key
            capitalised = name
        else:
            before = None
            for ngram in ngrams:
                kinds.setdefault(ngram, "keyword")
        starts_sentence = ends
    if ignored.isdisjoint(kinds):
        return kinds
    return {key: kind for key, kind in kinds.items() if key not in ignored}


@lru_cache(maxsize=1024)
def names_of(speakers: frozenset[str]) -> frozenset[str]:
    """Return the keys of the speakers' names and of the parts of these names, which link nothing:
    they are in every turn.
    """
    return frozenset(key_of(part) for name in speakers for part in [*name.split(), name])


@lru_cache(maxsize=65_536)
def key_of(text: str) -> str:
    """Return the stems of the content words of a quoted phrase; a Chinese phrase is unchanged."""
    if is_cjk(text):
        return text.strip()
    tokens = [t.lower().replace("’", "'") for t in _TOKEN.findall(text) if t[0].isalnum()]
    return " ".join(stem(token) for token in tokens if token not in STOPWORDS)


@lru_cache(maxsize=65_536)
def read(token: str) -> tuple[str | None, bool, bool]:
    """Return the properties of a token that do not depend on its position or on the store: its key
    (None if it is no entity by itself, as a Chinese run), whether it is capitalised, and whether it
    ends a sentence.
    """
    if is_cjk(token):
        return None, False, False
    word = token.lower().replace("’", "'")
    is_word = token[0].isalnum() and len(word) > 2 and not word.isdigit()
    key = stem(word) if is_word and word not in SAY_NOTHING else ""
    return key or None, token[0].isupper(), token in SENTENCE_END


class NumberedKeys(dict[str, tuple[int | None, Sequence[int], bool, bool]]):
    """Keys of entities as numbers, for millions of memories, and a cache of `read` by token, with
    the n-grams of a Chinese run that recur among `texts`, those of all memories.

    The number of a word is its position among the words seen; that of a phrase combines the
    numbers of its two words, each in half of the bits.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        super().__init__()
        self._words: defaultdict[str, int] = defaultdict(count().__next__)
        self._recurring = recurring(texts)

    def __missing__(self, token: str) -> tuple[int | None, Sequence[int], bool, bool]:
        """Read a token that is not in the cache."""
        key, is_upper, ends = read(token)
        number = None if key is None else self.number(key)
        ngrams = [
            gram
            for part in (_parts(token) if is_cjk(token) else ())
            for start in range(len(part))
            for end in range(start + _SHORTEST, min(start + _LONGEST, len(part)) + 1)
            if (gram := part[start:end]) in self._recurring
        ]
        self[token] = number, [self.number(ngram) for ngram in ngrams], is_upper, ends
        return self[token]

    def number(self, key: str) -> int:
        """Return the number of a key given as text."""
        parts = key.split(" ")
        if len(parts) == 2:
            return self.phrase(*(self._words[part] for part in parts))
        return self._words[key]

    def quoted(self, text: str) -> int | None:
        """Return the number of a quoted phrase or title; None without a content word."""
        key = key_of(text)
        return self.number(key) if key else None

    def phrase(self, before: int, key: int) -> int:
        """Return the number of the phrase of two adjacent words."""
        return before + 1 << _WORD_BITS | key

    @staticmethod
    def words_of(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of both words of each phrase."""
        return (numbers >> _WORD_BITS) - 1, numbers & (1 << _WORD_BITS) - 1

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """Return the keys of `numbers` as text."""
        words = list(self._words)
        texts = []
        for number in numbers:
            before, key = number >> _WORD_BITS, words[number & (1 << _WORD_BITS) - 1]
            texts.append(f"{words[before - 1]} {key}" if before else key)
        return texts


def recurring(texts: Iterable[str]) -> frozenset[str]:
    """Return the n-grams of 2 to 16 Chinese characters that are in two texts or more, without those
    that are in no other texts than a longer one: where each 友圈 is part of 朋友圈, only 朋友圈.

    These are the maximal repeats (Gusfield, 1997, section 7.12), counted by text. An n-gram of one
    text alone links no memories. What recurs and is longer is a sentence, and no entity. Time and
    memory grow linearly with the length of the texts.
    """
    chinese = (text for text in texts if not text.isascii())
    parts = [frozenset(_parts(" ".join(_RUN.findall(text)))) for text in chinese]
    parts = [segments for segments in parts if segments]
    maximal: set[str] = set()
    shorter: Mapping[str, int] = {}
    for length in range(_SHORTEST, _LONGEST + 2):
        counts = Counter(gram for segments in parts for gram in _grams(segments, length, shorter))
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
