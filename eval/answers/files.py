"""Files of answers, gzipped or not, in any layout, read as rows of one type."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eval.answers import values
from eval.answers.column_names import in_milliseconds
from eval.answers.columns import Proposal, propose
from eval.answers.containers import Item, row_lists
from eval.answers.layout import Layout
from eval.answers.plausible import doubtful_times, is_error
from eval.datasets.types import TYPES, Dataset, SourceFile
from eval.metrics.registry import reported
from memsys.core.errors import InputError

AS_REPORTED = "as reported"  # a verdict or a latency that a file contains; its judge
_MOST = 100_000  # rows: more would fill the memory, and no data set has as many questions
_INDEX = re.compile("[0-9]{1,9}")
_NUMBERED = re.compile(r"\d+$")
Parse = Callable[[Any, str, str], Any]
_PARSERS: Mapping[str, Parse] = {
    "index": values.whole,
    "question": values.text,
    "answer": values.text,
    "error": values.failure,
    "gold": values.text,
}
_SUMS: Mapping[str, Parse] = {
    "context_tokens": values.whole,
    "search_seconds": values.amount,
    "answer_seconds": values.amount,
    "total_seconds": values.amount,
}


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer; a field is None if the file does not contain it or leaves it blank.

    `conversation` and `category` are the file's labels, not the data set's. `error`: set if the row
    says that answering failed. `judge`: 0 to 1. `verdicts`: of each run of a judge, by its name, if
    the file lists several. `reported`: scores in the file, by the names of our metrics.
    """

    place: str
    conversation: str | None
    index: int | None
    question: str | None
    answer: str
    error: str | None = None
    gold: str | None = None
    category: str | None = None
    judge: float | None = None
    verdicts: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    context_tokens: int | None = None
    search_seconds: float | None = None
    answer_seconds: float | None = None
    total_seconds: float | None = None
    reported: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """A file or folder of answers: name, size and sha256 on disk, how it was read, rows.

    `source`: of a folder, the total size, and the hash of the list of hashes and names in
    `sources`. `passed_over`: names of the other files in the folder.
    """

    source: SourceFile
    sources: tuple[SourceFile, ...]
    passed_over: tuple[str, ...]
    proposal: Proposal
    rows: tuple[AnswerRow, ...]

    @property
    def format(self) -> str:
        """Path of the list of rows in the file."""
        return self.proposal.rows.path

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """Columns of the file by our name of the field: `answer` -> (`response`,)."""
        return self.proposal.columns


class UnclearColumnsError(InputError):
    """The columns of a file cannot be read, or match too few questions; `proposal` is the table."""

    def __init__(self, message: str, proposal: Proposal) -> None:
        super().__init__(message)
        self.proposal = proposal


def read_answers(path: Path, dataset: Dataset | None, layout: Layout | None = None) -> AnswerFile:
    """Return the answers to `dataset` in the file or folder at `path`.

    `dataset`: None if the names of the columns have to suffice. `layout`: how to read the file;
    what it leaves open is looked for. Raises InputError naming the file and the place in it if it
    cannot be read, UnclearColumnsError if there is no column of answers or of questions, or if the
    unit of times is unclear. An answer that is the message of an error is one.
    """
    found = row_lists(path, None if layout is None else layout.rows)
    proposal = propose(found.lists, dataset, layout)
    name = path.name
    if proposal.problem is not None:
        raise UnclearColumnsError(f"{name}: {proposal.problem}", proposal)
    count = proposal.rows.count
    if count > _MOST:
        raise UnclearColumnsError(
            f"{name}: {count:,} rows are more than any data set has questions; name another list "
            "by --rows, or divide the file",
            proposal,
        )
    reader = _Reader(name, proposal.columns, dataset)
    rows = tuple(map(reader.row, proposal.rows.items()))
    doubt = doubtful_times(rows, proposal.columns, () if layout is None else layout.columns)
    if doubt is not None:
        raise UnclearColumnsError(f"{name}: {doubt}", proposal)
    source = _one(name, found.sources)
    return AnswerFile(source, found.sources, found.passed_over, proposal, rows)


def _one(name: str, sources: Sequence[SourceFile]) -> SourceFile:
    """Return the description of a folder with the files `sources`; of one file, its own."""
    if len(sources) == 1:
        return sources[0]
    listed = "".join(f"{one.sha256}  {one.name}\n" for one in sources)
    sha256 = hashlib.sha256(listed.encode()).hexdigest()
    return SourceFile(name, sum(one.bytes for one in sources), sha256)


