"""Write the rankings' measures as Markdown and CSV, and their curves as PNG, SVG and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.analyse.retrieval.evaluation import Evaluation, Request
from eval.analyse.retrieval.measured import (
    Measured,
    Point,
    about,
    definitions,
    known,
    measured,
    points,
    set_measures,
    side_by_side,
)
from eval.metrics.retrieval.registry import UNITS, Measure, all_measures
from eval.metrics.stats.interval import Interval
from eval.records.comma_separated import text_of
from eval.records.files import write_text
from eval.rendering.blocks import Block, Section
from eval.rendering.contrasts import comma_separated
from eval.rendering.markdown import report_markdown
from eval.rendering.palette import GREY, Look, looks
from eval.rendering.plots import figure, files_of
from eval.rendering.tables import type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import FIRST_RANK
from memsys.core.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES = (
    *("run", "run_id", "order", "type", "measure", "unit", "metric", "cutoff", "tokens", "turns"),
    *("n", "conversations", "value", "low", "high"),
)
_CURVE = ("run", "run_id", "type", "unit", "kind", "cutoff")
_MEAN = ("recall", "low", "high", "n", "conversations")


def write(folder: Path, found: Evaluation, request: Request) -> list[str]:
    """Write all measures by type, their curves and the differences into `folder`; returns the names
    of the files. Raises InputError if the folder cannot be written.
    """
    every = [one for one in all_measures() if request.unit in {None, one.unit}]
    defined = definitions(request.unit, request.kind, request.cutoffs)
    asked = list(dict.fromkeys([*every, *defined, *request.measures]))
    ranked = [measured(run, known(run, asked), request.seed) for run in found.ranked]
    of_sets = [one for unit in UNITS for one in set_measures(unit)]
    selected = [measured(run, known(run, of_sets), request.seed) for run in found.selected]
    kind = request.kind or "fraction"
    curves = [
        point for run in found.ranked for point in points(run, found.unit, kind, request.seed)
    ]
    rows = [
        *(row for one in ranked for row in _rows(one, asked, "ranked")),
        *(row for one in selected for row in _rows(one, of_sets, "selected")),
    ]
    texts = {"retrieval.csv": text_of(_MEASURES, rows)}
    if found.differences:
        texts["differences.csv"] = comma_separated(found.differences, found.ranked)
    if curves:
        texts |= _curve_tables(curves, found.unit, kind)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        charts = list(_draw(curves, found, kind, folder)) if curves else []
        sections = [*found.sections, *_definitions(ranked, defined, found.types)]
        texts["retrieval.md"] = _markdown(found, sections, charts)
        for name, text in texts.items():
            write_text(folder / name, text)
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written ({error}); name another") from error
    return sorted([*texts, *(name for names in charts for name in names)])


def _rows(one: Measured, measures: Sequence[Measure], order: str) -> Iterator[dict[str, object]]:
    """Yield a row of retrieval.csv for each type and measure; of a first rank also the median."""
    run = {"run": one.run.label, "run_id": one.run.manifest["run_id"], "order": order}
    for type_, cells in one.means.items():
        for measure in measures:
            about = {
                **{**run, "type": type_, "metric": measure.metric.name},
                **{name: getattr(measure, name) for name in ("unit", "cutoff", "tokens", "turns")},
            }
            mean = cells.get(str(measure))
            if mean is not None:
                yield {**about, **_counted(mean), "measure": str(measure)}
            ranks = one.first_ranks.get(measure.unit, {}).get(type_)
            if measure.metric.name == FIRST_RANK and ranks is not None:
                found = {**about, **_counted(ranks.found)}
                median = {"value": ranks.median, "low": None, "high": None}
                yield {**found, "measure": f"{measure}_median", **median}
                yield {**found, "measure": f"{measure}_found"}


def _counted(mean: Interval, name: str = "value") -> dict[str, object]:
    ends = {name: mean.value, "low": mean.low, "high": mean.high}
    return {**ends, "n": mean.n, "conversations": mean.clusters}


def _curve_tables(curves: Sequence[Point], unit: str, kind: str) -> dict[str, str]:
    """Return recall_at_k.csv and recall_by_tokens.csv by their names."""
    lines = [
        {
            **{"run": one.run.label, "run_id": one.run.manifest["run_id"], "type": one.type},
            **{"unit": unit, "kind": kind, "context_tokens": one.tokens},
            **{"budget" if one.within else "cutoff": one.at, **_counted(one.recall, "recall")},
        }
        for one in curves
    ]
    by_rank = [line for line in lines if "cutoff" in line]
    return {
        "recall_at_k.csv": text_of((*_CURVE, *_MEAN), by_rank),
        "recall_by_tokens.csv": text_of((*_CURVE, "budget", "context_tokens", *_MEAN), lines),
    }


def _draw(
    curves: Sequence[Point], found: Evaluation, kind: str, folder: Path
) -> Iterator[list[str]]:
    """Draw both charts of the last type of the tables; yield the names of their files."""
    type_ = found.types[-1]
    shown = [
        [one for one in curves if one.run is run and one.type == type_] for run in found.ranked
    ]
    ranks = [
        Line(run.label, [(one.at, one.recall) for one in points_ if not one.within])
        for run, points_ in zip(found.ranked, shown, strict=True)
    ]
    tokens = [
        Line(
            run.label,
            [(one.tokens, one.recall) for one in points_ if one.tokens],
            [(one.at, one.recall) for one in points_ if one.within],
        )
        for run, points_ in zip(found.ranked, shown, strict=True)
    ]
    up = f"recall of {found.unit}s ({kind}), 95% interval"
    where = type_name(type_, types_of(found.ranked))
    title = f"Recall of evidence {found.unit}s, {where}"
    charts = [
        (Chart("recall_at_k", title, "cutoff k (log scale)", up), ranks),
        (
            Chart(
                "recall_by_tokens",
                title,
                "tokens of the context (log scale)",
                up,
                "within a budget of tokens",
            ),
            tokens,
        ),
    ]
    for chart, lines in charts:
        drawn = [line for line in lines if line.points]
        if drawn:
            yield draw(chart, drawn, folder)


def _definitions(
    found: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]
) -> Iterator[Section]:
    """Yield every definition side by side, a section for each question type."""
    known = types_of([one.run for one in found])
    for type_ in types:
        if any(one.n(type_) for one in found):
            table = side_by_side(found, measures, [type_])
            title = f"All definitions: {type_name(type_, known)}"
            yield Section(title, [about(found, [type_]), table])


def _markdown(
    found: Evaluation, sections: Sequence[Section], charts: Sequence[Sequence[str]]
) -> str:
    runs = ", ".join(run.label for run in (*found.ranked, *found.selected))
    blocks = [Block(f"b{i}", one.title, one.parts) for i, one in enumerate(sections)]
    pictures = [
        f"![{names[0].rpartition('.')[0].replace('_', ' ')}]({names[0]})" for names in charts
    ]
    return "\n".join([report_markdown(f"Rankings: {runs}", blocks), *pictures, ""])


Points = Sequence[tuple[float, Interval]]  # place on the horizontal axis, and mean


@dataclass(frozen=True, slots=True)
class Line:
    """The curve of a run by its `label`, and `marks` beside it."""

    label: str
    points: Points
    marks: Points = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Texts of a chart: `name` of its files, title, names of the axes, and what `marks` mean."""

    name: str
    title: str
    across: str
    up: str
    marks: str = ""


