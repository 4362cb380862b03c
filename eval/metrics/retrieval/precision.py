"""Precision: the share of evidence among the first k ranks, and R-precision, where k is R.

P@k = |found| / k, also where the ranking has fewer than k ranks; without a cutoff, k is the length
of the ranking. Source: trec_eval's P and Rprec (Manning, Raghavan and Schütze, 2008, section 8.4).
"""

from __future__ import annotations

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


class Precision(RetrievalMetric):
    """Precision at a rank, or of everything that was given."""

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric; 0 of an empty selection."""
        places = len(judged.ranked) if cutoff is None else cutoff
        return len(judged.found(cutoff)) / places if places else 0.0


register(Precision(name="precision", title="precision", order=40, ordered=False, aliases=("P",)))
register(
    Precision(
        name="r_precision",
        title="R-precision",
        order=80,
        cuts=("",),
        at_evidence=True,
        aliases=("Rprec", "R_prec"),
    )
)
