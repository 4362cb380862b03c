"""Rows of answer files: map the column names of evaluation scripts to fields of one type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.answers import values
from eval.answers.layouts import Item
from eval.metrics.registry import reported
from memsys.errors import InputError

# Field -> the columns it may be read from; the first one in the file is used.
_NAMES = {
    "conversation": ("sample_id", "conversation_id", "conversation"),
    "index": ("qa_index", "question_index"),
    "id": ("id", "question_id"),  # <sample_id>/<qa_index>, as in our own records
    "question": ("question",),
    "answer": ("response", "prediction", "answer"),
    "gold": ("gold", "gold_answer", "golden_answer", "ground_truth"),
    "category": ("category",),
    "judge": ("judge", "llm_score", "verdict"),
    "context_tokens": ("context_tokens",),
    "search_seconds": ("search_seconds", "search_time"),
    "answer_seconds": ("answer_seconds", "response_time"),
    "total_seconds": ("total_seconds", "total_time"),
    "error": ("error",),
    **{name: (column,) for name, column in reported().items()},
}
# Mem0 searches the memories of both speakers, one after the other.
_TWO_SEARCHES = (
    ("speaker_1_memory_time", "speaker_2_memory_time"),
    ("speaker1_memory_time", "speaker2_memory_time"),
)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer; None for what the file does not contain or leaves blank.

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


def read_rows(items: Sequence[Item], name: str) -> tuple[list[AnswerRow], dict[str, str]]:
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
            "layout, where that is the gold) answer "
            f"(columns found: {names})"
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
    columns = {
        ours: next(theirs for theirs in names if theirs in available)
        for ours, names in _NAMES.items()
        if available.intersection(names)
    }
    if "conversation" in columns and "index" in columns:
        columns.pop("id", None)
    return columns


def _row(item: Item, columns: Mapping[str, str], place: str) -> AnswerRow:
    def value(ours: str) -> Any:
        return item.fields.get(columns[ours]) if ours in columns else None

    def column(ours: str) -> str:
        return columns.get(ours, ours)

    def text(ours: str) -> str | None:
        return values.text(value(ours), place, column(ours))

    def amount(ours: str) -> float | None:
        return values.amount(value(ours), place, column(ours))

    conversation, index = _place(item, place, text("id"), text("conversation"))
    if index is None:
        index = values.whole(value("index"), place, column("index"))
    scores = {name: amount(name) for name in reported()}
    search = amount("search_seconds")
    return AnswerRow(
        place=item.place,
        conversation=conversation,
        index=index,
        question=text("question"),
        answer=text("answer") or "",
        error=values.failure(value("error")),
        gold=text("gold"),
        category=values.label(value("category"), place, column("category")),
        judge=values.verdict(value("judge"), place, column("judge")),
        context_tokens=values.whole(value("context_tokens"), place, column("context_tokens")),
        search_seconds=_two_searches(item, place) if search is None else search,
        answer_seconds=amount("answer_seconds"),
        total_seconds=amount("total_seconds"),
        reported={name: score for name, score in scores.items() if score is not None},
    )


def _place(
    item: Item, place: str, identity: str | None, conversation: str | None
) -> tuple[str, int | None]:
    """Return the file's label of the conversation, and the index if the id contains one."""
    index = None
    if identity is not None:
        sample, slash, number = identity.rpartition("/")
        if slash and number.isdecimal():
            conversation, index = conversation or sample, int(number)
    label = conversation if item.group is None else item.group
    if label is None:
        raise InputError(f"{place}: has no conversation; fill in sample_id")
    return label.strip(), index


def _two_searches(item: Item, place: str) -> float | None:
    for pair in _TWO_SEARCHES:
        times = [values.amount(item.fields.get(name), place, name) for name in pair]
        known = [time for time in times if time is not None]
        if len(known) == len(pair):
            return sum(known)
    return None
