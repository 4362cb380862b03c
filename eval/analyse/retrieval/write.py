"""Write the rankings' measures as Markdown and CSV, and their curves as PNG, SVG and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.analyse.retrieval.evaluation import Evaluation
from eval.analyse.retrieval.measured import (
    Measured,
    Point,
    Request,
    about,
    definitions,
    measured,
    points,
    set_measures,
    side_by_side,
)
from eval.cli import writing_into
from eval.metrics.retrieval.registry import UNITS, Measure, all_measures
from eval.metrics.stats.interval import Interval
from eval.records.comma_separated import text_of
from eval.records.files import write_text
from eval.rendering.blocks import Section
from eval.rendering.contrasts import comma_separated
from eval.rendering.page import report_markdown
from eval.rendering.palette import GREY, Look, looks
from eval.rendering.plots import figure, files_of
from eval.rendering.tables import type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import FIRST_RANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES = (
    *("run", "run_id", "order", "type", "measure", "unit", "metric", "cutoff", "tokens", "turns"),
    *("n", "conversations", "value", "low", "high"),
)
_CURVE = ("run", "run_id", "type", "unit", "kind", "cutoff")
_MEAN = ("recall", "low", "high", "n", "conversations")
# Name, horizontal axis and meaning of the open marks of each chart, and the place of a point.
_CHARTS: tuple[tuple[str, str, str, Callable[[Point], float | None]], ...] = (
    ("recall_at_k", "cutoff k (log scale)", "", lambda one: None if one.within else one.at),
    (
        *("recall_by_tokens", "tokens of the context (log scale)", "within a budget of tokens"),
        lambda one: one.at if one.within else one.tokens,
    ),
)


def write(folder: Path, found: Evaluation, request: Request) -> list[str]:
    """Write all measures by type, their curves and the differences into `folder`; returns the names
    of the files. Raises InputError if the folder cannot be written.
    """
    every = [one for one in all_measures() if request.unit in {None, one.unit}]
    defined = definitions(request.unit, request.kind, request.cutoffs)
    asked = list(dict.fromkeys([*every, *defined, *request.measures]))
    ranked = [measured(run, asked, request.seed) for run in found.ranked]
    of_sets = [one for unit in UNITS for one in set_measures(unit)]
    selected = [measured(run, of_sets, request.seed) for run in found.selected]
    kind = request.kind or "fraction"
    curves = [
        point for run in found.ranked for point in points(run, found.unit, kind, request.seed)
    ]
    lines = [
        *(row for one in ranked for row in _rows(one, asked, "ranked")),
        *(row for one in selected for row in _rows(one, of_sets, "selected")),
    ]
    texts = {"retrieval.csv": text_of(_MEASURES, lines)}
    if found.differences:
        texts["differences.csv"] = comma_separated(found.differences, found.ranked)
    if curves:
        texts |= _curve_tables(curves, found.unit, kind)
    with writing_into(folder):
        charts = list(_draw(curves, found, kind, folder)) if curves else []
        sections = list(found.sections)
        for type_ in found.types:
            if any(one.n(type_) for one in ranked):
                title = f"All definitions: {type_name(type_, types_of(found.ranked))}"
                rows = side_by_side(ranked, defined, [type_])
                sections.append(Section(title, [about(ranked, [type_]), rows]))
        labels = ", ".join(run.label for run in (*found.ranked, *found.selected))
        pictures = [
            f"![{names[0].rpartition('.')[0].replace('_', ' ')}]({names[0]})" for names in charts
        ]
        page = report_markdown(f"Rankings: {labels}", sections)
        texts["retrieval.md"] = "\n".join([page, *pictures, ""])
        for name, text in texts.items():
            write_text(folder / name, text)
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
    """Draw both charts of the last type of the tables, a curve with its interval as a band for each
    run, recall within budgets as open marks; yield the names of their files.
    """
    type_ = found.types[-1]
    title = f"Recall of evidence {found.unit}s, {type_name(type_, types_of(found.ranked))}"
    up = f"recall of {found.unit}s ({kind}), 95% interval"
    for name, across, marks, place in _CHARTS:
        lines = {}
        for run in found.ranked:
            of_run = [one for one in curves if one.run is run and one.type == type_]
            own = [(at, one) for one in of_run if (at := place(one))]
            if not all(one.within for _, one in own):
                lines[run.label] = own
        if not lines:
            continue
        with figure(folder / name, 5.0) as drawn:
            axes = drawn.subplots()
            for (label, own), look in zip(lines.items(), looks([*lines]), strict=True):
                _curve(axes, label, own, look)
            axes.set_xscale("log")
            places = [at for own in lines.values() for at, _ in own]
            rounds = [m * 10**power for power in range(8) for m in (1, 2, 5)]
            ticks = [tick for tick in rounds if min(places) <= tick <= max(places)]
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
            axes.set(xlabel=across, ylabel=up, ylim=(0, 1.02), title=title)
            if marks:
                axes.plot([], [], "o", label=marks, **_hollow(GREY))
            axes.legend(loc="lower right")
        yield files_of(folder / name)


def _curve(axes: Axes, label: str, points: Sequence[tuple[float, Point]], look: Look) -> None:
    """Draw a curve with its intervals as a band, and what is within a budget as hollow marks."""
    curve = [(at, one.recall) for at, one in points if not one.within]
    across, means = [at for at, _ in curve], [mean.value for _, mean in curve]
    lows, highs = ([getattr(mean, end) for _, mean in curve] for end in ("low", "high"))
    axes.plot(across, means, color=look.hex, marker=look.symbol, ms=look.size, label=label)
    axes.fill_between(across, lows, highs, color=look.hex, alpha=0.1, lw=0)
    budgets, recalls = (
        [at for at, one in points if one.within],
        [one.recall.value for _, one in points if one.within],
    )
    style: dict[str, Any] = {"linestyle": "none", "marker": look.symbol, "markeredgewidth": 1.2}
    axes.plot(budgets, recalls, **style, **_hollow(look.hex))


def _hollow(colour: str) -> dict[str, Any]:
    return {"markerfacecolor": "none", "markeredgecolor": colour, "markersize": 9}
