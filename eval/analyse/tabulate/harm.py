"""Rates of harm by kind of planted fact, which docs/datasets.md defines: `tables: harm`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.datasets.types import PLANT_KINDS
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.numbers import interval
from eval.summary.measures import ABSTAINED, value
from eval.summary.sample import Sample

_RATES = {  # score and whether it is of controls: its title
    (SHOWN, False): "Shown: share of questions whose context has a wrong value",
    (USED, False): "Used: share of questions whose answer has a wrong value; absent: any answer",
    (ABSTAINED, True): "Refused: share of controls without an answer, although the fact is there",
}


def harm(runs: Sequence[Run], seed: int) -> Iterator[tuple[str, Table]]:
    """Yield title and table of each rate: a row per run, a column per kind of plant with its number
    of questions. Questions that failed do not count.
    """
    for (key, control), title in _RATES.items():
        rates = [_by_kind(run, key, control, seed) for run in runs]
        counts = {kind: row[kind].n for row in rates for kind in PLANT_KINDS if kind in row}
        kinds = [kind for kind in PLANT_KINDS if kind in counts]
        rows = [
            [f"`{run.label.partition('=')[2]}`", *(interval(row.get(kind)) for kind in kinds)]
            for run, row in zip(runs, rates, strict=True)
        ]
        if kinds:
            yield title, Table(["run", *(f"{kind} ({counts[kind]})" for kind in kinds)], rows)


def _by_kind(run: Run, key: str, control: bool, seed: int) -> dict[str, Interval]:
    rates: dict[str, Interval] = {}
    for kind in PLANT_KINDS:
        asked = [
            record
            for record in run.records.values()
            if (plant := record.get("plant"))
            and (plant["kind"], plant["control"]) == (kind, control)
        ]
        rate = Sample.of(asked, [value(record, key) for record in asked], seed).share()
        if rate is not None:
            rates[kind] = rate
    return rates
