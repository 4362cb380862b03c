"""Evidence recall and hit: how much of a question's evidence was retrieved.

Recall as in snap-research/locomo, task_eval/evaluation.py (Maharana et al., 2024), with one
difference: the official code counts a question without evidence as recall 1, which lifts every
mean; here it has no value and is left out.

Beside them are the measures of rankings that every record has and that pins compare. All others of
eval.metrics.retrieval are computed from rankings.jsonl when they are asked for.
"""

from collections.abc import Collection
from functools import lru_cache, partial

from eval.metrics import Answered, Computed
from eval.metrics.registry import register
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure, parse

SESSIONS = "evidence_session_recall"


def evidence_recall(evidence: Collection[str], retrieved_turns: Collection[str]) -> float | None:
    """Return the share, 0 to 1, of the distinct `evidence` turn ids among `retrieved_turns`.

    None where the question has no evidence (the official code counts 1 there).
    """
    wanted = set(evidence)
    return len(wanted & set(retrieved_turns)) / len(wanted) if wanted else None


def evidence_hit(evidence: Collection[str], retrieved_turns: Collection[str]) -> float | None:
    """Return 1.0 if any `evidence` turn was retrieved, else 0.0; None without evidence."""
    return float(not set(evidence).isdisjoint(retrieved_turns)) if evidence else None


def session_recall(sessions: Collection[str], retrieved_turns: Collection[str]) -> float | None:
    """Return the share, 0 to 1, of the distinct `sessions` of which any turn was retrieved.

    A turn's id is its session's, a colon and its number. None without sessions. This is the
    session-level recall of LongMemEval (Wu et al., 2025), over the turns in the context.
    """
    wanted = set(sessions)
    retrieved_sessions = {turn.rpartition(":")[0] for turn in retrieved_turns}
    return len(wanted & retrieved_sessions) / len(wanted) if wanted else None


for _metric in (
    Computed(
        name="evidence_recall",
        compute=lambda answered: evidence_recall(answered.evidence, answered.retrieved or ()),
        applies_to="retrieval",
        order=60,
        pinned=True,
    ),
    Computed(
        name="evidence_hit",
        compute=lambda answered: evidence_hit(answered.evidence, answered.retrieved or ()),
        applies_to="retrieval",
        order=70,
        in_tables=False,
    ),
    Computed(
        name=SESSIONS,
        compute=lambda answered: session_recall(answered.sessions or (), answered.retrieved or ()),
        applies_to="sessions",
        order=90,
        in_tables=False,
    ),
):
    register(_metric)


RECORDED = ("recall@10", "ndcg@10", "mrr")


def _of_ranking(measure: Measure, answered: Answered) -> float | None:
    """Return the score of the ranking; None without evidence, or where the ranking ends before the
    cutoff.
    """
    if answered.ranked is None or not answered.evidence:
        return None
    if not answered.ranked_all and answered.ranked_to < (measure.cutoff or 0):
        return None
    return measure.score(_judged(tuple(answered.ranked), tuple(answered.evidence)))


@lru_cache(maxsize=1)  # all measures of a question share it
def _judged(ranked: tuple[str, ...], evidence: tuple[str, ...]) -> Judged:
    return Judged(ranked, frozenset(evidence))


for _order, _measure in enumerate(map(parse, RECORDED), 92):
    register(
        Computed(
            name=str(_measure),
            title=_measure.title,
            compute=partial(_of_ranking, _measure),
            applies_to="ranking",
            order=_order,
            in_tables=False,
            pinned=True,
        )
    )
