"""Files of answers, gzipped or not, in any layout, read as rows of one type; and answers and times
beyond belief: messages of errors, texts in place of answers, wrong units.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from eval.answers import values
from eval.answers.columns import Proposal, propose
from eval.answers.containers import Item, row_lists
from eval.answers.layout import TABLE, TIMES, Layout, unit_of
from eval.answers.match import AnswerRow
from eval.datasets.types import TYPES, Dataset, SourceFile
from eval.metrics.abstention import abstains
from eval.metrics.registry import reported
from memsys.core.errors import InputError

AS_REPORTED = "as reported"  # a verdict or a latency that a file contains; its judge
_MOST = 100_000  # rows: more would fill the memory, and no data set has as many questions
_INDEX = re.compile("[0-9]{1,9}")
_NUMBERED = re.compile(r"\d+$")
_PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "index": values.whole,
    "question": values.text,
    "answer": values.text,
    "error": values.failure,
    "gold": values.text,
    "id": values.text,
    "conversation": values.text,
    **dict.fromkeys(reported(), values.amount),
}
_SUMS: Mapping[str, Callable[[Any], Any]] = {
    "context_tokens": values.whole,
    **dict.fromkeys(TIMES, values.amount),
}


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
    contents = row_lists(path, None if layout is None else layout.rows)
    proposal = propose(contents.lists, dataset, layout)
    name, problem = path.name, proposal.problem
    rows: tuple[AnswerRow, ...] = ()
    if problem is None and proposal.rows.count > _MOST:
        problem = (
            f"{proposal.rows.count:,} rows are more than any data set has questions; name another "
            "list by --rows, or divide the file"
        )
    elif problem is None:
        reader = _Reader(name, proposal.columns, dataset)
        rows = tuple(map(reader.row, proposal.rows.items()))
        problem = _doubtful_times(rows, proposal.columns, () if layout is None else layout.columns)
    if problem is not None:
        raise UnclearColumnsError(f"{name}: {problem}", proposal)
    source, *others = contents.sources
    if others:
        listed = "".join(f"{file.sha256}  {file.name}\n" for file in contents.sources)
        sha256 = hashlib.sha256(listed.encode()).hexdigest()
        source = SourceFile(name, sum(file.bytes for file in contents.sources), sha256)
    return AnswerFile(source, contents.sources, contents.passed_over, proposal, rows)


class _Reader:
    """Reads the rows of the file `name` by the columns of each field."""

    def __init__(
        self, name: str, columns: Mapping[str, tuple[str, ...]], dataset: Dataset | None
    ) -> None:
        self._name, self._columns = name, columns
        # Most fields have no column, which is found once, not for each row.
        self._parsed = {name: parser for name, parser in _PARSERS.items() if columns.get(name)}
        self._summed = {name: parser for name, parser in _SUMS.items() if columns.get(name)}
        self._reported = [name for name in reported() if name in self._parsed]
        # Where a history has one question, the history's id is the question's.
        asked = [] if dataset is None else [question.conversation for question in dataset.questions]
        self._conversations = set(asked)
        self._single = len(self._conversations) == len(asked)
        self._types = (TYPES if dataset is None else dataset.types).values()

    def row(self, item: Item) -> AnswerRow:
        """Return the answer in `item`; raise InputError naming the value that cannot be read."""

        def cells(name: str, parse: Callable[[Any], Any]) -> dict[str, Any]:
            """Return the values of a field by column."""
            by_column = {}
            for column in self._columns.get(name, ()):
                try:
                    by_column[column] = parse(item.fields.get(column))
                except InputError as error:
                    place = f"{self._name}: {item.place}: {column}"
                    raise InputError(f"{place} {error}") from None
            return by_column

        value = dict.fromkeys(_PARSERS) | {
            name: next(iter(cells(name, parser).values())) for name, parser in self._parsed.items()
        }
        sums = dict.fromkeys(_SUMS) | {
            name: _sum(cells(name, parse)) for name, parse in self._summed.items()
        }
        label = cells("category", lambda cell: values.label(cell, self._types))
        means = [mean for mean in cells("judge", values.verdict).values() if mean is not None]
        runs_in = "judge_runs" if self._columns.get("judge_runs") else "judge"
        columns = self._columns.get(runs_in, ())
        listed = any(isinstance(values.runs(item.fields.get(column)), list) for column in columns)
        several = len(columns) > 1 or listed
        conversation, index = self._place(item, value["id"], value["conversation"])
        answer = value["answer"] or ""
        return AnswerRow(
            place=item.place,
            conversation=conversation,
            index=value["index"] if index is None else index,
            question=value["question"],
            answer=answer,
            error=answer if value["error"] is None and _is_error(answer) else value["error"],
            gold=value["gold"],
            category=next(iter(label.values()), None),
            judge=sum(means) / len(means) if means else None,
            verdicts=_by_judge(cells(runs_in, values.verdicts), listed) if several else {},
            reported={name: score for name in self._reported if (score := value[name]) is not None},
            **sums,
        )

    def _place(
        self, item: Item, identity: str | None, conversation: str | None
    ) -> tuple[str | None, int | None]:
        """Return the file's label of the conversation, and the index if the id contains one."""
        index = None
        if identity is not None:
            sample, slash, number = identity.strip().rpartition("/")
            if self._single and identity.strip() in self._conversations:
                return identity.strip(), 0
            if slash and _INDEX.fullmatch(number):
                if conversation in self._conversations and conversation != sample:
                    where = f"{self._name}: {item.place}"
                    raise InputError(
                        f"{where}: the id names {sample!r:.60}, and the row {conversation!r:.60}; "
                        "correct one of them"
                    )
                exists = sample in self._conversations
                conversation, index = sample if exists else conversation or sample, int(number)
        return None if conversation is None else conversation.strip(), index


