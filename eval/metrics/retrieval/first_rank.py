"""Rank of the first evidence, from 1; no value where none is found.

A mean of it covers the questions with a find only, and is the lower the fewer are found; the
summary therefore gives the median over all questions and the share found
(eval.summary.retrieval.first_ranks). MRR compares rankings.
"""

from __future__ import annotations

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


class FirstRank(RetrievalMetric):
    """Rank of the first evidence in the whole ranking."""

    def score(self, judged: Judged, cutoff: int | None) -> float | None:  # noqa: ARG002
        """See RetrievalMetric."""
        return float(judged.ranks[0]) if judged.ranks else None


register(FirstRank(name="first_rank", title="first rank", order=90, cuts=("",)))
