"""`python -m eval report RUN [RUN ...]`: a report of runs, as an HTML page and as markdown.

The sections on lost points, on differences and on manifests are built here, the others beside it.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.analyse.compare.comparable import notes, objections, title
from eval.analyse.diagnose.__main__ import report as error_analysis
from eval.analyse.diagnose.pairing import pair_with_direct, pair_with_expanded
from eval.analyse.diagnose.retrieval_vs_reading import points_lost
from eval.cli import add_runs, code_of
from eval.cli import parser as command_parser
from eval.pages.report.cards import changes_block
from eval.pages.report.costs import costs_block, latency_block, tradeoffs_block
from eval.pages.report.runs import ReportedRun, load, looks_of, missing_texts
from eval.pages.report.scores import headline_block, judges_block, retrieval_block, types_block
from eval.records.files import write_text, writing
from eval.records.run import Run
from eval.rendering.blocks import Block, Chart, Part, Section, Table, Verbatim
from eval.rendering.charts import dots, stacked
from eval.rendering.contrasts import brief, method, table
from eval.rendering.numbers import interval
from eval.rendering.page import page_markdown, policy, render
from eval.rendering.tables import type_name
from eval.summary.contrast import Row, contrast
from eval.summary.measures import choose, share, types_of
from eval.summary.sample import by_type
from memsys.core.errors import InputError
from memsys.core.places import find_run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report and return the exit code: 2 for invalid input, 130 after Ctrl-C."""
    parser = command_parser(
        "report",
        description="Write a report of runs as one self-contained HTML page and as markdown. "
        "docs/analysis.md explains the sections.",
    )
    add_runs(parser, compared=True)
    add = parser.add_argument
    reference = "the run with which all others are compared (default: the first)"
    add("--reference", metavar="RUN", help=reference)
    page = (
        "the page (default: report.html in the run's folder; for several runs, comparison.html in "
        "the first one's)"
    )
    add("--out", type=Path, metavar="FILE.html", help=page)
    beside = "the markdown file (default: beside the page)"
    add("--markdown", type=Path, metavar="FILE.md", help=beside)
    return code_of(lambda: _report(parser.parse_args(arguments)))


def _report(options: argparse.Namespace) -> None:
    names = list(options.runs)
    if options.reference is not None:  # is the first
        folder = find_run(options.reference).resolve()
        others = [name for name in names if find_run(name).resolve() != folder]
        names = [options.reference, *others]
    runs = load(names)
    name = "report.html" if len(runs) == 1 else "comparison.html"
    out: Path = options.out or runs[0].folder / name
    markdown: Path = options.markdown or out.with_suffix(".md")
    if out.resolve() == markdown.resolve():
        raise InputError(
            f"--out {out}: the page and the markdown need different names; end it in .html"
        )
    shows_texts = len(runs) > 1  # of the questions that runs answer differently
    for sentence in missing_texts(runs) if shows_texts else ():
        print(f"note: {sentence}")
    report = build_report(runs)
    for path, text in ((out, report.html()), (markdown, report.markdown())):
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    print(f"written: {out} ({out.stat().st_size:,} bytes), {markdown}")
    if shows_texts:
        print("Both contain text of the data set: check its licence before you publish them.")


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
            sections = error_analysis(run, direct, expanded, run.marking)
        except InputError as error:
            parts.append(f"{run.label}: no error analysis ({error}).")
            continue
        against = [f"without expansion: {direct.label}"] if direct else []
        against += [f"always expanded: {expanded.label}"] if expanded else []
        name = run.label + (f" ({'; '.join(against)})" if against else "")
        folds: list[Part] = []
        for fold in sections:
            tables = any(isinstance(part, Table) for part in fold.parts)
            folds.append(fold if tables else " ".join([f"{fold.title}:", *map(str, fold.parts)]))
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
        return Block("differences", heading, [f"Not compared: {reason}." for reason in reasons]), []
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


def _forest(name: str, rows: Sequence[Row], runs: Sequence[ReportedRun]) -> Chart:
    types = types_of(runs)
    drawn = [
        (
            f"{type_name(row.type, types)}, n = {row.n}",
            [None, *(comparison.difference for comparison in row.contrasts)],
        )
        for row in rows
    ]
    caption = f"{name}: difference to {runs[0].label}"
    looks = looks_of(runs)
    svg = dots(caption, drawn, looks, "difference")
    return Chart(caption, svg, table(rows, runs), looks[1:])
