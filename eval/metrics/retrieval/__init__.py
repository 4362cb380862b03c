"""Metrics of a ranking against the evidence of its question, each with formula and source.

A module of this package that calls `register` adds a metric (eval.metrics.retrieval.registry).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judged:
    """A ranking of turns or of sessions, and the evidence of its question.

    `ranked`: distinct ids, best first. `relevant`: ids of the evidence, at least one. `size`:
    number of units in the store. `tokens`: o200k tokens of the context that ends with each rank.
    `size` and `tokens` are None where they are unknown.
    """

    ranked: Sequence[str]
    relevant: Collection[str]
    size: int | None = None
    tokens: Sequence[int] | None = None


@dataclass(frozen=True, kw_only=True)
class RetrievalMetric(ABC):
    """A score of one ranking. Subclasses add `score`.

    `name`: before the @ of a measure such as recall@10. `title`: its heading in tables. `cuts`:
    what follows the @: "rank", "tokens", or "" where nothing does.
    """

    name: str
    title: str
    cuts: str = "rank"

    @abstractmethod
    def score(self, judged: Judged, cutoff: int | None) -> float | None:
        """Return the score at `cutoff` (None: of the whole ranking); None where it is unknown."""
