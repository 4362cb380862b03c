"""The `qa` of a LoCoMo-style sample: questions with their gold answers and evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eval.datasets.evidence import TurnIds, turn_ids
from eval.datasets.layout import Place, as_list, as_object, text
from eval.datasets.types import ADVERSARIAL, TYPES, Question


def read_questions(
    sample_id: str, raw: dict[str, Any], turns: Iterable[str], place: Place, *, mend: bool
) -> tuple[list[Question], list[str]]:
    """Questions of a sample in file order, and a line for each thing mended.

    `raw` is the whole sample, `turns` the ids of its turns. `mend` as in `turn_ids`.
    Raises InputError for a missing or unreadable field.
    """
    known = TurnIds(turns)
    questions: list[Question] = []
    repairs: list[str] = []
    for index, row in enumerate(as_list(raw.get("qa"), place, "qa")):
        field = f"qa[{index}]"
        item = as_object(row, place, field)
        category = _category(item.get("category"), place, f"{field}.category")
        evidence, mended = turn_ids(
            item.get("evidence"), known, place, f"{field}.evidence", mend=mend
        )
        repairs.extend(mended)
        gold = _answer(item, "answer", place, field)
        if category == ADVERSARIAL and gold is not None:
            # Two published items have one: it denies the premise, where the type asks to abstain.
            repairs.append(f"{place.at(field)}.answer: {gold!r} left out: type 5 means to abstain")
            gold = None
        elif category != ADVERSARIAL and gold is None:
            raise place.error(f"{field}.answer", "missing or empty; only category 5 goes without")
        questions.append(
            Question(
                id=f"{sample_id}/{index}",
                conversation=sample_id,
                category=category,
                type=TYPES[category],
                text=text(item, "question", place, f"{field}.question"),
                gold=gold,
                evidence=evidence,
                adversarial=_answer(item, "adversarial_answer", place, field),
            )
        )
    return questions, repairs


def _category(value: Any, place: Place, field: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value in TYPES:
        return value
    known = ", ".join(f"{number} {name}" for number, name in TYPES.items())
    state = "missing" if value is None else f"{value!r} is no category"
    raise place.error(field, f"{state}; it is one of {known}")


def _answer(item: dict[str, Any], key: str, place: Place, field: str) -> str | None:
    """An answer as text (numbers, such as years, included), None where there is none."""
    value = item.get(key)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise place.error(f"{field}.{key}", f"{value!r} must be a text or a number")
    return str(value)