def draw(chart: Chart, lines: Sequence[Line], folder: Path) -> list[str]:
    """Write NAME.png and NAME.svg into `folder` and return their names: curves with 95% intervals
    over a logarithmic axis, and open marks.
    """
    path = folder / chart.name
    with figure(path, 5.0) as drawn:
        axes = drawn.subplots()
        for line, look in zip(lines, looks([line.label for line in lines]), strict=True):
            _curve(axes, line, look)
        axes.set_xscale("log")
        places = [x for line in lines for x, _ in (*line.points, *line.marks)]
        ticks = _ticks(min(places), max(places))
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set(xlabel=chart.across, ylabel=chart.up, ylim=(0, 1.02), title=chart.title)
        if chart.marks:
            hollow: dict[str, Any] = {
                "markerfacecolor": "none",
                "markeredgecolor": GREY,
                "markersize": 9,
            }
            axes.plot([], [], "o", label=chart.marks, **hollow)
        axes.legend(loc="lower right")
    return files_of(path)


def _curve(axes: Axes, line: Line, look: Look) -> None:
    """Draw a curve with its intervals as a band, and its marks hollow."""
    across = [x for x, _ in line.points]
    means = [mean.value for _, mean in line.points]
    lows, highs = ([getattr(mean, end) for _, mean in line.points] for end in ("low", "high"))
    axes.plot(across, means, color=look.hex, marker=look.symbol, ms=look.size, label=line.label)
    axes.fill_between(across, lows, highs, color=look.hex, alpha=0.1, lw=0)
    hollow: dict[str, Any] = {
        "markerfacecolor": "none",
        "markeredgecolor": look.hex,
        "markersize": 9,
    }
    marked = [x for x, _ in line.marks], [mean.value for _, mean in line.marks]
    axes.plot(*marked, linestyle="none", marker=look.symbol, markeredgewidth=1.2, **hollow)


def _ticks(low: float, high: float) -> list[int]:
    """Return 1, 2 and 5 times the powers of 10 from `low` to `high`."""
    ticks = [m * 10**power for power in range(8) for m in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]
