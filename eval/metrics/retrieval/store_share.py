"""Share of the store that the cutoff is: min(k / size, 1).

It says how much of recall@k chance alone would find: the expected recall of a random ranking. In a
store of 20 sessions, ten ranks are half of it. Without a cutoff: the share that was given.
"""

from __future__ import annotations

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


class StoreShare(RetrievalMetric):
    """Share of the turns or sessions of the store that the first k are."""

    def score(self, judged: Judged, cutoff: int | None) -> float | None:
        """See RetrievalMetric; None where the size of the store is unknown."""
        if not judged.size:
            return None
        return min((len(judged.ranked) if cutoff is None else cutoff) / judged.size, 1.0)


register(StoreShare(name="store_share", title="share of store", order=100, ordered=False))
