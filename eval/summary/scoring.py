"""Scores of one answer, from what a record holds: they can be recomputed at any time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict

from eval.datasets.types import ADVERSARIAL, TYPES, Question
from eval.metrics.bleu1 import bleu1
from eval.metrics.evidence import evidence_hit, evidence_recall, session_recall
from eval.metrics.locomo_f1 import locomo_f1
from eval.metrics.mem0_f1 import mem0_f1
from eval.metrics.memos_f1 import memos_f1
from eval.metrics.strict_f1 import strict_f1
from eval.records.jsonl import Row
from eval.records.schema import Record, Scores

METRICS = (
    *("locomo_f1", "mem0_f1", "memos_f1", "strict_f1", "bleu1"),
    *("evidence_recall", "evidence_hit", "judge"),
)

_PLAIN = 4  # the LoCoMo type whose F1 has no rule but the bag of stems


def score(
    category: int,
    gold: str | None,
    answer: str,
    evidence: Collection[str],
    retrieved_turns: Collection[str] | None,
) -> Scores:
    """Every metric of one answered question, 0 to 1; None where it does not apply.

    The types of another data set than LoCoMo have its plain bag F1, that of type 4: the rules of
    the others are LoCoMo's own. Type 5 has no gold: its locomo_f1 is the official phrase match, the
    rest are None. So are all where another type has none.
    `judge` is None because no judge ran. `retrieved_turns` None: what was retrieved is not known,
    and the evidence scores are None.
    """
    known = retrieved_turns is not None
    turns = retrieved_turns or ()
    unknown = gold is None and category != ADVERSARIAL
    rule = category if category in TYPES else _PLAIN
    return {
        "locomo_f1": None if unknown else locomo_f1(answer, gold, rule),
        "mem0_f1": None if gold is None else mem0_f1(answer, gold),
        "memos_f1": None if gold is None else memos_f1(answer, gold),
        "strict_f1": strict_f1(answer, gold),
        "bleu1": None if gold is None else bleu1(answer, gold),
        "evidence_recall": evidence_recall(evidence, turns) if known else None,
        "evidence_hit": evidence_hit(evidence, turns) if known else None,
        "judge": None,
    }


def unscored() -> Scores:
    """What a failed question scores: nothing, which is not 0."""
    return dict.fromkeys(METRICS)


def question_fields(question: Question) -> Row:
    """Return the fields of a record that describe its question."""
    fields: Row = {
        "id": question.id,
        "conversation": question.conversation,
        "category": question.category,
        "type": question.type,
        "question": question.text,
        "gold": question.gold,
        "key": asdict(question.key_change) if question.key_change else None,
    }
    if question.evidence_sessions is not None:
        fields["evidence_sessions"] = list(question.evidence_sessions)
    if question.asked_at is not None:
        fields["asked_at"] = question.asked_at.isoformat()
    return fields


def score_record(record: Record, verdict: float | None = None) -> dict[str, Scores | None]:
    """`scores` of a record under its answer key, and `scores_original` under the data set's own,
    null where both keys agree: from `key`, `gold`, `category`, `answer`, `evidence`, `retrieved`.

    What the chosen key leaves out has no score under it. `verdict`: of a judge outside of this
    project, 0 to 1; it was given under the data set's own key and counts under no other.
    """
    key = record.get("key")
    if record["status"] != "ok":
        return {"scores": unscored(), "scores_original": None if key is None else unscored()}
    found = record["retrieved"]
    turns = None if found is None else {turn for _, own, *_ in found for turn in own}
    answer = record["answer"] or ""

    def scored(gold: str | None) -> Scores:
        found = score(record["category"], gold, answer, record["evidence"], turns)
        sessions = record.get("evidence_sessions")
        if sessions is not None:  # of a data set that names them
            found["evidence_session_recall"] = (
                None if turns is None else session_recall(sessions, turns)
            )
        return found

    if key is None:
        return {"scores": scored(record["gold"]) | {"judge": verdict}, "scores_original": None}
    left_out = key["kind"] == "excluded"
    return {
        "scores": unscored() if left_out else scored(record["gold"]),
        "scores_original": scored(key["original_gold"]) | {"judge": verdict},
    }
