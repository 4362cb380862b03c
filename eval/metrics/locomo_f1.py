"""Token F1 as the LoCoMo benchmark scores it, a rule for each question type.

Source: snap-research/locomo, task_eval/evaluation.py (Maharana et al., 2024). It differs from
every other F1 here: bags rather than sets, Porter stems, commas split the lists of type 1, and
type 5 is a phrase match, not an F1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from string import punctuation
from typing import TYPE_CHECKING

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.metrics import Answered, Metric, in_common, overlap_f1
from eval.metrics.lean_import import import_alone
from eval.metrics.registry import register
from memsys.core.errors import InputError

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

REFUSALS = ("no information available", "not mentioned")  # what type 5 accepts

_PUNCTUATION = str.maketrans("", "", punctuation)
_PLAIN = 4  # the type whose F1 has no rule beyond the bag of stems
# An accent that follows its letter is part of the word, as in the official `regex` boundaries.
_DROPPED = re.compile(r"(?<![\w\u0300-\u036f])(?:a|an|the|and)(?![\w\u0300-\u036f])")


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
    return tuple(_stem(word) for word in _DROPPED.sub(" ", plain).split())


def _bag_f1(answer: str, gold: str) -> float:
    found, wanted = stems(answer), stems(gold)
    return overlap_f1(in_common(found, wanted), len(found), len(wanted))


def locomo_f1(answer: str, gold: str | None, category: int) -> float:
    """Return the official score, 0 to 1, of `answer` to a question of the official type `category`.

    Types 2 and 4: F1 of the bags of stems. Type 3: the same, of the gold before its first ";".
    Type 1: each comma-separated part of the gold with its best part of the answer, averaged.
    Type 5: 1 if the answer contains one of `REFUSALS` in any case, else 0, whatever the gold.
    Raises InputError for an unknown type, and for types 1 to 4 without a gold answer.
    """
    if category not in TYPES:
        raise InputError(
            f"no LoCoMo question type {category}: types are {', '.join(map(str, TYPES))}"
        )
    if category == 5:
        return float(any(phrase in answer.lower() for phrase in REFUSALS))
    if gold is None:
        raise InputError(f"a {TYPES[category]} question needs a gold answer to be scored by F1")
    if category == 1:
        parts = answer.split(",")
        best = [max(_bag_f1(part, wanted) for part in parts) for wanted in gold.split(",")]
        return sum(best) / len(best)
    return _bag_f1(answer, gold.split(";")[0] if category == 3 else gold)


@dataclass(frozen=True, kw_only=True)
class LoCoMoF1(Metric):
    """The official score by question type; the types of other data sets are scored as type 4."""

    def score(self, answered: Answered) -> float | None:
        """Return the score; None without a gold answer, unless the question is adversarial."""
        if answered.gold is None and answered.category != ADVERSARIAL:
            return None
        rule = answered.category if answered.category in TYPES else _PLAIN
        return locomo_f1(answered.answer, answered.gold, rule)


register(
    LoCoMoF1(
        name="locomo_f1",
        title="F1 locomo",
        column="f1_locomo",
        applies_to="answer",
        order=10,
        in_tables=False,
    )
)
