"""Means of each run by question type, and rates of harm by kind of planted fact.

docs/datasets.md defines the kinds and rates of `tables: harm`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from eval.analyse.tabulate.grid import label_of
from eval.datasets.types import PLANT_KINDS
from eval.metrics.evidence import SESSIONS
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import Interval
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.contrasts import COLUMNS
from eval.rendering.numbers import interval
from eval.summary.measures import ABSTAINED, RECALL, types_of, value
from eval.summary.sample import Sample
from eval.summary.sample import by_type as of_types
from eval.summary.summarise import OVERALL

_TITLES = {RECALL: "Evidence recall, by turn", SESSIONS: "Evidence recall, by session"}
_RATES = {  # score and whether it is of controls: its title
    (SHOWN, False): "Shown: share of questions whose context has a wrong value",
    (USED, False): "Used: share of questions whose answer has a wrong value; absent: any answer",
    (ABSTAINED, True): "Refused: share of controls without an answer, although the fact is there",
}
Means = Mapping[str, Interval]  # of a run, by type or kind


def by_type(runs: Sequence[Run], seed: int) -> Iterator[tuple[str, Table]]:
    """Yield title and table of each score: a column per type with its number of questions, a row
    per run with means and 95% intervals.
    """
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        means = [_by_type(run, key, seed) for run in runs]
        if any(means):
            yield _TITLES.get(key, "F1"), _table("by type", runs, means, types_of(runs))


def harm(runs: Sequence[Run], seed: int) -> Iterator[tuple[str, Table]]:
    """Yield title and table of each rate: a row per run, a column per kind of plant with its number
    of questions. Questions that failed do not count.
    """
    for (key, control), title in _RATES.items():
        rates = [_by_kind(run, key, control, seed) for run in runs]
        if any(rates):
            yield title, _table("run", runs, rates, PLANT_KINDS)


def types_as_csv(runs: Sequence[Run], seed: int) -> str:
    """Return the means by type at full precision, as CSV lines with the columns of the effects
    (empty: reference and difference).
    """
    lines = []
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        for run in runs:
            named = {"score": key, "run": run.label, "run_id": run.manifest["run_id"]}
            for name, mean in _by_type(run, key, seed).items():
                rows = [row for row in run.records.values() if row["type"] == name]
                counts = {"n": mean.n, "conversations": len({row["conversation"] for row in rows})}
                if name != OVERALL:  # is among the effects
                    lines.append({**named, **counts, "type": name, "mean": mean})
    return text_of(COLUMNS, lines, header=False)


def _table(first: str, runs: Sequence[Run], means: Sequence[Means], names: Sequence[str]) -> Table:
    """Return a row per run and a column for each of `names` that any run has a mean of."""
    counts = {
        name: known[0] for name in names if (known := [one[name].n for one in means if name in one])
    }
    grouped = any(" " in run.label for run in runs)
    rows = [
        [label_of(run, grouped=grouped), *(interval(one.get(name)) for name in counts)]
        for run, one in zip(runs, means, strict=True)
    ]
    return Table([first, *(f"{name} ({n})" for name, n in counts.items())], rows)


def _by_type(run: Run, key: str, seed: int) -> Means:
    """Return the mean of each type that has the score, overall last; adversarial has no gold."""
    samples = {
        name: Sample.of(rows, [value(row, key) for row in rows], seed)
        for name, rows in of_types(list(run.records.values()))
    }
    return {name: mean for name, one in samples.items() if (mean := one.score()) is not None}


def _by_kind(run: Run, key: str, control: bool, seed: int) -> Means:
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
