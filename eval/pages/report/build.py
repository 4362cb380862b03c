"""The report of one run or of several: its sections in order."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.analyse.compare.comparable import notes, objections, title
from eval.analyse.diagnose.__main__ import report
from eval.analyse.diagnose.pairing import pair_with_direct, pair_with_expanded
from eval.analyse.diagnose.retrieval_vs_reading import points_lost
from eval.metrics.stats.interval import Interval
from eval.pages.report.cards import changes_block
from eval.pages.report.costs import costs_block, latency_block
from eval.pages.report.runs import ReportedRun, looks_of
from eval.pages.report.scores import headline_block, judges_block, retrieval_block, types_block
from eval.records.run import Run
from eval.rendering.blocks import Block, Chart, Part, Section, Table, Verbatim
from eval.rendering.charts import ChartPoint, dots, scatter, stacked
from eval.rendering.contrasts import brief, method, table
from eval.rendering.numbers import interval, number
from eval.rendering.page import page_markdown, policy, render
from eval.rendering.palette import Look
from eval.rendering.plots import pareto
from eval.rendering.tables import interval_of, type_name
from eval.summary.contrast import Row, contrast
from eval.summary.measures import choose, share, types_of
from eval.summary.sample import by_type
from memsys.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Report:
    """A title and sections."""

    title: str
    blocks: Sequence[Block]

    def html(self) -> str:
        """Return the report as a self-contained page."""
        return render("report.html.j2", title=self.title, policy=policy(), blocks=self.blocks)

    def markdown(self) -> str:
        """Return the report as markdown, with tables in place of charts."""
        return page_markdown("report.md.j2", title=self.title, blocks=self.blocks)


def build_report(runs: Sequence[ReportedRun]) -> Report:
    """Return the report of `runs`; the first is the reference of all comparisons."""
    differences, conclusions = differences_block(runs)
    blocks = [
        headline_block(runs, conclusions),
        types_block(runs),
        judges_block(runs),
        retrieval_block(runs),
        differences,
        tradeoffs_block(runs),
        latency_block(runs),
        losses_block(runs),
        costs_block(runs),
        changes_block(runs),
        _manifests_block(runs),
    ]
    names = [run.label for run in runs]
    datasets = dict.fromkeys(run.manifest["dataset"] for run in runs)
    title = f"{names[0]} on {', '.join(datasets)}"
    if len(runs) > 1:
        title = f"{', '.join(names[1:])} against {title}"
    return Report(title, [block for block in blocks if block is not None])


def _manifests_block(runs: Sequence[ReportedRun]) -> Block:
    table = Table.of(
        runs,
        {
            "run": lambda run: run.label,
            "id": lambda run: run.manifest["run_id"],
            "started": lambda run: run.manifest["started"],
            "commit": lambda run: str((run.manifest["git"] or {}).get("commit", "-"))[:12],
            "command": lambda run: run.manifest["command"],
        },
    )
    texts = {run.label: json.dumps(run.manifest, indent=1, ensure_ascii=False) for run in runs}
    wholes = [Verbatim(f"Manifest of {label}", text) for label, text in texts.items()]
    return Block("manifests", "Manifests", [table, *wholes])


_PARTS = ("scored", "lost in retrieval", "lost in reading")


def losses_block(runs: Sequence[ReportedRun]) -> Block:
    """Return a chart of each run and, folded, the tables of `python -m eval diagnose`."""
    parts: list[Part] = []
    if any(run.has_answers for run in runs):
        parts.append(
            "The score of each type, the loss in retrieval (its distance from the score of the "
            "questions with all evidence retrieved) and the loss in reading (the distance of these "
            "from a perfect score). docs/analysis.md describes the limits of this split."
        )
    parts += [chart for run in runs if (chart := _chart(run)) is not None]
    for run in runs:
        direct, expanded = counterparts(run, runs)
        try:
            sections = report(run, direct, expanded, run.marking)
        except InputError as error:
            parts.append(f"{run.label}: no error analysis ({error}).")
            continue
        against = [f"without expansion: {direct.label}"] if direct else []
        against += [f"always expanded: {expanded.label}"] if expanded else []
        name = run.label + (f" ({'; '.join(against)})" if against else "")
        folds: list[Part] = []
        for one in sections:
            tables = any(isinstance(part, Table) for part in one.parts)
            folds.append(one if tables else " ".join([f"{one.title}:", *map(str, one.parts)]))
        parts.append(Section(name, folds))
    return Block("losses", "Error analysis", parts)


def counterparts(run: Run, runs: Sequence[Run]) -> tuple[Run | None, Run | None]:
    """Return the one of `runs` that is `run` without expansion, and the one with an open gate."""
    direct = _first(pair_with_direct, run, runs)
    return direct, direct and _first(pair_with_expanded, run, runs)


def _first(pair: Callable[[Run, Run], object], run: Run, runs: Sequence[Run]) -> Run | None:
    """Return the first other run that `pair` accepts."""
    for other in runs:
        if other is not run:
            try:
                pair(run, other)
            except InputError:
                continue
            return other
    return None


def _chart(run: ReportedRun) -> Chart | None:
    if not run.retrieval_known:
        return None
    bars, lines, types = [], [], types_of([run])
    for name, records in by_type(run.counted):
        values = [run.marking.value(record) for record in records]
        loss = points_lost(records, values, run.seed)
        if loss is None:
            continue
        parts = (loss.score, loss.retrieval, loss.reading)
        bars.append((type_name(name, types), [part.value for part in parts]))
        counts = [str(loss.score.n), str(loss.whole)]
        lines.append([type_name(name, types), *counts, *map(interval, parts)])
    if not bars:
        return None
    title = f"{run.label}: {run.own_f1}, scored and lost"
    table = Table(["type", "n", "with all evidence", *_PARTS], lines)
    return Chart(title, stacked(title, bars, _PARTS), table, bars=_PARTS)


_COSTS = (("context_tokens_mean", "context tokens", 0), ("total_ms_p95", "p95 latency, ms", 1))


def differences_block(runs: Sequence[ReportedRun]) -> tuple[Block | None, list[str]]:
    """Return the section of differences to the first run and its conclusions as short sentences.

    With one run, the result is None and []. If runs cannot be compared, the section states the
    reason.
    """
    if len(runs) < 2:
        return None, []
    heading = f"Differences to {runs[0].label}"
    try:
        measures = choose(runs, (), None)
    except InputError as error:
        return Block("differences", heading, [f"Not compared: {error}."]), []
    if reasons := objections(runs, measures, ()):
        return Block("differences", heading, [f"Not compared: {one}." for one in reasons]), []
    scores = [(measure, share(runs, measure)) for measure in measures]
    tables = contrast(scores, runs[0].seed)
    shown = [(title(m), rows) for m, rows in zip(measures, tables, strict=True) if rows]
    if not shown:
        return Block("differences", heading, ["No question has a score in every run."]), []
    parts: list[Part] = [_forest(name, rows, runs) for name, rows in shown]
    for name, rows in shown:
        parts += [f"{name}:", table(rows, runs)]
    parts.append(method(tables, runs))
    parts += [f"Note: {note}." for note in notes(runs, scores)]
    return Block("differences", heading, parts), brief(tables, runs)


def tradeoffs_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return scores against context tokens and p95 latency; None with one run, or no answers."""
    if len(runs) < 2 or not any(run.has_answers for run in runs):
        return None
    scores = [("f1", "F1")] + ([("judge", "judge")] if all(run.judged for run in runs) else [])
    parts = [
        part for score in scores for cost in _COSTS for part in _tradeoff_chart(runs, score, cost)
    ]
    seeing = [run.label for run in runs if run.sees_evidence]
    if not parts:
        parts = ["Fewer than two runs have both a score and a known context size or latency."]
    else:
        parts.append(
            "A run is on the front if no other run here scores more at the same cost or the same "
            "at a lower cost. The front compares means alone; the differences above show whether "
            "two runs differ. Latency is a percentile of single questions and has no interval."
            + f" Not on the front, since given the evidence: {', '.join(seeing)}."
            * bool(seeing)
        )
    return Block("tradeoffs", "Accuracy against context and latency", parts)


