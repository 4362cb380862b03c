"""The questions of a BEAM conversation: two of each of ten abilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.datasets.checks import Location, Row, Text, is_visible, parse
from eval.datasets.types import ADVERSARIAL, TYPES, Question

# The file's abilities by ids that no other data set has. 5 is adversarial as in LoCoMo: abstention.
BEAM_TYPES: dict[int, str] = {
    21: "contradiction_resolution",
    22: "event_ordering",
    23: "information_extraction",
    24: "instruction_following",
    25: "knowledge_update",
    26: "multi_session_reasoning",
    27: "preference_following",
    28: "summarization",
    29: "temporal_reasoning",
    ADVERSARIAL: TYPES[ADVERSARIAL],
}
_ABSTENTION = "abstention"
# Where the answer is. The others have none: their rubric says what an answer has to follow.
_GOLD = {
    "contradiction_resolution": "ideal_answer",
    "event_ordering": "answer",
    "information_extraction": "answer",
    "knowledge_update": "answer",
    "multi_session_reasoning": "answer",
    "summarization": "ideal_summary",
    "temporal_reasoning": "answer",
}


class _Question(Row):
    question: Text
    answer: Any
    ideal_answer: Any
    ideal_summary: Any
    source_chat_ids: Any


def read_questions(
    value: Any, conversation: str, turns: Mapping[int, Sequence[str]], where: Location
) -> list[Question]:
    """Return the questions, in file order. `turns`: ids of the turns by the ids of messages.

    Evidence is what `source_chat_ids` names. Where a message id belongs to several turns, it is
    uncertain which is meant: the question then has no evidence. Raises InputError naming the field.
    """
    ids = {_ABSTENTION if id_ == ADVERSARIAL else name: id_ for id_, name in BEAM_TYPES.items()}
    questions: list[Question] = []
    for ability, rows in parse(dict[str, list[_Question]], value, where).items():
        if ability not in ids:
            raise where.error(ability, f"is no ability; they are {', '.join(ids)}")
        for index, row in enumerate(rows):
            field, category, gold = f"{ability}[{index}]", ids[ability], _GOLD.get(ability)
            answer = getattr(row, gold) if gold else None
            if gold and not (isinstance(answer, str) and is_visible(answer)):
                raise where.error(f"{field}.{gold}", "missing, empty or no text; must be a text")
            questions.append(
                Question(
                    id=f"{conversation}/{len(questions)}",
                    conversation=conversation,
                    category=category,
                    type=BEAM_TYPES[category],
                    text=row.question,
                    gold=answer,
                    evidence=_evidence(
                        row.source_chat_ids, turns, where, f"{field}.source_chat_ids"
                    ),
                )
            )
    return questions


def _evidence(
    value: Any, turns: Mapping[int, Sequence[str]], where: Location, field: str
) -> tuple[str, ...]:
    """Return the ids of the turns named by `value`: a message id, or lists or objects of these."""
    found: dict[str, None] = {}
    for id_ in _atoms(value):
        named = turns.get(id_, ()) if isinstance(id_, int) and not isinstance(id_, bool) else ()
        if not named:
            where.repaired(field, f"{id_!r:.60} dropped: no such message")
        elif len(named) > 1:
            where.repaired(field, f"no evidence: {len(named)} messages have the id {id_}")
            return ()
        found |= dict.fromkeys(named)
    return tuple(found)


def _atoms(value: Any) -> Iterator[Any]:
    """Yield the values within nested lists and objects, in order; None is nothing."""
    if isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _atoms(one)
    elif value is not None:
        yield value
