"""What a comparison computes: the measures, the order of the runs, and the contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from eval.analyse.compare.comparable import objections
from eval.records.run import Run
from eval.summary.contrast import Row, contrast
from eval.summary.measures import Measure, choose, lower_is_better, retrieval_beside
from eval.summary.shared import Shared, share
from eval.summary.summarise import OVERALL

_R = TypeVar("_R", bound=Run)


@dataclass(frozen=True, slots=True)
class Compared:
    """Measures with the questions that count; `extra` of them, the last, are of the retrieval and
    were not asked for. `against`: objections to the comparison.
    """

    counted: list[tuple[Measure, Shared]]
    extra: int
    against: list[str]

    def tables(self, seed: int) -> list[list[Row]]:
        """Return the rows of each measure. p values are adjusted over all that was asked for, and
        apart from these over the `extra` ones.
        """
        asked = len(self.counted) - self.extra
        return contrast(self.counted[:asked], seed) + contrast(self.counted[asked:], seed)

    def pairs(self, runs: int, type_: str, seed: int) -> list[list[Row]]:
        """Return, for each measure that has questions of `type_`, a row with each of the `runs` but
        the last as reference of those after it; p values are adjusted over all.
        """
        suffixes = [
            (replace(measure, types=(type_,)), replace(shared, scores=shared.scores[i:]))
            for measure, shared in self.counted
            if type_ in measure.types and shared.of(type_).any()
            for i in range(runs - 1)
        ]
        rows = [row for (row,) in contrast(suffixes, seed)]
        return [rows[i : i + runs - 1] for i in range(0, len(rows), runs - 1)]


def compared(runs: Sequence[Run], names: Sequence[str], type_: str | None) -> Compared:
    """Choose the measures (see measures.choose; without `names` evidence recall as well, where the
    runs agree on the evidence) and find the questions that runs share. Raises InputError as choose.
    """
    measures = choose(runs, names, type_)
    against = objections(runs, measures, names)
    beside = [] if names or against else retrieval_beside(runs, measures)
    if beside and objections(runs, beside, [beside[0].key]):
        beside = []
    counted = [(measure, share(runs, measure)) for measure in (*measures, *beside)]
    return Compared(counted, len(beside), against)


def best_first(runs: Sequence[_R], found: Compared, type_: str | None) -> list[_R]:
    """Return the runs in order of the first measure's mean on `type_` (None: overall, or the only
    type), the best first.
    """
    measure, shared = found.counted[0]
    chosen = type_ or (OVERALL if OVERALL in measure.types else measure.types[-1])
    mask = shared.of(chosen)
    if not mask.any():
        return list(runs)
    sign = 1 if lower_is_better(measure.key, chosen) else -1
    means = shared.scores[:, mask].mean(axis=1)
    return [run for _, run in sorted(zip(sign * means, runs, strict=True), key=lambda one: one[0])]
