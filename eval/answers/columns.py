"""What each column of a file of answers means, by its name and by its contents.

Names give candidates (columns.yaml) and contents decide: a column means the question if its values
are the data set's questions, whatever its name, and never the answer if its values are the gold
answers and another column may be the answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval.answers.answer_columns import against
from eval.answers.containers import BY_ROWS, RowList
from eval.answers.finders import FINDERS
from eval.answers.layout import Layout, expand
from eval.answers.match import QuestionIndex, normalise
from eval.answers.sheet import Sheet
from eval.datasets.types import Dataset
from memsys.core.files import shown

_MANY = 0.5  # share of the questions in two lists, and of the answers that differ
_CLOSE_TO_BEST = 0.9  # share of the matched rows that another list of answers has as well
_BY_COLUMNS = 10  # columns that contain questions, from which the columns are rows


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


def propose(
    lists: Sequence[RowList], dataset: Dataset | None, given: Layout | None = None
) -> Proposal:
    """Return how to read the one of `lists` that matches most questions and has an answer.

    `dataset`: None where names alone have to decide. `given`: columns that the user has named.
    """
    index = None if dataset is None else QuestionIndex(dataset)
    proposals = [_propose(rows, index, given or Layout()) for rows in lists]
    best = max(proposals, key=lambda p: (p.problem is None, p.matched, p.rows.count))
    rivals = [p.rows.path for p in proposals if p is best or _are_rivals(best, p)]
    if best.problem is not None or len(rivals) < 2:
        return best
    names = shown(", ".join(rivals))
    problem = f"several lists answer the same questions: {names}; name one by --rows"
    return replace(best, problem=problem)


def _propose(rows: RowList, index: QuestionIndex | None, given: Layout) -> Proposal:
    sheet = Sheet(rows.sample, index)
    problem, doubt = _assign(sheet, given)
    meanings = {column: field for field, several in sheet.fields.items() for column in several}
    shares = {
        column: FINDERS["judge" if field == "judge_runs" else field].share(sheet, column)
        for column, field in meanings.items()
    }
    table = tuple(
        Column(name, meanings.get(name), shares.get(name), sheet.example(name))
        for name in sheet.columns
    )
    matched = sheet.rows if index is None else sum(map(bool, sheet.known))
    texts = {*sheet.fields.get("question", ()), *sheet.fields.get("answer", ())}
    if len(texts) > 1 and texts <= sheet.inherited:
        matched = 0  # a list within a row, such as what was retrieved
    return Proposal(rows, sheet.fields, table, problem, rows.count * matched / sheet.rows, doubt)


def _are_rivals(best: Proposal, other: Proposal) -> bool:
    """Return whether `other` is about as good as `best`, and both answer half of their questions in
    common, mostly differently.
    """
    if other.problem is not None or other.matched < _CLOSE_TO_BEST * best.matched:
        return False
    first, second = _answers(best), _answers(other)
    common = first.keys() & second.keys()
    if len(common) <= _MANY * min(len(first), len(second)):
        return False
    return sum(first[key] != second[key] for key in common) > _MANY * len(common)


def _answers(proposal: Proposal) -> dict[str, str]:
    """Return the answers by question, in the sample; none without both columns."""
    if not proposal.columns.keys() >= {"question", "answer"}:
        return {}
    question, answer = proposal.columns["question"][0], proposal.columns["answer"][0]
    rows = (item.fields for item in proposal.rows.sample)
    return {normalise(str(row.get(question))): str(row.get(answer)).strip() for row in rows}


def _assign(sheet: Sheet, given: Layout) -> tuple[str | None, str | None]:
    """Assign columns to fields, a column to one field at most; return `problem` and `doubt` as of a
    Proposal. Those that the user has `given` go first, and others are looked for unless `given` is
    whole.
    """
    problem = _assign_given(sheet, given)
    for field, finder in () if given.whole else FINDERS.items():
        if field not in sheet.fields:
            columns = finder.find(sheet)
            if len(rivals := columns.get("answer", ())) > 1:
                problem = problem or _ambiguous("answer", rivals)
            else:
                sheet.fields = {**sheet.fields, **columns, **sheet.fields}
    sheet.fields = {field: several for field, several in sheet.fields.items() if several}
    doubt = against(sheet)
    if doubt is not None and "judge" not in given.columns:
        problem = problem or (
            f"{doubt}; name the column of verdicts by --columns judge=COLUMN, or leave it "
            "out by judge=none"
        )
        doubt = None
    if {"conversation", "index"} <= sheet.fields.keys() and "id" not in given.columns:
        sheet.fields.pop("id", None)
    problem = problem or _missing(sheet, given)
    if problem is not None and sum(map(bool, map(sheet.questions, sheet.columns))) > _BY_COLUMNS:
        problem = f"is a table by columns; {BY_ROWS}"
    return problem, doubt


def _assign_given(sheet: Sheet, given: Layout) -> str | None:
    """Assign the columns that the user names; return what is wrong with one of them."""
    problem = None
    for field, patterns in given.columns.items():
        expanded = [expand(pattern, sheet.columns) for pattern in patterns]
        missing = [p for p, present in zip(patterns, expanded, strict=True) if not present]
        several = tuple(dict.fromkeys(column for present in expanded for column in present))
        if missing and (not given.whole or field in given.required):
            problem = f"no column {missing[0]!r:.60} for {field}; {_present(sheet)}"
        elif field in ("answer", "question") and len(several) > 1:
            problem = _ambiguous(field, several)
        elif not missing:
            sheet.fields[field] = several
    return problem


def _missing(sheet: Sheet, given: Layout) -> str | None:
    """Return why the columns do not suffice; None if they do."""
    if sheet.index is not None and any(map(sheet.index.of_words, sheet.columns)):
        return "its first line is a row, not a header; add the names of the columns"
    answer, present = sheet.first("answer"), _present(sheet)
    if answer is None:
        return f"no column for the answer; name it by --columns answer=COLUMN ({present})"
    empty = not sheet.filled[answer] and "error" not in sheet.fields
    # One empty answer is an answer.
    if empty and sheet.rows > 1 and "answer" not in given.columns:
        return (
            f"the column of answers, {answer!r:.60}, is empty; name it or another by "
            f"--columns answer=COLUMN ({present})"
        )
    if not sheet.fields.keys() & {"question", "id", "index"}:
        return (
            "no column for the question; name it by --columns question=COLUMN, or give "
            f"its place in the conversation's qa list as qa_index ({present})"
        )
    return None


def _present(sheet: Sheet) -> str:
    return f"columns found: {shown(', '.join(sheet.columns))}"


def _ambiguous(field: str, columns: Iterable[str]) -> str:
    names = shown(", ".join(columns))
    return f"several columns may be the {field}: {names}; name one by --columns {field}=COLUMN"
