"""The columns of one list of rows, assigned to fields one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from eval.answers.agreement import against
from eval.answers.answer_column import answer_column
from eval.answers.candidates import (
    AMOUNTS,
    Choice,
    amount_columns,
    category_column,
    conversation_column,
    gold_column,
    id_column,
    index_column,
    question_column,
)
from eval.answers.column_names import named
from eval.answers.containers import BY_ROWS
from eval.answers.contents import Contents
from eval.answers.layout import Layout, expand
from eval.answers.verdict_columns import verdict_columns
from eval.metrics.registry import reported
from memsys.core.files import shown

_FREE = {"answer", "error"}  # fields of which any value fits
_BY_COLUMNS = 10  # columns that contain questions, from which the columns are rows


class Assignment:
    """The columns of each field; a column has at most one meaning.

    `problem`: why the list cannot be read, None if it can. `doubt`: why a column that the user
    names may not be what it is said to be. `given`: columns that the user names; the other fields
    are looked for unless `given` is whole.
    """

    def __init__(self, contents: Contents, given: Layout) -> None:
        self.columns: dict[str, tuple[str, ...]] = {}
        self.problem: str | None = None
        self.doubt: str | None = None
        self._contents, self._given = contents, given
        self._shares: dict[str, float] = {}
        self._take_given()
        if not given.whole:
            self._assign("question", question_column(contents, self._free()))
            self._assign("id", id_column(contents, self._free(), self._first("question")))
        contents.identify(self._first("question"), self._first("id"))
        if not given.whole:
            self._assign_rest()
        self.columns = {field: columns for field, columns in self.columns.items() if columns}
        self._check_verdicts()
        if {"conversation", "index"} <= self.columns.keys() and "id" not in given.columns:
            self.columns.pop("id", None)
        self.problem = self.problem or self._missing()
        if self.problem is not None and self._is_by_columns():
            self.problem = f"is a table by columns; {BY_ROWS}"

    def share(self, column: str, field: str | None) -> float | None:
        """Return the share of values that fit the meaning `field`; None if that is not known."""
        if field in _FREE:
            return self._contents.fullness(column)
        return None if field is None else self._shares.get(column)

    def _take_given(self) -> None:
        present = self._contents.columns
        for field, patterns in self._given.columns.items():
            found = [expand(pattern, present) for pattern in patterns]
            missing = [p for p, columns in zip(patterns, found, strict=True) if not columns]
            several = list(dict.fromkeys(column for columns in found for column in columns))
            if missing and (not self._given.whole or field in self._given.required):
                self.problem = f"no column {missing[0]!r:.60} for {field}; {self._present()}"
            elif field in ("answer", "question") and len(several) > 1:
                self.problem = _ambiguous(field, several)
            elif not missing:
                self.columns[field] = tuple(several)

    def _assign_rest(self) -> None:
        """Assign the fields that need the question of each row."""
        contents = self._contents
        self._assign("conversation", conversation_column(contents, self._free()))
        if (conversation := self._first("conversation")) is not None:
            self._assign("index", index_column(contents, self._free(), conversation))
        if "answer" not in self.columns:
            candidates = answer_column(contents, self._free())
            if len(candidates) > 1:
                self.problem = self.problem or _ambiguous("answer", candidates)
            elif candidates:
                self.columns["answer"] = (candidates[0],)
        self._assign("gold", gold_column(contents, self._free()))
        self._assign("category", category_column(contents, self._free()))
        if "judge" not in self.columns:
            found = verdict_columns(contents, self._own(), self._first("answer"))
            self.columns = found | self.columns
            used = {column for columns in found.values() for column in columns}
            self._shares |= {one: contents.verdicts(one, fractions=True) for one in used}
        for field in (*AMOUNTS, *reported()):
            if field not in self.columns:
                found_amounts = amount_columns(contents, self._own(), field)
                if found_amounts:
                    self.columns[field] = tuple(found_amounts)
                    self._shares |= found_amounts
        if "error" not in self.columns and (errors := named("error", self._own())):
            self.columns["error"] = (errors[0],)

    def _check_verdicts(self) -> None:
        """Refuse verdicts that go against the answers, unless the user names their column."""
        answer, judge = self._first("answer"), self.columns.get("judge", ())
        found = against(self._contents, judge, answer) if answer and judge else None
        if found is not None and "judge" in self._given.columns:
            self.doubt = found
        elif found is not None:
            self.problem = self.problem or (
                f"{found}; name the column of verdicts by --columns judge=COLUMN, or leave it out "
                "by judge=none"
            )

    def _assign(self, field: str, choice: Choice | None) -> None:
        if choice is None or field in self.columns:
            return
        column, share = choice
        self.columns[field] = (column,)
        if share is not None:
            self._shares[column] = share

    def _first(self, field: str) -> str | None:
        return next(iter(self.columns.get(field, ())), None)

    def _free(self) -> list[str]:
        """Return the columns without a meaning."""
        used = {column for columns in self.columns.values() for column in columns}
        return [column for column in self._contents.columns if column not in used]

    def _own(self) -> list[str]:
        """Return those of the rows, not of what encloses them, such as the mean of a file."""
        return [column for column in self._free() if column not in self._contents.inherited]

    def _is_by_columns(self) -> bool:
        """Return whether questions are in many columns, as if each were a row."""
        contents = self._contents
        return sum(contents.questions(one) > 0 for one in contents.columns) > _BY_COLUMNS

    def _present(self) -> str:
        return f"columns found: {shown(', '.join(self._contents.columns))}"

    def _missing(self) -> str | None:
        """Return why the columns do not suffice; None if they do."""
        index = self._contents.index
        if index is not None and any(map(index.of_words, self._contents.columns)):
            return "its first line is a row, not a header; add the names of the columns"
        if "answer" not in self.columns:
            return (
                f"no column for the answer; name it by --columns answer=COLUMN ({self._present()})"
            )
        answer = self.columns["answer"][0]
        single = self._contents.rows == 1  # one empty answer is an answer
        named_by_user = "answer" in self._given.columns
        if not (
            single or named_by_user or self._contents.filled(answer) or "error" in self.columns
        ):
            return (
                f"the column of answers, {answer!r:.60}, is empty; name it or another by --columns "
                f"answer=COLUMN ({self._present()})"
            )
        if not self.columns.keys() & {"question", "id", "index"}:
            return (
                "no column for the question; name it by --columns question=COLUMN, or give its "
                f"place in the conversation's qa list as qa_index ({self._present()})"
            )
        return None


def _ambiguous(field: str, columns: Sequence[str]) -> str:
    names = shown(", ".join(columns))
    return f"several columns may be the {field}: {names}; name one by --columns {field}=COLUMN"
