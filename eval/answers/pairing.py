"""Pair rows and official questions that share their words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from eval.answers.answers import Row
from eval.answers.words import normal
from eval.datasets.types import Question


def pair(
    rows: Sequence[Row], questions: Sequence[Question], taken: Collection[str]
) -> tuple[list[tuple[Row, Question]], int]:
    """Pairs of row and question, each used once, and how many of the pairs were a choice.

    All `questions` have the same words, as have all `rows`; `taken` are the ids of questions that
    have an answer already. A row whose gold answer or category fits one question alone goes to that
    one; the others are paired in order, and are counted where the row fits several. A row that fits
    only what is taken gets none.
    """
    fits = [(row, _fitting(row, questions)) for row in rows]
    pairs: dict[int, Question] = {}  # by position in rows
    used = set(taken)
    ambiguous = 0
    for only_clear in (True, False):
        for position, (_, fitting) in enumerate(fits):
            free = [question for question in fitting if question.id not in used]
            if position in pairs or not free or (only_clear and len(fitting) > 1):
                continue
            pairs[position] = free[0]
            used.add(free[0].id)
            ambiguous += len(fitting) > 1
    return [(rows[position], pairs[position]) for position in sorted(pairs)], ambiguous


def _fitting(row: Row, questions: Sequence[Question]) -> list[Question]:
    """The questions that the row's gold, then its category, agree with; all where they do not
    help.
    """
    fitting = list(questions)
    if row.gold is not None:
        gold = normal(row.gold)
        fitting = [q for q in fitting if gold in _golds(q)] or fitting
    if row.category is not None and len(fitting) > 1:
        fitting = [q for q in fitting if row.category in (str(q.category), q.type)] or fitting
    return fitting


def _golds(question: Question) -> set[str]:
    """Files give a type 5 question its tempting answer for a gold, as the data set does."""
    return {
        normal(text) for text in (question.original_gold, question.adversarial) if text is not None
    }
