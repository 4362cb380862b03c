"""nDCG: the discounted gain of the evidence over that of an ideal ranking.

DCG@k is the sum of 1 / log2(1 + rank) over the evidence in the first k ranks; the ideal ranking
puts all R evidence units first, so the denominator sums over the ranks 1 to min(k, R). Source:
Järvelin and Kekäläinen, 2002, with the discount of trec_eval's ndcg_cut, and binary gains. An
ideal of the evidence that was found alone, as some memory systems compute it, gives more.
"""

from __future__ import annotations

from itertools import islice
from math import log2

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


class Ndcg(RetrievalMetric):
    """Binary nDCG at a rank, or of the whole ranking."""

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        ideal = range(1, judged.wanted + 1)
        best = sum(1 / log2(1 + rank) for rank in islice(ideal, cutoff))
        return sum(1 / log2(1 + rank) for rank in judged.found(cutoff)) / best


register(Ndcg(name="ndcg", title="nDCG", order=50, aliases=("nDCG", "ndcg_cut")))
