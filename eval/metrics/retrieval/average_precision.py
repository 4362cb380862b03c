"""MAP: the mean of the precision at the rank of each evidence unit.

AP@k is the sum over evidence in the first k ranks of (its number among the evidence found) / rank,
divided by R, not by min(k, R): evidence below the cutoff counts 0. The mean over questions is MAP.
Source: trec_eval's map and map_cut; AP@k of ir_measures (Buckley and Voorhees, 2000).
"""

from __future__ import annotations

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


class AveragePrecision(RetrievalMetric):
    """Average precision within a rank, or of the whole ranking."""

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        found = judged.found(cutoff)
        return sum(number / rank for number, rank in enumerate(found, 1)) / judged.wanted


register(AveragePrecision(name="map", title="MAP", order=70, aliases=("AP", "map_cut")))
