"""Write the rankings' measures as Markdown and CSV, and their curves as PNG, SVG and CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from eval.analyse.retrieval import tables
from eval.analyse.retrieval.choice import definitions, known, set_measures
from eval.analyse.retrieval.curves import Point, points
from eval.analyse.retrieval.evaluation import Evaluation, Request
from eval.analyse.retrieval.measured import Measured, measured
from eval.analyse.retrieval.plots import Chart, Line, draw
from eval.metrics.retrieval.registry import UNITS, Measure, all_measures
from eval.records.comma_separated import write_rows
from eval.records.files import write_text
from eval.rendering.blocks import Block, Section
from eval.rendering.contrasts import comma_separated
from eval.rendering.markdown import report_markdown
from eval.rendering.tables import type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import FIRST_RANK
from memsys.core.errors import InputError

_MEASURES = (
    *("run", "run_id", "order", "type", "measure", "unit", "metric", "cutoff", "tokens", "turns"),
    *("n", "conversations", "value", "low", "high"),
)
_CURVE = ("run", "run_id", "type", "unit", "kind")
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
    texts = {"retrieval.csv": _csv([_MEASURES, *rows])}
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


def _rows(one: Measured, measures: Sequence[Measure], order: str) -> Iterator[list[object]]:
    """Yield a row of retrieval.csv for each type and measure; of a first rank also the median."""
    for type_, cells in one.means.items():
        for measure in measures:
            start = [one.run.label, one.run.manifest["run_id"], order, type_]
            about = [
                measure.unit,
                measure.metric.name,
                measure.cutoff,
                measure.tokens,
                measure.turns,
            ]
            mean = cells.get(str(measure))
            if mean is not None:
                ends = [mean.n, mean.clusters, mean.value, mean.low, mean.high]
                yield [*start, str(measure), *about, *ends]
            ranks = one.first_ranks.get(measure.unit, {}).get(type_)
            if measure.metric.name == FIRST_RANK and ranks is not None:
                share = ranks.found
                count = [share.n, share.clusters]
                yield [*start, f"{measure}_median", *about, *count, ranks.median, None, None]
                ends = [share.value, share.low, share.high]
                yield [*start, f"{measure}_found", *about, *count, *ends]


def _curve_tables(curves: Sequence[Point], unit: str, kind: str) -> dict[str, str]:
    """Return recall_at_k.csv and recall_by_tokens.csv by their names."""
    by_rank: list[Iterable[object]] = [(*_CURVE, "cutoff", *_MEAN)]
    by_tokens: list[Iterable[object]] = [(*_CURVE, "cutoff", "budget", "context_tokens", *_MEAN)]
    for one in curves:
        start = [one.run.label, one.run.manifest["run_id"], one.type, unit, kind]
        mean = one.recall
        ends = [mean.value, mean.low, mean.high, mean.n, mean.clusters]
        if one.within:
            by_tokens.append([*start, None, one.at, None, *ends])
        else:
            by_rank.append([*start, one.at, *ends])
            by_tokens.append([*start, one.at, None, one.tokens, *ends])
    return {"recall_at_k.csv": _csv(by_rank), "recall_by_tokens.csv": _csv(by_tokens)}


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
            table = tables.side_by_side(found, measures, [type_])
            title = f"All definitions: {type_name(type_, known)}"
            yield Section(title, [tables.about(found, [type_]), table])


def _markdown(
    found: Evaluation, sections: Sequence[Section], charts: Sequence[Sequence[str]]
) -> str:
    runs = ", ".join(run.label for run in (*found.ranked, *found.selected))
    blocks = [Block(f"b{i}", one.title, one.parts) for i, one in enumerate(sections)]
    pictures = [
        f"![{names[0].rpartition('.')[0].replace('_', ' ')}]({names[0]})" for names in charts
    ]
    return "\n".join([report_markdown(f"Rankings: {runs}", blocks), *pictures, ""])


def _csv(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    write_rows(text, rows)
    return text.getvalue()
