"""The columns of one list of rows, assigned to fields one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eval.answers.candidates import FURTHER, IDENTIFYING, SHARES, Columns, Draft
from eval.answers.containers import BY_ROWS
from eval.answers.contents import Contents
from eval.answers.layout import Layout, expand
from eval.answers.verdict_columns import against
from memsys.core.files import shown

_BY_COLUMNS = 10  # columns that contain questions, from which the columns are rows


@dataclass(frozen=True, slots=True)
class Assignment(Draft):
    """The columns of each field; a column has at most one meaning.

    `problem`: why the list cannot be read, None if it can. `doubt`: why a column that the user
    names may not be what it is said to be.
    """

    problem: str | None
    doubt: str | None

    def share(self, column: str, field: str | None) -> float | None:
        """Return the share of values that fit the meaning `field`; None if that is not known."""
        return None if field is None else SHARES[field](self, column)


def assign(contents: Contents, given: Layout) -> Assignment:
    """Return the columns of each field; those that the user has `given` go first, and others are
    looked for unless `given` is whole.
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
    return Assignment(contents, draft.columns, problem, doubt)


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
