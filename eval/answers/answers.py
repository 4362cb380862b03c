"""What a file of answers says of one question, in one form for every format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One row as it stands in the file.

    `place`: where in the file. `group`: the conversation if the layout says it outside of
    the row's own fields (Mem0's keys).
    """

    place: str
    fields: Mapping[str, Any]
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One answer. None means that the file does not say, or left it blank.

    `conversation` and `category` are the file's own labels, not yet the data set's. `error` is set
    where the row says that answering failed. `judge` is 0 to 1. `reported` holds scores that the
    file gives, by our names of the same metrics.
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
    """A file of answers: name, size in bytes and sha256 (of the file as it lies), format, rows.

    `columns`: what a row's field was read from, by our name of it (`answer` -> `response`).
    """

    name: str
    bytes: int
    sha256: str
    format: str
    columns: Mapping[str, str]
    rows: tuple[Row, ...]
