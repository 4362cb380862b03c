"""Means by question type, for data sets that bring their own types."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from eval.datasets.types import ADVERSARIAL, TYPES, types_in
from eval.metrics.evidence import SESSIONS
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.intervals import Figure, Sample, show
from eval.summary.measures import types_of, value
from eval.summary.summarise import OVERALL
from eval.tabulate.effects import RECALL

_TITLES = {RECALL: "Evidence recall, by turn", SESSIONS: "Evidence recall, by session"}


def own_types(runs: Sequence[Run]) -> bool:
    """Whether the runs' questions have other types than LoCoMo's."""
    return types_in(runs[0].records.values()) is not TYPES


def by_type(runs: Sequence[Run], seed: int) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """For each score a title, a header of the types with how many questions each has, and a row a
    run: means with their 95% intervals.
    """
    grouped = any(" " in run.label for run in runs)
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        found = [_figures(run, key, seed) for run in runs]
        names = [name for name in types_of(runs) if any(name in one for one in found)]
        if not names:
            continue
        counts = {name: next(one[name].n for one in found if name in one) for name in names}
        rows = [
            [
                f"`{run.label if grouped else run.label.partition('=')[2]}`",
                *(show(one.get(name)) for name in names),
            ]
            for run, one in zip(runs, found, strict=True)
        ]
        header = ["by type", *(f"{name} ({counts[name]})" for name in names)]
        yield _TITLES.get(key, "F1"), header, rows


def as_csv(runs: Sequence[Run], seed: int) -> str:
    """The same in full, as lines of the table of effects without a reference and a difference."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        for run in runs:
            for name, one in _figures(run, key, seed).items():
                if name == OVERALL:  # is among the effects
                    continue
                rows = [row for row in run.records.values() if row["type"] == name]
                clusters = len({row["conversation"] for row in rows})
                line = [key, name, run.label, run.manifest["run_id"], None, one.n, clusters]
                writer.writerow([*line, one.value, one.low, one.high, *[None] * 9])
    return text.getvalue()


def _figures(run: Run, key: str, seed: int) -> dict[str, Figure]:
    """The mean of each type that has the score, overall last; type 5 has no gold to score by."""
    asked = [one for one in run.records.values() if one["category"] != ADVERSARIAL]
    groups: dict[str, list[Record]] = {
        name: asked if name == OVERALL else [one for one in asked if one["type"] == name]
        for name in types_of([run])
    }
    figures = {
        name: Sample.of(rows, [value(row, key) for row in rows], seed).score()
        for name, rows in groups.items()
    }
    return {name: one for name, one in figures.items() if one is not None}
