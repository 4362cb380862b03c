"""Files of answers, gzipped or not, in any layout, read as rows of one type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from eval.answers import values
from eval.answers.containers import Item
from eval.answers.layouts import AUTO, detect, read_items
from eval.datasets.files import read_text
from eval.datasets.types import SourceFile
from eval.metrics.registry import reported
from memsys.errors import InputError
from memsys.text.files import ANSWERS

_COLUMNS = Path(__file__).with_name("columns.yaml")
_NAMES: Mapping[str, Sequence[str]] = {
    **yaml.safe_load(_COLUMNS.read_text(encoding="utf-8")),
    **{name: (column,) for name, column in reported().items()},
}
_INDEX = re.compile("[0-9]{1,9}")
_PARSERS: Mapping[str, Callable[[Any, str, str], Any]] = {
    "index": values.whole,
    "question": values.text,
    "answer": values.text,
    "error": values.failure,
    "gold": values.text,
    "category": values.label,
    "judge": values.verdict,
    "context_tokens": values.whole,
    "search_seconds": values.amount,
    "answer_seconds": values.amount,
    "total_seconds": values.amount,
}
# Mem0 searches the memories of both speakers, one after the other.
_TWO_SEARCHES = (
    ("speaker_1_memory_time", "speaker_2_memory_time"),
    ("speaker1_memory_time", "speaker2_memory_time"),
)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer; a field is None if the file does not contain it or leaves it blank.

    `conversation` and `category` are the file's labels, not the data set's. `error`: set if the row
    says that answering failed. `judge`: 0 to 1. `reported`: scores in the file, by the names of our
    metrics.
    """

    place: str
    conversation: str
    index: int | None
    question: str | None
    answer: str
    error: str | None = None
    gold: str | None = None
    category: str | None = None
    judge: float | None = None
    context_tokens: int | None = None
    search_seconds: float | None = None
    answer_seconds: float | None = None
    total_seconds: float | None = None
    reported: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """A file of answers: name, size and sha256 of the file on disk, layout, rows.

    `items`: the raw rows, in the order of `rows`. `columns`: the file's column by our name of the
    field (`answer` -> `response`).
    """

    source: SourceFile
    format: str
    columns: Mapping[str, str]
    items: tuple[Item, ...]
    rows: tuple[AnswerRow, ...]


def read_answers(path: Path, layout: str = AUTO) -> AnswerFile:
    """Return the answers in the file at `path`; `layout` is one of `FORMATS`.

    Raises InputError naming the file and the place in it if it cannot be read or has another
    format.
    """
    text, source = read_text(path, ANSWERS)
    if layout == AUTO:
        layout = detect(text, path.name)
    items = read_items(text, layout, path.name)
    rows, columns = _rows(items, path.name)
    return AnswerFile(source, layout, columns, tuple(items), tuple(rows))


def _rows(items: Sequence[Item], name: str) -> tuple[list[AnswerRow], dict[str, str]]:
    """Return the rows in file order, and the column of each field.

    If the answer is in `response` or `prediction`, a column `answer` is the gold, as in Mem0's
    files. Raises InputError if there is no column for the answer, the conversation or the
    question, or a value cannot be read.
    """
    present = dict.fromkeys(key for item in items for key in item.fields)
    columns, names = _columns(present), ", ".join(present)
    if columns.get("answer") == "answer" and "gold" not in columns and items[0].group is not None:
        del columns["answer"]  # the gold answer in Mem0's layout
    if "answer" not in columns:
        raise InputError(
            f"{name}: no column for the answer; name it response, prediction or (not in Mem0's "
            f"layout, where that is the gold) answer (columns found: {names})"
        )
    if columns["answer"] != "answer" and "gold" not in columns and "answer" in present:
        columns["gold"] = "answer"
    if not columns.keys() & {"conversation", "id"} and any(i.group is None for i in items):
        raise InputError(
            f"{name}: no column for the conversation; name it sample_id (columns found: {names})"
        )
    if not columns.keys() & {"question", "index", "id"}:
        raise InputError(
            f"{name}: no column for the question; name it question, or give its place in the "
            f"conversation's qa list as qa_index (columns found: {names})"
        )
    rows = [_row(item, columns, f"{name}: {item.place}") for item in items]
    pair = next((pair for pair in _TWO_SEARCHES if present.keys() >= set(pair)), None)
    if pair is not None and "search_seconds" not in columns:
        columns["search_seconds"] = " + ".join(pair)
    return rows, columns


def _columns(present: Iterable[str]) -> dict[str, str]:
    """Return the file's column by field; `id` only if conversation and index have no column."""
    available = set(present)
    matching = {ours: [one for one in names if one in available] for ours, names in _NAMES.items()}
    columns = {ours: theirs[0] for ours, theirs in matching.items() if theirs}
    if "conversation" in columns and "index" in columns:
        columns.pop("id", None)
    return columns


def _row(item: Item, columns: Mapping[str, str], place: str) -> AnswerRow:
    def value(ours: str, parse: Callable[[Any, str, str], Any]) -> Any:
        if ours not in columns:
            return None
        return parse(item.fields.get(columns[ours]), place, columns[ours])

    fields = {ours: value(ours, parse) for ours, parse in _PARSERS.items()}
    ids = value("id", values.text), value("conversation", values.text)
    conversation, index = _place(item, place, *ids)
    if fields["search_seconds"] is None:
        fields["search_seconds"] = _two_searches(item, place)
    fields["answer"] = fields["answer"] or ""
    fields["index"] = fields["index"] if index is None else index
    scores = {name: value(name, values.amount) for name in reported()}
    return AnswerRow(
        place=item.place,
        conversation=conversation,
        reported={name: score for name, score in scores.items() if score is not None},
        **fields,
    )


def _place(
    item: Item, place: str, identity: str | None, conversation: str | None
) -> tuple[str, int | None]:
    """Return the file's label of the conversation, and the index if the id contains one."""
    index = None
    if identity is not None:
        sample, slash, number = identity.rpartition("/")
        if slash and _INDEX.fullmatch(number):
            if conversation not in (None, sample) and not conversation.isdecimal():
                raise InputError(
                    f"{place}: the id names {sample!r:.60}, and the row {conversation!r:.60}; "
                    "correct one of them"
                )
            conversation, index = conversation or sample, int(number)
    label = conversation if item.group is None else item.group
    if label is None:
        raise InputError(f"{place}: has no conversation; fill in sample_id")
    return label.strip(), index


def _two_searches(item: Item, place: str) -> float | None:
    for pair in _TWO_SEARCHES:
        one, other = (values.amount(item.fields.get(name), place, name) for name in pair)
        if one is not None and other is not None:
            return one + other
    return None
