"""Metrics of a ranking against the evidence of its question.

They are those of eval.metrics.retrieval.formulas.METRICS. Relevance is binary, and only the order
of the ranking counts: equal scores are no ties.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Cut = Literal["", "rank", "tokens", "turns"]


@dataclass(frozen=True)
class Judged:
    """A ranking of turns or of sessions, and the evidence of its question: the relevance judgements
    of information retrieval (qrels), with which no judge of answers has to do.

    `ranked`: distinct ids, best first. `relevant`: ids of the evidence, at least one. `size`:
    number of units in the store. `tokens`: o200k tokens of the context that ends with each rank.
    `turns`: of a session, the rank of its first turn. All three are None where they are unknown.
    """

    ranked: Sequence[str]
    relevant: Collection[str]
    size: int | None = None
    tokens: Sequence[int] | None = None
    turns: Sequence[int] | None = None

    @cached_property
    def wanted(self) -> int:
        """R, the number of distinct evidence units."""
        return len(set(self.relevant))

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the evidence that was found, from 1, ascending."""
        relevant = frozenset(self.relevant)
        return tuple(rank for rank, id_ in enumerate(self.ranked, 1) if id_ in relevant)

    def found(self, cutoff: int | None) -> tuple[int, ...]:
        """Return the ranks of the evidence down to `cutoff` (None: of the whole ranking)."""
        return self.ranks if cutoff is None else self.ranks[: bisect_right(self.ranks, cutoff)]

    def within(self, budget: int) -> int | None:
        """Return the number of ranks whose context has at most `budget` tokens; None if unknown."""
        return None if self.tokens is None else bisect_right(self.tokens, budget)

    def of_turns(self, number: int) -> int | None:
        """Return the number of sessions of the first `number` turns; None if unknown."""
        return None if self.turns is None else bisect_right(self.turns, number)


@dataclass(frozen=True, kw_only=True)
class RetrievalMetric(ABC):
    """A score of one ranking. Subclasses add `score`.

    `name`: before the @ of a measure such as recall@10. `title`: heading in tables. `cuts`: what
    may follow the name: a rank, a token budget, of sessions also a number of turns, or nothing
    (""). `at_evidence`: whether the cutoff is R. `ordered`: whether the score depends on the order,
    so that a mere selection has none. `aliases`: names in other tools, which error messages
    explain.
    """

    name: str
    title: str
    cuts: tuple[Cut, ...] = ("", "rank")
    at_evidence: bool = False
    ordered: bool = True
    aliases: tuple[str, ...] = ()

    @abstractmethod
    def score(self, judged: Judged, cutoff: int | None) -> float | None:
        """Return the score at `cutoff` (None: of the whole ranking); None where it is unknown."""
