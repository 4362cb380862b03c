"""Scores of one answer, from what a record holds: they can be recomputed at any time."""

from __future__ import annotations

from collections.abc import Collection

from eval.metrics.bleu1 import bleu1
from eval.metrics.evidence import evidence_hit, evidence_recall
from eval.metrics.locomo_f1 import locomo_f1
from eval.metrics.mem0_f1 import mem0_f1
from eval.metrics.memos_f1 import memos_f1
from eval.metrics.strict_f1 import strict_f1

Scores = dict[str, float | None]
METRICS = (
    *("locomo_f1", "mem0_f1", "memos_f1", "strict_f1", "bleu1"),
    *("evidence_recall", "evidence_hit", "judge"),
)


def score(
    category: int,
    gold: str | None,
    answer: str,
    evidence: Collection[str],
    retrieved_turns: Collection[str] | None,
) -> Scores:
    """Every metric of one answered question, 0 to 1; None where it does not apply.

    Type 5 has no gold: its locomo_f1 is the official phrase match, the rest are None.
    `judge` is None because no judge ran. `retrieved_turns` None: what was retrieved is not known,
    and the evidence scores are None.
    """
    known = retrieved_turns is not None
    turns = retrieved_turns or ()
    return {
        "locomo_f1": locomo_f1(answer, gold, category),
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
