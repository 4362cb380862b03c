"""What each column of a file of answers means, by its name and by its contents.

Names give candidates (columns.yaml) and contents decide: a column means the question if its values
are the data set's questions, whatever its name, and never the answer if its values are the gold
answers and another column may be the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eval.answers.assignment import assign
from eval.answers.containers import RowList
from eval.answers.contents import cell, contents_of
from eval.answers.layout import Layout
from eval.answers.questions import QuestionIndex, normalise
from eval.datasets.types import Dataset
from memsys.core.files import shown

_MANY = 0.5  # share of the questions in two lists, and of the answers that differ
_CLOSE_TO_BEST = 0.9  # share of the matched rows that another list of answers has as well


@dataclass(frozen=True, slots=True)
class Column:
    """A line of the table of columns.

    `meaning`: the field that is read from it, None if it is not read. `share`: of its values, those
    that fit the meaning, 0 to 1.
    """

    name: str
    meaning: str | None
    share: float | None
    example: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """How to read one list of rows: the columns of each field, and the table of all columns.

    `problem`: why it cannot be read, None if it can. `doubt`: why a column that the user names may
    not be what it is said to be.
    """

    rows: RowList
    columns: Mapping[str, tuple[str, ...]]
    table: tuple[Column, ...]
    problem: str | None
    matched: float
    doubt: str | None = None

    @property
    def layout(self) -> Layout:
        """The layout by which the file can be read again."""
        return Layout(None, self.rows.path, self.columns, whole=True)


def propose(
    lists: Sequence[RowList], dataset: Dataset | None, given: Layout | None = None
) -> Proposal:
    """Return how to read the one of `lists` that matches most questions and has an answer.

    `dataset`: None where names alone have to decide. `given`: columns that the user has named.
    """
    index = None if dataset is None else QuestionIndex(dataset)
    found = [_propose(one, index, given or Layout()) for one in lists]
    best = max(found, key=lambda one: (one.problem is None, one.matched, one.rows.count))
    rivals = [
        one.rows.path
        for one in found
        if one.problem is None
        and (one is best or _CLOSE_TO_BEST * best.matched <= one.matched)
        and (one is best or _are_rivals(best, one))
    ]
    if best.problem is not None or len(rivals) < 2:
        return best
    names = shown(", ".join(rivals))
    problem = f"several lists answer the same questions: {names}; name one by --rows"
    return replace(best, problem=problem)


def _propose(rows: RowList, index: QuestionIndex | None, given: Layout) -> Proposal:
    assigned = assign(contents_of(rows.sample, index), given)
    contents = assigned.contents
    meanings = {one: field for field, columns in assigned.columns.items() for one in columns}
    table = tuple(
        Column(
            name,
            meanings.get(name),
            assigned.share(name, meanings.get(name)),
            contents.example(name),
        )
        for name in contents.columns
    )
    known = sum(map(bool, contents.known)) if index is not None else contents.rows
    texts = {*assigned.columns.get("question", ()), *assigned.columns.get("answer", ())}
    if len(texts) > 1 and texts <= contents.inherited:
        known = 0  # a list within a row, such as what was retrieved
    matched = rows.count * known / max(1, contents.rows)
    return Proposal(rows, assigned.columns, table, assigned.problem, matched, assigned.doubt)


def _are_rivals(one: Proposal, other: Proposal) -> bool:
    """Return whether the two lists answer half of their questions in common, mostly differently."""
    first, second = _answers(one), _answers(other)
    common = first.keys() & second.keys()
    if len(common) <= _MANY * min(len(first), len(second)):
        return False
    return sum(first[key] != second[key] for key in common) > _MANY * len(common)


def _answers(one: Proposal) -> dict[str, str]:
    """Return the answers by question, in the sample; none without both columns."""
    if not one.columns.keys() >= {"question", "answer"}:
        return {}
    question, answer = one.columns["question"][0], one.columns["answer"][0]
    return {
        normalise(str(cell(item, question))): str(cell(item, answer)).strip()
        for item in one.rows.sample
    }
