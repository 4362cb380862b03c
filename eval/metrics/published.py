"""F1 and BLEU-1 of one answer against one gold answer, as other projects report them.

`locomo_f1`: a rule for each question type. Source: snap-research/locomo, task_eval/evaluation.py
(Maharana et al., 2024). It differs from every other F1 here: bags rather than sets, Porter stems,
commas split the lists of type 1, and type 5 is a phrase match, not an F1.

`mem0_f1`: unchanged words. Source: mem0ai/mem0, evaluation/metrics/utils.py (Chhikara et al.,
2025), after A-MEM. It differs from the official F1: no stems, articles count, quotes and brackets
are part of the word; a repeated word adds nothing.

`memos_f1`: lowercase Treebank tokens. Source: MemTensor/MemOS, evaluation/scripts/locomo/
locomo_eval.py. Punctuation counts as a word: two sentences have at least their full stop in common.

`bleu1`: as Mem0, MemOS and A-MEM report it. Formula: Papineni et al., 2002, with weight on unigrams
alone; source: mem0ai/mem0, evaluation/metrics/utils.py over
nltk.translate.bleu_score.sentence_bleu. Its smoothing touches higher orders only, so none is left.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from math import exp
from string import punctuation
from typing import TYPE_CHECKING

from eval.datasets.types import ADVERSARIAL
from eval.metrics import Computed, bag_f1, in_common, of_texts, overlap_f1
from eval.metrics.lean_import import import_alone
from eval.metrics.registry import register
from eval.metrics.tokens import word_tokens

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

REFUSALS = ("no information available", "not mentioned")  # what type 5 accepts

_PUNCTUATION = str.maketrans("", "", punctuation)
_SPACES = str.maketrans(".,!?", "    ")
# An accent that follows its letter is part of the word, as in the official `regex` boundaries.
_DROPPED = re.compile(r"(?<![\w\u0300-\u036f])(?:a|an|the|and)(?![\w\u0300-\u036f])")
_FUNCTION_WORDS = frozenset(("a", "an", "the", "and"))  # these, where all is ASCII
_ASCII_WORDS = re.compile(r"[a-z0-9\s]*", re.ASCII)


@cache
def _stemmer() -> PorterStemmer:
    stemmer: PorterStemmer = import_alone("nltk.stem.porter", "PorterStemmer", "nltk")()
    return stemmer  # in its default mode, NLTK_EXTENSIONS


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


@lru_cache(maxsize=65_536)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of `text` in order, without ASCII punctuation and a, an, the, and."""
    plain = text.lower().translate(_PUNCTUATION)
    if _ASCII_WORDS.fullmatch(plain) is None:
        return tuple(map(_stem, _DROPPED.sub(" ", plain).split()))
    return tuple(map(_stem, [word for word in plain.split() if word not in _FUNCTION_WORDS]))


def _bag_f1(answer: str, gold: str) -> float:
    return bag_f1(stems(answer), stems(gold))


def locomo_f1(answer: str, gold: str | None, category: int) -> float | None:
    """Return the official score, 0 to 1, of `answer` to a question of the official type `category`.

    Types 2 and 4: F1 of the bags of stems. Type 3: the same, of the gold before its first ";".
    Type 1: each comma-separated part of the gold with its best part of the answer, averaged.
    Type 5: 1 if the answer contains one of `REFUSALS` in any case, else 0, whatever the gold.
    The types of other data sets are scored as type 4. None for types but 5 without a gold answer.
    """
    if category == ADVERSARIAL:
        return float(any(phrase in answer.lower() for phrase in REFUSALS))
    if gold is None:
        return None
    if category == 1:
        parts = answer.split(",")
        best = [max(_bag_f1(part, wanted) for part in parts) for wanted in gold.split(",")]
        return sum(best) / len(best)
    return _bag_f1(answer, gold.split(";")[0] if category == 3 else gold)


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().translate(_SPACES).split())


def _set_f1(found: AbstractSet[str], wanted: AbstractSet[str]) -> float:
    return overlap_f1(len(found & wanted), len(found), len(wanted))


def mem0_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of lowercase words, with . , ! ? as spaces."""
    return _set_f1(_words(answer), _words(gold))


@lru_cache(maxsize=65_536)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(word_tokens(text))


def memos_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of `word_tokens`; 0 if one is empty."""
    return _set_f1(_tokens(answer), _tokens(gold))


def bleu1(answer: str, gold: str) -> float:
    """Return the clipped unigram precision times min(1, e^(1 - r/c)), 0 to 1.

    It is computed over lowercase `word_tokens`; r and c are the numbers of tokens of gold and
    answer. Without a common token the score is 0.
    """
    found, wanted = word_tokens(answer), word_tokens(gold)
    clipped = in_common(found, wanted)
    if clipped == 0:
        return 0.0
    return clipped / len(found) * min(1.0, exp(1 - len(wanted) / len(found)))


for _metric in (
    Computed(
        name="locomo_f1",
        title="F1 locomo",
        column="f1_locomo",
        compute=lambda answered: locomo_f1(answered.answer, answered.gold, answered.category),
        applies_to="answer",
        order=10,
        in_tables=False,
    ),
    Computed(
        name="mem0_f1",
        title="F1 mem0",
        column="f1_mem0",
        compute=of_texts(mem0_f1),
        order=20,
        in_tables=False,
        reported_as="f1_score",
    ),
    Computed(
        name="memos_f1",
        title="F1 memos",
        column="f1_memos",
        compute=of_texts(memos_f1),
        order=30,
        in_tables=False,
    ),
    Computed(
        name="bleu1",
        title="BLEU-1",
        compute=of_texts(bleu1),
        order=50,
        pinned=True,
        reported_as="bleu_score",
    ),
):
    register(_metric)
