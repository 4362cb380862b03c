"""What each column of a file of answers means, by its name and by its contents.

Names give candidates (columns.yaml) and contents decide: a column means the question if its values
are the data set's questions, whatever its name, and never the answer if its values are the gold
answers and another column may be the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval.answers.answer_columns import Columns, against
from eval.answers.candidates import FURTHER, IDENTIFYING, SHARES, Draft
from eval.answers.containers import BY_ROWS, RowList
from eval.answers.contents import Contents, cell, contents_of
from eval.answers.layout import Layout, expand
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
    draft, problem, doubt = assign(contents_of(rows.sample, index), given)
    contents, columns = draft.contents, draft.columns
    meanings = {one: field for field, several in columns.items() for one in several}
    shares = {one: SHARES[field](draft, one) for one, field in meanings.items()}
    table = tuple(
        Column(name, meanings.get(name), shares.get(name), contents.example(name))
        for name in contents.columns
    )
    known = sum(map(bool, contents.known)) if index is not None else contents.rows
    texts = {*columns.get("question", ()), *columns.get("answer", ())}
    if len(texts) > 1 and texts <= contents.inherited:
        known = 0  # a list within a row, such as what was retrieved
    matched = rows.count * known / max(1, contents.rows)
    return Proposal(rows, columns, table, problem, matched, doubt)


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


_BY_COLUMNS = 10  # columns that contain questions, from which the columns are rows


def assign(contents: Contents, given: Layout) -> tuple[Draft, str | None, str | None]:
    """Return the columns of each field, a column for one field at most, with `problem` and `doubt`
    as of a Proposal. Those that the user has `given` go first, and others are looked for unless
    `given` is whole.
    """
    columns, problem = _given(contents, given)
    for field in () if given.whole else IDENTIFYING:
        if field.name not in columns:
            columns |= field.find(Draft(contents, columns))
    named_by = Draft(contents, columns)
    contents = contents.identified(named_by.first("question"), named_by.first("id"))
    for field in () if given.whole else FURTHER:
        if field.name not in columns:
            found = field.find(Draft(contents, columns))
            if len(rivals := found.get("answer", ())) > 1:
                problem = problem or _ambiguous("answer", rivals)
            else:
                columns = {**columns, **found, **columns}
    draft = Draft(contents, {field: several for field, several in columns.items() if several})
    answer, judge = draft.first("answer"), draft.columns.get("judge", ())
    doubt = against(contents, judge, answer) if answer and judge else None
    if doubt is not None and "judge" not in given.columns:
        problem = problem or (
            f"{doubt}; name the column of verdicts by --columns judge=COLUMN, or leave it out "
            "by judge=none"
        )
        doubt = None
    if {"conversation", "index"} <= draft.columns.keys() and "id" not in given.columns:
        draft.columns.pop("id", None)
    problem = problem or _missing(draft, given)
    if problem is not None and _is_by_columns(contents):
        problem = f"is a table by columns; {BY_ROWS}"
    return draft, problem, doubt


def _given(contents: Contents, given: Layout) -> tuple[Columns, str | None]:
    """Return the columns that the user names, and what is wrong with one of them."""
    columns: Columns = {}
    problem = None
    for field, patterns in given.columns.items():
        expanded = [expand(pattern, contents.columns) for pattern in patterns]
        missing = [p for p, present in zip(patterns, expanded, strict=True) if not present]
        several = tuple(dict.fromkeys(column for present in expanded for column in present))
        if missing and (not given.whole or field in given.required):
            problem = f"no column {missing[0]!r:.60} for {field}; {_present(contents)}"
        elif field in ("answer", "question") and len(several) > 1:
            problem = _ambiguous(field, several)
        elif not missing:
            columns[field] = several
    return columns, problem


def _missing(draft: Draft, given: Layout) -> str | None:
    """Return why the columns do not suffice; None if they do."""
    contents, columns = draft.contents, draft.columns
    index = contents.index
    if index is not None and any(map(index.of_words, contents.columns)):
        return "its first line is a row, not a header; add the names of the columns"
    if "answer" not in columns:
        return (
            f"no column for the answer; name it by --columns answer=COLUMN ({_present(contents)})"
        )
    answer = columns["answer"][0]
    single = contents.rows == 1  # one empty answer is an answer
    empty = not contents.filled(answer) and "error" not in columns
    if empty and not single and "answer" not in given.columns:
        return (
            f"the column of answers, {answer!r:.60}, is empty; name it or another by --columns "
            f"answer=COLUMN ({_present(contents)})"
        )
    if not columns.keys() & {"question", "id", "index"}:
        return (
            "no column for the question; name it by --columns question=COLUMN, or give its "
            f"place in the conversation's qa list as qa_index ({_present(contents)})"
        )
    return None


def _is_by_columns(contents: Contents) -> bool:
    """Return whether questions are in many columns, as if each were a row."""
    return sum(bool(contents.questions(one)) for one in contents.columns) > _BY_COLUMNS


def _present(contents: Contents) -> str:
    return f"columns found: {shown(', '.join(contents.columns))}"


def _ambiguous(field: str, columns: Iterable[str]) -> str:
    names = shown(", ".join(columns))
    return f"several columns may be the {field}: {names}; name one by --columns {field}=COLUMN"
