"""The column of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eval.answers.column_names import (
    ANSWER_HINT,
    NAMES,
    OTHER_TEXT,
    is_key,
    named,
    rank_of,
    snake,
)
from eval.answers.contents import Contents
from eval.answers.values import blank

_MOST = 0.5  # share of values that are texts, gold answers or numbers
_ALL = 0.95
_CLOSE = 0.03  # overlap of words with the gold answer that an unlisted column of answers has
_CONTEXT = 3_000  # mean characters of a text that is too long for an answer
_REPEATED = 10  # rows for each different text, from which a column is a label
_PATTERN = len(NAMES["answer"]) - 1  # of names such as gpt-4o_prediction


def answer_column(contents: Contents, free: Sequence[str]) -> list[str]:
    """Return the column of answers; several if it is not clear which, none if there is none.

    A column of gold answers is the answer only if no other column may be. Of listed names, the
    first is read, unless another column has other texts, such as a chain of thought, that are known
    not to be the gold answers. An unlisted column is the answer if it is the only remaining
    text, or the only one whose words are close to the gold answers.
    """
    by_name = [
        column
        for column in named("answer", free)
        if contents.texts(column) >= _MOST or len(contents.filled(column)) * 2 < contents.rows
    ]
    filled = [column for column in by_name if contents.filled(column)]
    right = [column for column in filled if (contents.gold(column) or 0.0) < _ALL]
    if right:
        rank = rank_of("answer", right[0])
        if rank == _PATTERN:
            return [one for one in right if rank_of("answer", one) == rank]
        others = (one for one in right[1:] if contents.gold(one) is not None)
        listed = (one for one in others if rank_of("answer", one) < _PATTERN)
        return [right[0], *(one for one in listed if _differ(contents, right[0], one))]
    certain = [column for column in filled if not named("gold", [column])]
    if not certain:
        unlisted = _texts(contents, free)
        if len(unlisted) == 1 or (unlisted and not filled):
            return unlisted
    return [*certain, *filled, *by_name][:1]


def _differ(contents: Contents, one: str, other: str) -> bool:
    """Return whether most rows have different texts in both columns."""
    cells = zip(contents.columns[one], contents.columns[other], strict=True)
    texts = [(str(a).strip(), str(b).strip()) for a, b in cells if not (blank(a) or blank(b))]
    return sum(a != b for a, b in texts) > _MOST * contents.rows


def _texts(contents: Contents, free: Sequence[str]) -> list[str]:
    """Return the unlisted columns that may be the answer."""
    found = [column for column in free if _may_answer(contents, column)]
    narrower: list[Callable[[str], bool]] = [
        lambda column: not OTHER_TEXT.search(snake(column)),
        lambda column: contents.closeness(column) >= _CLOSE,
        lambda column: bool(ANSWER_HINT.search(snake(column))),
    ]
    for fits_better in narrower:
        if len(found) > 1:
            found = [column for column in found if fits_better(column)] or found
    return found


def _may_answer(contents: Contents, column: str) -> bool:
    """Return whether an unlisted column contains different texts that are no other field."""
    if is_key(column) or named("gold", [column]) or named("category", [column]):
        return False
    filled = contents.filled(column)
    return (
        all(isinstance(one, str) for one in filled)
        and contents.distinct(column) > max(1, len(filled) // _REPEATED)
        and contents.length(column) < _CONTEXT
        and contents.verdicts(column, fractions=True) < _MOST
        and contents.amounts(column) < _MOST
        and (contents.gold(column) or 0.0) < _ALL
    )