def _sum(cells: Mapping[str, Any]) -> Any:
    """Return the sum over the columns of a field, of times in seconds; None if one is blank."""
    if not cells or None in cells.values():
        return None
    return sum(
        time / 1000 if unit_of(column) == "milliseconds" else time for column, time in cells.items()
    )


def _by_judge(cells: Mapping[str, tuple[bool, ...]], listed: bool) -> dict[str, tuple[bool, ...]]:
    """Return the verdicts of each run by judge: the columns are judges if they hold lists, or runs
    of one judge.
    """
    runs = {column: verdicts for column, verdicts in cells.items() if verdicts}
    if len(cells) == 1 or (all(map(_NUMBERED.search, cells)) and not listed):
        every = tuple(passed for verdicts in runs.values() for passed in verdicts)
        return {AS_REPORTED: every} if every else {}
    return {column.rpartition(".")[2]: verdicts for column, verdicts in runs.items()}


_ERROR = re.compile(rf"\W*(?:{'|'.join(TABLE['answers']['error'])})", re.IGNORECASE)
_LONGEST = 200  # characters of an answer that are looked at
_WRAPPED = re.compile("|".join(TABLE["answers"]["wrapped"]))
_SHARE = 0.1  # of answers that are placeholders, from which they are asked about
_ALIKE = 50  # rows with one answer, from which it is asked about
_MOST_SECONDS = 60.0  # median of a question, if the name of the column states no unit
_SCORES = 0.95  # share of answers that are numbers of 0 to 1


def _is_error(answer: str) -> bool:
    """Return whether the text is the message of an error, in place of an answer."""
    return _ERROR.match(answer[:_LONGEST].strip()) is not None


def doubtful_answers(rows: Sequence[AnswerRow]) -> str | None:
    """Return why the answers may be none, in a line with a remedy; None if they may be."""
    answers = Counter(row.answer.strip() for row in rows if row.error is None)
    total = answers.total()
    none = {
        text: n for text, n in answers.items() if text.lower() in TABLE["words"]["placeholders"]
    }
    wrapped = {text: n for text, n in answers.items() if _WRAPPED.match(text)}
    if (held := sum(none.values())) >= _SHARE * total > 0:
        problem = f"{held:,} of {total:,} answers are texts such as {next(iter(none))!r}"
    elif len(answers) == 1 and total >= _ALIKE and not abstains(text := next(iter(answers))):
        problem = f"all {total:,} answers are {text!r:.60}"
    elif (held := sum(wrapped.values())) >= _SHARE * total > 0:
        return (
            f"{held:,} of {total:,} answers are whole replies, such as "
            f"{next(iter(wrapped))!r:.60}; write the answer in them alone, or add "
            "--as-written"
        )
    else:
        return None
    return (
        f"{problem}; if these rows failed, say so in a column `error`; if they are "
        "answers, add --as-written"
    )


def are_scores(answers: Collection[str]) -> bool:
    """Return whether nearly all answers are numbers of 0 to 1, as scores are."""
    shares = sum(0 <= values.number(answer) <= 1 for answer in answers)
    return bool(answers) and shares >= _SCORES * len(answers)


def _doubtful_times(
    rows: Sequence[AnswerRow], columns: Mapping[str, Sequence[str]], given: Collection[str]
) -> str | None:
    """Return why a column of times may be in another unit than seconds; None if none may be.

    `given`: fields whose columns the user names.
    """
    for name in TIMES:
        named = columns.get(name, ())
        times = [value for row in rows if (value := getattr(row, name)) is not None]
        if not times or name in given or any(map(unit_of, named)):
            continue
        if (middle := median(times)) > _MOST_SECONDS:
            return (
                f"{' + '.join(named):.60}, read as seconds, has a median of {middle:,.0f} s a "
                "question; write the unit into its name (latency_ms, latency_seconds), or give "
                f"--columns {name}={named[0]:.60} for seconds and {name}=none to leave it out"
            )
    return None
