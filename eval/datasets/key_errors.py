"""Known errors of a data set's answer key: lists with texts, and overlays with hashes only.

The texts of a published data set may not be redistributed, so the project ships overlays: question
ids and sha256 of the texts. data/README.md describes both files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt

from eval.datasets.files import read_text, validate
from eval.datasets.overlays import Overlay
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json

CITATION_ONLY = "WRONG_CITATION"  # the one type of error that leaves the answer unchanged
# Which part of a corrected text is the gold answer: all of it, none (it says that there is no
# answer), the data set's answer (it confirms that one), or these [start, end) character ranges.
Gold = Literal["text", "none", "original"] | tuple[tuple[int, int], ...]
# Question ids of dial481/locomo-audit, errors.json: the conversation by its position.
_BY_POSITION = re.compile(r"locomo_([0-9]{1,4})_qa([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Correction:
    """One error: question id, type of error, the answer in the key and the right answer.

    `golden` is None for a question without a gold answer, `correct` if no answer is right.
    """

    id: str
    error_type: str
    golden: str | None
    correct: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One error of an overlay; hashes are sha256 of the UTF-8 text, None if there is no text."""

    id: str
    error_type: str
    golden_sha256: str | None
    correct_sha256: str | None
    gold: Gold = "text"

    def __post_init__(self) -> None:
        """Raise ValueError unless the ranges of `gold` are some, each of a character or more."""
        ranges = [] if isinstance(self.gold, str) else self.gold
        if not self.gold or not all(0 <= start < end for start, end in ranges):
            raise ValueError(f"gold of {self.id}: not ranges [start, end]")

    @property
    def changes_score(self) -> bool:
        """False if only the evidence is wrong."""
        return self.error_type != CITATION_ONLY

    def cut(self, text: str | None, original: str | None) -> str | None:
        """Return the gold answer in the corrected `text`, which replaces `original`, or None."""
        if self.gold == "original":
            return original
        if self.gold == "none" or text is None:
            return None
        if self.gold == "text":
            return text
        return "".join(text[start:end] for start, end in self.gold).strip()


@dataclass(frozen=True, slots=True)
class AnswerOverlay(Overlay):
    """Known errors of gold answers; `texts`: the file of corrected answers they were read from."""

    entries: tuple[Entry, ...]
    texts: SourceFile


_Answer = Annotated[str, Field(coerce_numbers_to_str=True)] | None


@dataclass(frozen=True, slots=True)
class _ErrorRow:
    """A row of a list of errors, as data/README.md describes it."""

    golden_answer: _Answer
    correct_answer: _Answer = None
    error_type: str = ""
    sample_id: str | None = None
    qa_index: StrictInt | None = None
    question_id: Any = None


def sha256(text: str | None) -> str | None:
    """Return the sha256, in hex, of a text in UTF-8; None for None."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def read_errors(path: Path) -> tuple[Any, SourceFile]:
    """Return the JSON value of a file, or the list of its JSON lines; raise InputError if it is
    neither.
    """
    content, source = read_text(path)
    try:
        return parse_json(content, unique=True), source
    except json.JSONDecodeError:
        pass
    except ValueError as error:
        raise InputError(f"{path}: {error}; correct it") from None
    rows = []
    for number, line in enumerate(content.split("\n"), 1):
        try:
            rows += [parse_json(line, unique=True)] if line.strip() else []
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise InputError(f"{path}: line {number} is not JSON ({reason}); correct it") from None
    return rows, source


def corrections(path: Path, value: Any, conversations: Sequence[str]) -> dict[str, Correction]:
    """Return the errors in `value`, the content of the file at `path`, by question id.

    A row names its question by `sample_id` and `qa_index`, or, as in dial481/locomo-audit, by a
    `question_id` such as locomo_0_qa12: position in `conversations`, then index in its qa. Raises
    InputError naming the row if a field is missing or wrong or a question occurs twice.
    """
    errors: dict[str, Correction] = {}
    for number, item in enumerate(value if isinstance(value, list) else [value], 1):
        place = f"{path}: error {number}"
        row = validate(_ErrorRow, item, place, "data/README.md lists the fields")
        identity = _identity(row, conversations, place)
        if identity in errors:
            raise InputError(f"{place}: {identity} occurs twice; remove one")
        if not row.error_type.strip():
            raise InputError(f"{place}: {identity}: error_type is missing; say what is wrong")
        errors[identity] = Correction(
            identity, row.error_type, _nonblank(row.golden_answer), _nonblank(row.correct_answer)
        )
    if not errors:
        raise InputError(f"{path}: lists no error")
    return errors


def _identity(row: _ErrorRow, conversations: Sequence[str], place: str) -> str:
    if row.sample_id is not None and row.qa_index is not None:
        return f"{row.sample_id}/{row.qa_index}"
    match = _BY_POSITION.fullmatch(str(row.question_id))
    if match and int(match[1]) < len(conversations):
        return f"{conversations[int(match[1])]}/{int(match[2])}"
    raise InputError(f"{place}: names no question; give sample_id and qa_index (a whole number)")


def _nonblank(answer: str | None) -> str | None:
    return answer if answer and answer.strip() else None


def make_entries(
    errors: Iterable[Correction], golds: Mapping[tuple[str, str | None], Gold] | None = None
) -> tuple[Entry, ...]:
    """Return overlay entries of `errors`.

    `golds`: values of `Entry.gold` to reuse, by question id and hash of the corrected text.
    """
    entries = []
    for one in errors:
        correct = sha256(one.correct)
        gold = (golds or {}).get((one.id, correct), "text")
        entries.append(Entry(one.id, one.error_type, sha256(one.golden), correct, gold))
    return tuple(entries)


def is_overlay(value: Any) -> bool:
    """Return True if a JSON value is an overlay and not a list of errors."""
    return isinstance(value, dict) and "entries" in value
