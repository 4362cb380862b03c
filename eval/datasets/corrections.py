"""Lists of errors in an answer key: JSON lines, or one JSON list, an error a row."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.datasets.types import SourceFile
from memsys.errors import InputError

# Ids of dial481/locomo-audit, errors.json: the conversation by its position in the data set.
_BY_POSITION = re.compile(r"locomo_([0-9]{1,4})_qa([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Correction:
    """One error: the question's id, what is wrong, the answer of the key and the right one.

    `golden` is None for a question without a gold, `correct` where there is no right answer.
    """

    id: str
    error_type: str
    golden: str | None
    correct: str | None


def read_json(path: Path) -> tuple[Any, SourceFile]:
    """The JSON value of a file, or the list of its JSON lines; raises InputError."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    source = SourceFile(path.name, len(data), hashlib.sha256(data).hexdigest())
    try:
        return json.loads(text), source
    except json.JSONDecodeError:
        return _lines(path, text), source


def _lines(path: Path, text: str) -> list[Any]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise InputError(
                f"{path}: line {number} is not JSON ({error.msg}); correct it"
            ) from None
    return rows


def corrections(path: Path, value: Any, conversations: Sequence[str]) -> dict[str, Correction]:
    """The errors in `value`, the content of the file at `path`, by the id of their question.

    A row names its question by `sample_id` and `qa_index`, or, as dial481/locomo-audit does, by a
    `question_id` such as locomo_0_qa12: position in `conversations`, then in its qa. Raises
    InputError naming the row, for a field that is missing or a question named twice.
    """
    rows = value if isinstance(value, list) else [value]
    found: dict[str, Correction] = {}
    for number, row in enumerate(rows, 1):
        place = f"{path}: error {number}"
        if not isinstance(row, dict):
            raise InputError(f"{place}: must be an object with sample_id and qa_index")
        identity = _identity(row, conversations, place)
        if identity in found:
            raise InputError(f"{place}: {identity} is there twice; leave one")
        kind = row.get("error_type")
        if not isinstance(kind, str) or not kind.strip():
            raise InputError(f"{place}: {identity}: error_type is missing; say what is wrong")
        if "golden_answer" not in row:
            raise InputError(
                f"{place}: {identity}: golden_answer is missing; repeat the data set's answer"
            )
        golden, correct = (
            _answer(row.get(name), f"{place}: {identity}: {name}")
            for name in ("golden_answer", "correct_answer")
        )
        found[identity] = Correction(identity, kind, golden, correct)
    if not found:
        raise InputError(f"{path}: lists no error")
    return found


def _identity(row: dict[str, Any], conversations: Sequence[str], place: str) -> str:
    sample, index = row.get("sample_id"), row.get("qa_index")
    if isinstance(sample, str) and isinstance(index, int) and not isinstance(index, bool):
        return f"{sample}/{index}"
    match = _BY_POSITION.fullmatch(str(row.get("question_id")))
    if match and int(match[1]) < len(conversations):
        return f"{conversations[int(match[1])]}/{int(match[2])}"
    raise InputError(f"{place}: names no question; give sample_id and qa_index (a whole number)")


def _answer(value: Any, place: str) -> str | None:
    """As the answers of a data set are read: numbers are texts, an empty text is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(f"{place}: {value!r} must be a text or a number")
    return str(value)
