"""Specific wrong answers, made by rule: what is right for another question of the same type."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from eval.datasets.types import Question
from eval.metrics.alternatives import alternatives
from eval.metrics.normalise import normalise, terms
from memsys.text.terms import is_cjk

_DATE = re.compile(r"\bmonth\d|\bday\d|\b(?:19|20)\d\d\b")
_NUMBER = re.compile(r"\d")
_NEAR = 8  # candidates of like length from which one is drawn


class WrongAnswers:
    """Draws for each question the gold of another one: of its type, language and form."""

    def __init__(self, questions: Sequence[Question], seed: int) -> None:
        """`questions`: with gold; golds are drawn from them."""
        self._seed = seed
        self._pools: dict[tuple[str, bool, str], list[str]] = {}
        for q in questions:
            pool = self._pools.setdefault(_group(q), [])
            if q.gold is not None and q.gold not in pool:
                pool.append(q.gold)

    def specific(self, question: Question) -> str | None:
        """A gold that says something else than the question's: neither holds all terms of the
        other, nor of one of its alternatives. Of those, one of the nearest in length. None if
        there is none.
        """
        gold = question.gold or ""
        others = [one for one in self._pools.get(_group(question), []) if _differs(one, gold)]
        if not others:
            return None
        others.sort(key=lambda one: (abs(len(one) - len(gold)), one))
        draw = random.Random(f"{self._seed} {question.id}")  # noqa: S311 - a sample, no secret
        return draw.choice(others[:_NEAR])


def _group(question: Question) -> tuple[str, bool, str]:
    """Type, whether Chinese, and form: a date is no credible answer to "who"."""
    plain = normalise(question.gold or "")
    form = "date" if _DATE.search(plain) else "number" if _NUMBER.search(plain) else "words"
    return question.type, is_cjk(question.text), form


def _differs(one: str, other: str) -> bool:
    ours, theirs = ([set(terms(text)) for text in alternatives(gold)] for gold in (one, other))
    return all(not (a <= b or b <= a) for a in ours for b in theirs) and bool(ours) and bool(theirs)