def _forest(name: str, rows: Sequence[Row], runs: Sequence[ReportedRun]) -> Chart:
    types = types_of(runs)
    drawn = [
        (
            f"{type_name(row.type, types)}, n = {row.n}",
            [None, *(one.difference for one in row.contrasts)],
        )
        for row in rows
    ]
    caption = f"{name}: difference to {runs[0].label}"
    looks = looks_of(runs)
    svg = dots(caption, drawn, looks, "difference")
    return Chart(caption, svg, table(rows, runs), looks[1:])


def _tradeoff_chart(
    runs: Sequence[ReportedRun], score: tuple[str, str], cost: tuple[str, str, int]
) -> list[Part]:
    column, across, digits = cost
    known: list[tuple[ReportedRun, Look, Interval, Interval]] = []
    for run, look in zip(runs, looks_of(runs), strict=True):
        x, y = (interval_of(run.overall, name) for name in (column, score[0]))
        if x is not None and y is not None:
            known.append((run, look, x, y))
    if len(known) < 2:
        return []
    fair = [(x.value, y.value) for run, _, x, y in known if not run.sees_evidence]
    front = {place for place, on in zip(fair, pareto(fair), strict=True) if on}
    points, lines = [], []
    for run, look, x, y in known:
        on = not run.sees_evidence and (x.value, y.value) in front
        points.append(ChartPoint(look, x, y, on))
        cost_text = number(x.value, digits) if x.low == x.high else interval(x, digits)
        place = "sees the evidence" if run.sees_evidence else "yes" if on else "no"
        lines.append([run.label, str(y.n), interval(y), cost_text, place])
    caption = f"{score[1]} against {across}, types 1-4"
    table = Table(["run", "n answered", score[1], across, "on the front"], lines)
    svg = scatter(caption, points, (across, score[1]))
    parts: list[Part] = [Chart(caption, svg, table, [look for _, look, _, _ in known])]
    names = {run.label for run, *_ in known}
    if missing := [run.label for run in runs if run.label not in names]:
        parts.append(f"Not in this chart: {', '.join(missing)} (unknown).")
    return parts
