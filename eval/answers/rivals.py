"""Lists of one file that answer the same questions differently, such as those of two systems."""

from __future__ import annotations

from collections.abc import Mapping

from eval.answers.containers import RowList
from eval.answers.contents import cell
from eval.answers.normalised import normalise

_MANY = 0.5  # share of the questions, and of the answers that differ


def are_rivals(
    one: RowList,
    one_columns: Mapping[str, tuple[str, ...]],
    other: RowList,
    other_columns: Mapping[str, tuple[str, ...]],
) -> bool:
    """Return whether the two lists answer half of their questions in common, mostly differently."""
    first, second = _answers(one, one_columns), _answers(other, other_columns)
    common = first.keys() & second.keys()
    if len(common) <= _MANY * min(len(first), len(second)):
        return False
    return sum(first[key] != second[key] for key in common) > _MANY * len(common)


def _answers(rows: RowList, columns: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the answers by question, in the sample of `rows`; none without both columns."""
    if not columns.keys() >= {"question", "answer"}:
        return {}
    question, answer = columns["question"][0], columns["answer"][0]
    return {
        normalise(str(cell(item, question))): str(cell(item, answer)).strip()
        for item in rows.sample
    }
