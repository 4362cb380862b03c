"""The measures of rankings that every record has and that pins compare.

All others of eval.metrics.retrieval are computed from rankings.jsonl when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.metrics import Answered, Metric
from eval.metrics.registry import register
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure, parse

RECORDED = ("recall@10", "ndcg@10", "mrr")


@dataclass(frozen=True, kw_only=True)
class RankingScore(Metric):
    """A measure of the ranking of turns."""

    measure: Measure

    def score(self, answered: Answered) -> float | None:
        """Return the score; None without evidence, or where the ranking ends before the cutoff."""
        ranked, evidence = answered.ranked, set(answered.evidence)
        if ranked is None or not evidence:
            return None
        if not answered.ranked_all and answered.ranked_to < (self.measure.cutoff or 0):
            return None
        return self.measure.score(Judged(ranked, evidence))


for _order, _name in enumerate(RECORDED, 92):
    register(
        RankingScore(
            name=_name,
            title=parse(_name).title,
            measure=parse(_name),
            applies_to="ranking",
            order=_order,
            in_tables=False,
            pinned=True,
        )
    )