class _Reader:
    """Reads the rows of the file `name` by the columns of each field."""

    def __init__(
        self, name: str, columns: Mapping[str, tuple[str, ...]], dataset: Dataset | None
    ) -> None:
        self._name = name
        self._columns = columns
        # Where a history has one question, the history's id is the question's.
        asked = [] if dataset is None else [one.conversation for one in dataset.questions]
        self._conversations = set(asked)
        self._single = len(self._conversations) == len(asked)
        types = TYPES if dataset is None else dataset.types
        self._label = partial(values.label, types=tuple(types.values()))

    def row(self, item: Item) -> AnswerRow:
        """Return the answer in `item`; raise InputError naming the value that cannot be read."""
        place = f"{self._name}: {item.place}"
        value, total = partial(self._value, item, place), partial(self._sum, item, place)
        fields = {name: value(name, parse) for name, parse in _PARSERS.items()}
        fields |= {name: total(name, parse) for name, parse in _SUMS.items()}
        identity, named = value("id", values.text), value("conversation", values.text)
        conversation, index = self._place(place, identity, named)
        fields["answer"] = fields["answer"] or ""
        if fields["error"] is None and is_error(fields["answer"]):
            fields["error"] = fields["answer"]
        fields["index"] = fields["index"] if index is None else index
        scores = {name: value(name, values.amount) for name in reported()}
        return AnswerRow(
            place=item.place,
            conversation=conversation,
            category=value("category", self._label),
            judge=self._judge(item, place),
            verdicts=self._runs(item, place),
            reported={name: score for name, score in scores.items() if score is not None},
            **fields,
        )

    def _value(self, item: Item, place: str, name: str, parse: Parse) -> Any:
        if name not in self._columns:
            return None
        column = self._columns[name][0]
        return parse(item.fields.get(column), place, column)

    def _sum(self, item: Item, place: str, name: str, parse: Parse) -> Any:
        """Return the sum over the columns of the field, in seconds; None if one is blank."""
        if name not in self._columns:
            return None
        parts = []
        for column in self._columns[name]:
            part = parse(item.fields.get(column), place, column)
            if part is None:
                return None
            parts.append(
                part / 1000 if parse is values.amount and in_milliseconds(column) else part
            )
        return sum(parts)

    def _judge(self, item: Item, place: str) -> float | None:
        columns = self._columns.get("judge", ())
        means = [values.verdict(item.fields.get(column), place, column) for column in columns]
        known = [mean for mean in means if mean is not None]
        return sum(known) / len(known) if known else None

    def _runs(self, item: Item, place: str) -> dict[str, tuple[bool, ...]]:
        """Return the verdicts of each run by judge: the columns are judges if they hold lists, or
        runs of one judge.
        """
        columns = self._columns.get("judge_runs") or self._columns.get("judge", ())
        cells = {column: values.runs(item.fields.get(column)) for column in columns}
        listed = any(isinstance(cell, list) for cell in cells.values())
        if len(columns) < 2 and not listed:
            return {}
        runs = {column: values.verdicts(cell, place, column) for column, cell in cells.items()}
        runs = {column: one for column, one in runs.items() if one}
        if len(columns) == 1:
            return {AS_REPORTED: one} if (one := next(iter(runs.values()), ())) else {}
        numbered = all(_NUMBERED.search(column) for column in columns)
        if numbered and not listed:
            every = tuple(passed for one in runs.values() for passed in one)
            return {AS_REPORTED: every} if every else {}
        return {column.rpartition(".")[2]: one for column, one in runs.items()}

    def _place(
        self, place: str, identity: str | None, conversation: str | None
    ) -> tuple[str | None, int | None]:
        """Return the file's label of the conversation, and the index if the id contains one."""
        index = None
        if identity is not None:
            sample, slash, number = identity.strip().rpartition("/")
            if self._single and identity.strip() in self._conversations:
                return identity.strip(), 0
            if slash and _INDEX.fullmatch(number):
                if conversation in self._conversations and conversation != sample:
                    raise InputError(
                        f"{place}: the id names {sample!r:.60}, and the row {conversation!r:.60}; "
                        "correct one of them"
                    )
                known = sample in self._conversations
                conversation, index = sample if known else conversation or sample, int(number)
        return None if conversation is None else conversation.strip(), index
