"""Answers to yes-or-no questions and to questions that offer a choice.

A yes needs evidence: a sentence by or about the person that holds most of what is asked and no
negation. Without one the answer is no, hedged where a likelihood was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eval.readers.evidence import Found
from eval.readers.morphology import roots
from eval.readers.question import Asked

_NOT = re.compile(
    r"\b(?:not|never|no|nobody|none|cannot|can't|isn't|wasn't|aren't|don't|doesn't|didn't|won't|"
    r"haven't|hasn't|wouldn't)\b|不|没|未",
    re.IGNORECASE,
)
_OR = re.compile(
    r"(?P<a>[\w'.-]+(?: [\w'.-]+){0,3}?),? or (?:an? |the )?(?P<b>[\w'.-]+(?: [\w'.-]+){0,3})", re.I
)
_OR_ZH = re.compile(
    r"(?:是|去|要|想|喜欢|选)?(?P<a>[^，。？,是]{1,8}?)[，,]?还是(?P<b>[^，。？,]{1,8})"
)


def yes_no(asked: Asked, found: Sequence[Found], enough: float) -> str:
    """`Yes` or `No`, `Likely yes` or `Likely no`, 是 or 不是 (`enough`: coverage, 0 to 1)."""
    top = max(found, key=lambda item: item.support)
    yes = top.support >= enough and not _NOT.search(top.sentence.text)
    if asked.chinese:
        return ("可能会" if yes else "可能不会") if asked.hedged else ("是" if yes else "不是")
    if asked.hedged:
        return "Likely yes" if yes else "Likely no"
    return "Yes" if yes else "No"


def choice(asked: Asked, found: Sequence[Found]) -> str | None:
    """The alternative that the evidence speaks of more, the first on a tie; None if none."""
    m = (_OR_ZH if asked.chinese else _OR).search(asked.text)
    if m is None:
        return None
    a, b = m["a"], m["b"]
    only_a, only_b = roots(a) - roots(b), roots(b) - roots(a)
    score_a = sum(item.score * len(only_a & item.sentence.roots) for item in found)
    score_b = sum(item.score * len(only_b & item.sentence.roots) for item in found)
    words = a.split()
    short = a if asked.chinese else " ".join(words[-max(1, len(b.split())) :])
    return b if score_b > score_a else short
