"""Tables of retrieval measures: by question type and run, and all definitions side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from eval.metrics.retrieval.registry import Measure
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, interval, number, share
from eval.rendering.tables import type_name
from eval.retrieval.measured import FIRST_RANK, Measured
from eval.stats.interval import Interval
from eval.summary.summarise import OVERALL

SHARES = ("store_share",)


def by_type(
    found: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]
) -> Table:
    """Return a row per question type and run, with the mean of each measure and its interval."""
    header = ["type", *(["run"] if len(found) > 1 else []), "n", *(m.title for m in measures)]
    rows = []
    for type_ in types:
        for i, one in enumerate(row for row in found if type_ in row.means):
            start = ["" if i else type_name(type_), *([one.run.label] if len(found) > 1 else [])]
            rows.append([*start, f"{one.n(type_):,}", *(_cell(one, type_, m) for m in measures)])
    return Table(header, rows)


def side_by_side(found: Sequence[Measured], measures: Sequence[Measure], type_: str) -> Table:
    """Return a row per measure on one question type, with a column per run."""
    rows = [[m.title, *(_cell(one, type_, m) for one in found)] for m in measures]
    return Table(["measure", *(one.run.label for one in found)], rows)


def _cell(one: Measured, type_: str, measure: Measure) -> str:
    """Return a mean with its interval; of a rank the median, and the share with a find; of the
    share of the store just the mean, as the cutoff and the data fix it.
    """
    if measure.metric.name == FIRST_RANK:
        ranks = one.first_ranks[measure.unit].get(type_)
        if ranks is None:
            return ABSENT
        return f"{number(ranks.median, 1, 'none')} ({share(ranks.found.value)} found)"
    mean = one.means.get(type_, {}).get(str(measure))
    if mean is not None and measure.metric.name in SHARES:
        return share(mean.value)
    return interval(mean)
