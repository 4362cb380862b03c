"""The measures of rankings that every record has and that pins compare.

All others of eval.metrics.retrieval are computed from rankings.jsonl when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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
        if answered.ranked is None or not answered.evidence:
            return None
        if not answered.ranked_all and answered.ranked_to < (self.measure.cutoff or 0):
            return None
        return self.measure.score(_judged(tuple(answered.ranked), tuple(answered.evidence)))


@lru_cache(maxsize=1)  # all measures of a question share it
def _judged(ranked: tuple[str, ...], evidence: tuple[str, ...]) -> Judged:
    return Judged(ranked, frozenset(evidence))


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
