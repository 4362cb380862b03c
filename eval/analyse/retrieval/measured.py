"""Means of retrieval measures of one run by question type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.metrics.retrieval.registry import Measure, Unit
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.summary.retrieval import FIRST_RANK, FirstRanks, by_type, first_ranks
from memsys.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Measured:
    """Means of a run by question type and name of the measure, and the ranks of the first evidence
    by unit and type, where they were asked for.
    """

    run: Run
    means: Mapping[str, Mapping[str, Interval]]
    first_ranks: Mapping[Unit, Mapping[str, FirstRanks]]

    def n(self, type_: str) -> int:
        """Return the number of questions of `type_` that were measured."""
        return max((mean.n for mean in self.means.get(type_, {}).values()), default=0)

    def conversations(self, type_: str) -> int:
        """Return the number of their conversations."""
        return max((mean.clusters for mean in self.means.get(type_, {}).values()), default=0)


def measured(run: Run, measures: Sequence[Measure], seed: int) -> Measured:
    """Return the means of `measures`, of types that have questions with evidence.

    Raises InputError where the rankings do not determine a measure, or no question has evidence.
    """
    means = {type_: cells for type_, cells in by_type(run, measures, seed).items() if cells}
    if not means and measures:
        raise InputError(
            f"{run.label}: no question has evidence, so no ranking can be measured; the data set "
            "must name evidence turns or sessions"
        )
    units = {one.unit for one in measures if one.metric.name == FIRST_RANK}
    return Measured(run, means, {unit: first_ranks(run, unit, seed) for unit in units})
