"""`python -m eval compare RUN RUN ...`: which run is better, on what, and how certain that is."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.analyse.compare.comparable import best_first, compared, notes, title
from eval.cli import add_runs, add_wide, check_seed_and_out, code_of, parser, writing_into
from eval.metrics.stats.interval import scope
from eval.records.files import write_text
from eval.records.run import Run, load_runs
from eval.rendering import contrasts
from eval.rendering.blocks import Table
from eval.rendering.page import page_markdown
from eval.rendering.palette import Look, looks
from eval.rendering.plots import WIDTH, figure, files_of
from eval.rendering.tables import type_name
from eval.rendering.terminal import sentence
from eval.summary.contrast import NOT_SHOWN, Row
from eval.summary.measures import UNANSWERED, types_of
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Panel = tuple[str, Sequence[Row]]  # title and rows
_LINE = 14  # characters of a line below the heat map


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    command = parser(
        "compare",
        "Compare runs with the first one, paired by question: differences with intervals, p "
        "values adjusted for the number of comparisons, and a verdict in words.",
        epilog="Is graph_expand better than vector_only on multi-hop? "
        "python -m eval compare VECTOR_ONLY_RUN GRAPH_EXPAND_RUN --type multi_hop",
    )
    add_runs(command, compared=True)
    add = command.add_argument
    scores = (
        "f1, f1_mem0, bleu1, judge, evidence_recall, abstained or another score of the records, or "
        "a measure of the rankings, as recall_any@5, ndcg@10 or session_recall@10, or what a "
        "question takes, compared by ratio: context_tokens, answer_tokens, input_tokens, "
        "output_tokens, cost_usd, judge_cost_usd, retrieve_ms, answer_ms, total_ms, each also by "
        "percentile, as total_ms_p95; repeatable "
        "(default: the first run's F1, the judge's verdicts if all runs have them, abstention, and "
        "evidence recall; "
        f"{' and '.join(UNANSWERED)} where a run has no answers, of sessions if a run ranked these)"
    )
    add("--score", action="append", default=[], metavar="NAME", help=scores)
    add("--type", metavar="TYPE", help="compare on this question type only, as multi_hop")
    which = "the reference: the first run, the best by the first score, or all: every pair of runs"
    add("--against", choices=("first", "best", "all"), default="first", help=which)
    add("--seed", type=int, default=0, help="seed of the resampling (default: 0)")
    files = "also write compare.md, .csv, .tex, and forest and heatmap as .png and .svg there"
    add("--out", type=Path, metavar="FOLDER", help=files)
    add("--force", action="store_true", help="compare runs despite objections, which are printed")
    add_wide(command)
    return code_of(lambda: _compare(command.parse_args(arguments)))


def _compare(options: argparse.Namespace) -> None:
    check_seed_and_out(options)
    if len(options.runs) < 2:
        raise InputError("RUN: one run; name two or more to compare")
    if options.out is not None and options.against == "all":
        raise InputError("--out: writes differences to one run; use --against first or best")
    runs = load_runs(options.runs, complete=False)
    result = compared(runs, options.score, options.type)
    if options.against != "first" and not result.against:
        runs = best_first(runs, result, options.type)
        result = compared(runs, options.score, options.type)
    if result.against and not options.force:
        raise InputError("; ".join(result.against) + "; or use --force to compare anyway")
    tables = result.tables(options.seed)
    if not any(tables):
        labels = ", ".join(run.label for run in runs)
        where = f" of {options.type}" if options.type else ""
        raise InputError(f"{labels}: no question{where} has a score in every run")
    warnings = [f"forced: {objection}" for objection in result.against]
    warnings += notes(runs, result.counted)
    for run in runs:
        print(f"{run.label}: {run.folder}")
    for warning in warnings:
        print(sentence(f"note: {warning}"))
    if options.against == "all":
        type_ = options.type or OVERALL
        of_pairs = result.pairs(len(runs), type_, options.seed)  # the best run is the first
        for rows in of_pairs:
            print(f"\n{rows[0].key}, {type_name(type_, types_of(runs))}")
            print(contrasts.pairs(rows, runs).text())
        print("\n" + sentence(contrasts.method(of_pairs, runs, "its reference")))
        return
    titled = [(title(m), rows) for (m, _), rows in zip(result.counted, tables, strict=True) if rows]
    for name, rows in titled:
        print(f"\n{name}\n{contrasts.table(rows, runs).text()}")
    how = contrasts.method(tables, runs, extra=result.extra)
    print("\n" + sentence(how))
    if options.out is not None:
        names = write(options.out, titled, runs, warnings, how)
        print(f"written to {options.out}: {', '.join(names)}")
    print()
    print("\n".join(map(sentence, contrasts.conclusions(tables, runs))))


def write(
    folder: Path, titled: Sequence[Panel], runs: Sequence[Run], warnings: Sequence[str], how: str
) -> list[str]:
    """Write tables (title and rows) and charts into `folder`; returns the names of the files.
    `how`: how they were computed.

    Raises InputError if the folder cannot be written.
    """
    tables = [rows for _, rows in titled]
    of_latex = []
    for name, rows in titled:
        over = scope(row.clusters for row in rows)
        caption = f"{name}: mean and {_kind(rows)} from {runs[0].label}, 95% intervals {over}"
        of_latex.append(contrasts.table(rows, runs).latex(caption))
    named = [[run.label, run.manifest["run_id"], run.manifest["dataset"]] for run in runs]
    texts = {
        "compare.md": page_markdown(
            "compare.md.j2",
            "eval.analyse.compare",
            runs=runs,
            conclusions=contrasts.conclusions(tables, runs),
            named=Table(["run", "id", "data"], named),
            warnings=warnings,
            titled=[(name, contrasts.table(rows, runs)) for name, rows in titled],
            how=how,
        ),
        "compare.csv": contrasts.comma_separated(tables, runs),
        "compare.tex": "\n".join(of_latex),
    }
    with writing_into(folder):
        for name, text in texts.items():
            write_text(folder / name, text)
        forest(titled, runs, folder / "forest")
        heatmap(titled, runs, folder / "heatmap")
    return [*texts, *(name for chart in ("forest", "heatmap") for name in files_of(Path(chart)))]


def _kind(rows: Sequence[Row]) -> str:
    """Return what the contrasts of a measure are called."""
    return "difference" if all(row.quantity is None for row in rows) else "change"


def forest(panels: Sequence[Panel], runs: Sequence[Run], path: Path) -> None:
    """Write a forest plot of differences to the first run: a panel per measure, a line per type and
    run. A hollow mark is a difference that is not shown to exist.
    """
    others = looks([run.label for run in runs], [run.strategy for run in runs])[1:]
    heights = [0.7 + 0.24 * len(rows) * (len(others) + 1) for _, rows in panels]
    with figure(path, sum(heights) + 0.7) as drawn:
        grid = drawn.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for (title, rows), axes in zip(panels, grid[:, 0], strict=True):
            _forest(axes, rows, runs, others)
            axes.set_title(title)
        over = scope(row.clusters for _, rows in panels for row in rows)
        kinds = " or ".join(sorted({_kind(rows) for _, rows in panels}))
        label = f"{kinds} from {runs[0].label}, 95% interval {over}; hollow: no difference shown"
        grid[-1, 0].set_xlabel(label, wrap=True)


def _forest(axes: Axes, rows: Sequence[Row], runs: Sequence[Run], others: Sequence[Look]) -> None:
    """Draw the rows of a measure, the runs of each type below its name."""
    axes.axvline(0, color="black", linewidth=1)
    differences = [contrast.difference for row in rows for contrast in row.contrasts]
    ends = [abs(end) for gap in differences for end in (gap.value, gap.low, gap.high)]
    edge = 1.08 * max((end for end in ends if not isnan(end)), default=0.0) or 0.01
    ticks: dict[float, str] = {}
    for number, (row, name) in enumerate(zip(rows, _labels(rows, runs), strict=True)):
        top = number * (len(others) + 1)
        ticks[top] = f"{name} "
        for i, (result, look) in enumerate(zip(row.contrasts, others, strict=True), 1):
            gap, ticks[top + i] = result.difference, look.name
            axes.plot([gap.low, gap.high], [top + i] * 2, color=look.hex)
            shown = result.verdict != NOT_SHOWN
            face: dict[str, Any] = {"mfc": look.hex if shown else "white", "mec": look.hex}
            axes.plot(gap.value, top + i, look.symbol, ms=look.size, markeredgewidth=1.2, **face)
            style: dict[str, Any] = {"va": "center", "weight": "bold" if shown else "normal"}
            axes.text(
                edge * 1.03, top + i, contrasts.difference_text(row, result), fontsize=8.5, **style
            )
    axes.set(xlim=(-edge, edge), ylim=(max(ticks) + 0.6, -0.6))
    axes.set_yticks(list(ticks), list(ticks.values()))
    for label in axes.get_yticklabels()[:: len(others) + 1]:
        label.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _labels(rows: Sequence[Row], runs: Sequence[Run]) -> list[str]:
    types = types_of(runs)
    return [f"{type_name(row.type, types)}, n = {row.n:,}" for row in rows]


def heatmap(panels: Sequence[Panel], runs: Sequence[Run], path: Path) -> None:
    """Write a heat map of means by type and run: a panel per measure, light is high."""
    heights = [0.8 + 0.42 * len(rows) for _, rows in panels]
    width = max(WIDTH, 2.6 + 1.1 * len(runs))
    with figure(path, sum(heights) + 0.8, width) as drawn:
        grid = drawn.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for (title, rows), axes in zip(panels, grid[:, 0], strict=True):
            means = [[mean.value for mean in row.means] for row in rows]
            top = max(map(max, means)) or 1.0
            axes.imshow(means, cmap="cividis", vmin=0, vmax=top, aspect="auto")
            for y, row in enumerate(rows):
                for x, mean in enumerate(row.means):
                    colour = "black" if mean.value > 0.55 * top else "white"
                    text = contrasts.mean_text(row, x).replace(" [", "\n[")
                    axes.text(x, y, text, ha="center", va="center", color=colour, fontsize=8)
            axes.set_xticks(range(len(runs)), [_broken(run.label) for run in runs])
            axes.set_yticks(range(len(rows)), _labels(rows, runs))
            axes.tick_params(length=0)
            axes.grid(visible=False)
            axes.spines[:].set_visible(False)
            axes.set_title(title, wrap=True)


def _broken(label: str) -> str:
    """Return a label in lines of at most 14 characters, as far as it has underscores or spaces."""
    lines = [""]
    for word in re.findall(r"[^_ ]+[_ ]?", label):
        if len(lines[-1] + word) > _LINE and lines[-1]:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)
