"""MRR: the reciprocal rank of the first evidence, 0 where none is found.

The mean over questions is the mean reciprocal rank. Source: Voorhees, 1999 (TREC-8 question
answering); trec_eval's recip_rank, which has a cutoff as RR@k in ir_measures.
"""

from __future__ import annotations

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


class Mrr(RetrievalMetric):
    """Reciprocal rank of the first evidence within a rank, or in the whole ranking."""

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        found = judged.found(cutoff)
        return 1 / found[0] if found else 0.0


register(Mrr(name="mrr", title="MRR", order=60, aliases=("RR", "recip_rank")))
