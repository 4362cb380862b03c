"""Scores of one answer, computed from its record, so that they can be recomputed at any time."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from eval.datasets.types import Question
from eval.metrics import Answered, Scores
from eval.metrics.harm import shown
from eval.metrics.registry import names, score
from eval.records.files import Row
from eval.records.rankings import UnitRanking
from eval.records.schema import Record, Retrieved


def question_fields(question: Question) -> Row:
    """Return the fields of `question` that its record repeats."""
    fields: Row = {
        "id": question.id,
        "conversation": question.conversation,
        "category": question.category,
        "type": question.type,
        "question": question.text,
        "gold": question.gold,
        "key": asdict(question.key_change) if question.key_change else None,
    }
    if question.store is not None:
        fields["store"] = question.store
    if question.evidence_sessions is not None:
        fields["evidence_sessions"] = list(question.evidence_sessions)
    if question.asked_at is not None:
        fields["asked_at"] = question.asked_at.isoformat()
    return fields


def evidence_fields(question: Question, retrieved: Sequence[Retrieved] | None) -> Row:
    """Return the fields on evidence of the record of `question`; `retrieved` as in the record.

    A turn that was found directly and by expansion counts as direct.
    """
    fields: Row = {"evidence": list(question.evidence), "evidence_found": None}
    if retrieved is not None:
        direct, expanded = (
            {turn for _, turns, _, origin in retrieved if origin == wanted for turn in turns}
            for wanted in ("direct", "expanded")
        )
        fields["evidence_found"] = {
            "direct": [turn for turn in question.evidence if turn in direct],
            "expanded": [turn for turn in question.evidence if turn in expanded - direct],
        }
    if question.evidence_original is not None:
        fields["evidence_original"] = list(question.evidence_original)
    return fields


def plant_fields(question: Question, context: str | None) -> Row:
    """Return the field of the record of a `question` about planted facts, none of any other.
    `context`: what the reader was shown, None where it is not known.
    """
    plant = question.plant
    if plant is None:
        return {}
    lists = {"turns": list(plant.turns), "values": list(plant.values)}
    is_shown = None if context is None else shown(plant, context)
    return {"plant": asdict(plant) | lists | {"shown": is_shown}}


def answered_question(record: Record, ranked: UnitRanking | None = None) -> Answered:
    """Return the input of metrics for the answered `record`, under its answer key. `ranked`: the
    ranking of turns behind it, None if there is none.
    """
    retrieved, sessions = record["retrieved"], record.get("evidence_sessions")
    return Answered(
        category=record["category"],
        gold=record["gold"],
        answer=record["answer"] or "",
        has_answer=record["answer"] is not None,
        evidence=record["evidence"],
        retrieved=None
        if retrieved is None
        else {turn for _, turns, *_ in retrieved for turn in turns},
        sessions=sessions,
        ranked=None if ranked is None else ranked.ids,
        ranked_all=ranked is not None and ranked.complete,
        ranked_to=0 if ranked is None else ranked.known,
        question=record["question"],
        id=record["id"],
        abstained=record["abstained"],
        plant=record.get("plant"),
    )


def score_record(
    record: Record, verdict: float | None = None, ranked: UnitRanking | None = None
) -> dict[str, Scores | None]:
    """Return `scores` of a record under its answer key and `scores_original` under the data set's.

    `scores_original` is None where both keys agree. A question that the chosen key excludes has no
    score under it. `verdict`: that of a judge outside of this project, 0 to 1, which was given
    under the data set's key and is valid under no other. `ranked`: see answered_question.
    """
    key = record.get("key")
    if record["status"] != "ok":
        unscored: Scores = dict.fromkeys(names())
        return {"scores": unscored, "scores_original": None if key is None else unscored}
    seen = answered_question(record, ranked)
    if key is None:
        return {"scores": score(seen) | {"judge": verdict}, "scores_original": None}
    original = replace(seen, gold=key["original_gold"])
    return {
        "scores": dict.fromkeys(names()) if key["kind"] == "excluded" else score(seen),
        "scores_original": score(original) | {"judge": verdict},
    }
