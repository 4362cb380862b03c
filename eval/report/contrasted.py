"""The differences between runs: every run against the first, paired by question."""

from __future__ import annotations

from collections.abc import Sequence

from eval.compare.comparable import objections
from eval.compare.conclusions import conclusions, method, notes, title
from eval.records.run import Run
from eval.rendering.blocks import Block, Chart, Part
from eval.rendering.contrasts import table
from eval.rendering.section import Table
from eval.rendering.svg import Interval, dots
from eval.rendering.tables import type_name
from eval.summary.contrast import Row, contrast
from eval.summary.measures import choose
from eval.summary.shared import share
from memsys.errors import InputError


def differences(runs: Sequence[Run], seed: int) -> tuple[Block | None, list[str]]:
    """The section, and its conclusions in sentences; nothing with one run.

    Runs that should not be compared are not: the section then says why.
    """
    if len(runs) < 2:
        return None, []
    heading = f"Differences to {runs[0].label}"
    try:
        measures = choose(runs, (), None)
    except InputError as error:
        return Block("differences", heading, [f"Not compared: {error}."]), []
    if against := objections(runs, measures, ()):
        return Block("differences", heading, [f"Not compared: {one}." for one in against]), []
    counted = [(measure, share(runs, measure)) for measure in measures]
    tables = contrast(counted, seed)
    shown = [(title(m), rows) for m, rows in zip(measures, tables, strict=True) if rows]
    if not shown:
        return Block("differences", heading, ["No question has a score in every run."]), []
    parts: list[Part] = [_forest(name, rows, runs) for name, rows in shown]
    for name, rows in shown:
        parts += [f"{name}:", Table(*table(rows, runs))]
    parts.append(method(tables, runs))
    parts += [f"Note: {note}." for note in notes(runs, counted)]
    return Block("differences", heading, parts), conclusions(tables, runs)


def _forest(name: str, rows: Sequence[Row], runs: Sequence[Run]) -> Chart:
    drawn = [
        (
            f"{type_name(row.type)}, n = {row.n}",
            [
                Interval(one.difference.value, one.difference.low, one.difference.high)
                for one in row.contrasts
            ],
        )
        for row in rows
    ]
    caption = f"{name}: difference to {runs[0].label}"
    # The first colour and mark are the first run's in every other chart.
    svg = dots(caption, [(row, [None, *values]) for row, values in drawn], ("difference", "run"))
    legend = [None, *(run.label for run in runs[1:])]
    return Chart(caption, svg, Table(*table(rows, runs)), legend)
