"""`python -m eval retrieval RUN [RUN ...]`: recall, nDCG, MRR and others of rankings, by type."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.analyse.retrieval.evaluation import Evaluation, evaluate
from eval.analyse.retrieval.measured import (
    KINDS,
    Point,
    Request,
    about,
    counted,
    csv_rows,
    definitions,
    measured,
    points,
    set_measures,
    side_by_side,
)
from eval.answers.ranking_files import LAYOUTS, RankingFile, read_rankings
from eval.cli import add_wide, check_seed_and_out, code_of, parser, writing_into
from eval.datasets.reload import NAMES, config_of, load_dataset_of
from eval.imports.rankings.import_run import run_of, write_import
from eval.imports.rankings.imports import matched
from eval.metrics.retrieval.registry import UNITS, all_measures, parse
from eval.records.answer_key_views import ORIGINAL
from eval.records.comma_separated import text_of
from eval.records.files import write_text
from eval.records.folder import run_id
from eval.records.run import load_runs
from eval.records.schema import Manifest
from eval.rendering.blocks import Section, as_text
from eval.rendering.contrasts import comma_separated
from eval.rendering.page import page_markdown
from eval.rendering.palette import GREY, Look, looks
from eval.rendering.plots import ROUND, figure, files_of, log_axis
from eval.rendering.tables import type_name
from eval.summary.closing import ENDINGS, check_empty, system_name
from eval.summary.measures import types_of
from memsys.core.errors import InputError
from memsys.core.files import is_there
from memsys.core.places import RUNS, find_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_FILES = ("dataset", "name", "depth", "run_folder", "partial")  # options
_MEASURES = (
    *("run", "run_id", "order", "type", "measure", "unit", "metric", "cutoff", "tokens", "turns"),
    *("n", "conversations", "value", "low", "high"),
)
_CURVE = ("run", "run_id", "type", "unit", "kind", "cutoff")
_MEAN = ("recall", "low", "high", "n", "conversations")
# Name, horizontal axis and meaning of the open marks of each chart, and the place of a point.
_CHARTS: tuple[tuple[str, str, str, Callable[[Point], float | None]], ...] = (
    ("recall_at_k", "cutoff k (log scale)", "", lambda point: None if point.within else point.at),
    (
        *("recall_by_tokens", "tokens of the context (log scale)", "within a budget of tokens"),
        lambda point: point.at if point.within else point.tokens,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code: 2 for wrong input, 130 after Ctrl-C."""
    command = parser(
        "retrieval",
        "Measure the rankings of runs against the evidence of their questions, by question type "
        "and with intervals; further runs are compared with the first. A FILE is a ranking that "
        "another system made: it is scored and becomes a run folder. docs/retrieval.md explains "
        "the measures.",
    )
    add = command.add_argument
    runs = "run folder, id under results/runs or a part of it, or last; or a FILE of rankings"
    add("runs", nargs="+", type=Path, metavar="RUN", help=runs)
    units = "what is ranked (default: turn, or session if a run ranked sessions; with --all: both)"
    add("--unit", choices=UNITS, help=units)
    kinds = "recall: the fraction of the evidence, any of it, or all of it (default: all three)"
    add("--kind", choices=KINDS, help=kinds)
    cutoffs = "cutoffs, as 5,10,20 (default: 10; with --all: 5,10)"
    add("--at", type=_cutoffs, metavar="N[,N...]", help=cutoffs)
    add("--type", metavar="TYPE", help="this question type only, as multi_hop")
    measure = "measure such as recall@5, session_ndcg@10 or recall@512tokens; repeatable"
    add("--measure", action="append", default=[], metavar="NAME", help=measure)
    add("--all", action="store_true", help="every definition, side by side")
    add("--seed", type=int, default=0, help="seed of the resampling (default: 0)")
    files = "also write there retrieval.md, retrieval.csv with every measure, and the curves"
    add("--out", type=Path, metavar="FOLDER", help=files)
    add_wide(command)
    add = command.add_argument_group("of a FILE").add_argument
    questions = "the questions whose rankings it contains (default: locomo)"
    add("--dataset", metavar=NAMES, help=questions)
    add("--name", help="system that ranked (default: the file's name); one FILE only")
    depth = "rankings were cut at N ids, so that shorter ones are complete (default: unknown)"
    add("--depth", type=int, metavar="N", help=depth)
    partly = "score a FILE of which most rankings are of no question"
    add("--partial", action="store_true", default=None, help=partly)
    folder = "run folder (default: results/runs/<time>_<name>); one FILE only"
    add("--run-folder", type=Path, metavar="FOLDER", help=folder)
    return code_of(lambda: _retrieval(command.parse_args(arguments)))


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        cutoffs = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        cutoffs = (0,)
    if cutoffs[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.60}: give whole numbers above 0, as 5,10,20")
    return cutoffs


def _retrieval(options: argparse.Namespace) -> None:
    check_seed_and_out(options)
    named = [f"--{name}" for name in ("unit", "kind", "at") if getattr(options, name)]
    if options.measure and (named or options.all):
        raise InputError(
            f"--measure: names unit, kind and cutoff itself; leave out {[*named, '--all'][0]}"
        )
    measures = tuple(dict.fromkeys(map(parse, options.measure)))
    fields = options.unit, options.kind, options.at, options.type
    request = Request(*fields, measures, every=options.all, seed=options.seed)
    results = evaluate(load_runs(run_folders(options, request), complete=False), request)
    print(as_text(results.sections))
    if options.out is not None:
        print(f"\nwritten to {options.out}: {', '.join(write(options.out, results, request))}")


def run_folders(options: argparse.Namespace, request: Request) -> list[Path]:
    """Return the run folder of each of `options.runs`; a FILE becomes one, and its account is
    printed.

    All files are read, matched and checked for what `request` asks before a folder is written.
    Raises InputError where that fails.
    """
    paths = [
        given if is_there(given) or given.suffix in ENDINGS else find_run(given)
        for given in options.runs
    ]
    files = [path for path in paths if not path.is_dir()]
    given = [name for name in _OF_FILES if getattr(options, name) is not None]
    if given and not files:
        raise InputError(f"--{given[0].replace('_', '-')}: is for a FILE, and none is named")
    if len(files) > 1 and (options.name is not None or options.run_folder is not None):
        raise InputError("--name and --run-folder are for one FILE; give each its own command")
    if not files:
        return paths
    config = config_of(options.dataset or "locomo", ORIGINAL, None)
    dataset = load_dataset_of(config)
    flags = {"dataset": options.dataset, "name": options.name, "depth": options.depth}
    set_ = {f"--{flag}": str(value) for flag, value in flags.items() if value is not None}
    ready: dict[Path, tuple[Path, RankingFile, Callable[[], Manifest]]] = {}
    for path in files:
        file, name = read_rankings(path), system_name(options.name, path)
        partly = bool(options.partial)
        source = matched(file.rows, name, dataset, path.name, options.depth, partial=partly)
        evaluate([run_of(source, config)], request)
        folder = options.run_folder or RUNS / run_id(name)
        check_empty(folder, "--run-folder")
        command = ["eval", "retrieval", str(path), *chain(*set_.items()), *["--partial"] * partly]
        ready[path] = folder, file, partial(write_import, source, file, folder, config, command)
    for path, (folder, file, write_folder) in ready.items():
        rows = len(file.rows)
        manifest = write_folder()
        print(f"{path}: {LAYOUTS[file.layout]}, {rows:,} ranking{'s' * (rows != 1)}")
        print("\n".join(manifest["matching"]["sentences"]))
        print(f"Run folder: {folder}\n")
    return [ready[path][0] if path in ready else path for path in paths]


def write(folder: Path, results: Evaluation, request: Request) -> list[str]:
    """Write all measures by type, their curves and the differences into `folder`; returns the names
    of the files. Raises InputError if the folder cannot be written.
    """
    every = [measure for measure in all_measures() if request.unit in {None, measure.unit}]
    defined = definitions(request.unit, request.kind, request.cutoffs)
    asked = list(dict.fromkeys([*every, *defined, *request.measures]))
    ranked = [measured(run, asked, request.seed) for run in results.ranked]
    of_sets = [measure for unit in UNITS for measure in set_measures(unit)]
    selected = [measured(run, of_sets, request.seed) for run in results.selected]
    kind = request.kind or "fraction"
    of_runs = (points(run, results.unit, kind, request.seed) for run in results.ranked)
    curves = list(chain(*of_runs))
    lines = [
        *(row for run in ranked for row in csv_rows(run, asked, "ranked")),
        *(row for run in selected for row in csv_rows(run, of_sets, "selected")),
    ]
    texts = {"retrieval.csv": text_of(_MEASURES, lines)}
    if results.differences:
        texts["differences.csv"] = comma_separated(results.differences, results.ranked)
    if curves:
        texts |= _curve_tables(curves, results.unit, kind)
    with writing_into(folder):
        charts = list(_draw(curves, results, kind, folder)) if curves else []
        sections = list(results.sections)
        for type_ in results.types:
            if any(run.n(type_) for run in ranked):
                title = f"All definitions: {type_name(type_, types_of(results.ranked))}"
                rows = side_by_side(ranked, defined, [type_])
                sections.append(Section(title, [about(ranked, [type_]), rows]))
        labels = ", ".join(run.label for run in (*results.ranked, *results.selected))
        page = page_markdown("report.md.j2", title=f"Rankings: {labels}", blocks=sections)
        pictures = [f"![{name.replace('_', ' ')}]({name}.png)" for name in charts]
        texts["retrieval.md"] = "\n".join([page, *pictures, ""])
        for name, text in texts.items():
            write_text(folder / name, text)
    return sorted([*texts, *(name for chart in charts for name in files_of(folder / chart))])


def _curve_tables(curves: Sequence[Point], unit: str, kind: str) -> dict[str, str]:
    """Return recall_at_k.csv and recall_by_tokens.csv by their names."""
    lines = [
        {
            **{"run": point.run.label, "run_id": point.run.manifest["run_id"], "type": point.type},
            **{"unit": unit, "kind": kind, "context_tokens": point.tokens},
            **{"budget" if point.within else "cutoff": point.at, **counted(point.recall, "recall")},
        }
        for point in curves
    ]
    by_rank = [line for line in lines if "cutoff" in line]
    return {
        "recall_at_k.csv": text_of((*_CURVE, *_MEAN), by_rank),
        "recall_by_tokens.csv": text_of((*_CURVE, "budget", "context_tokens", *_MEAN), lines),
    }


def _draw(curves: Sequence[Point], results: Evaluation, kind: str, folder: Path) -> Iterator[str]:
    """Draw both charts of the last type of the tables, a curve with its interval as a band for each
    run, recall within budgets as open marks; yield their names.
    """
    type_ = results.types[-1]
    title = f"Recall of evidence {results.unit}s, {type_name(type_, types_of(results.ranked))}"
    up = f"recall of {results.unit}s ({kind}), 95% interval"
    for name, across, marks, place in _CHARTS:
        lines = {}
        for run in results.ranked:
            of_run = [point for point in curves if point.run is run and point.type == type_]
            own = [(at, point) for point in of_run if (at := place(point))]
            if not all(point.within for _, point in own):
                lines[run.label] = own
        if not lines:
            continue
        with figure(folder / name, 5.0) as drawn:
            axes = drawn.subplots()
            for (label, own), look in zip(lines.items(), looks([*lines]), strict=True):
                _curve(axes, label, own, look)
            places = [at for own in lines.values() for at, _ in own]
            log_axis(axes, [tick for tick in ROUND if min(places) <= tick <= max(places)])
            axes.set(xlabel=across, ylabel=up, ylim=(0, 1.02), title=title)
            if marks:
                axes.plot([], [], "o", label=marks, **_hollow(GREY))
            axes.legend(loc="lower right")
        yield name


def _curve(axes: Axes, label: str, points: Sequence[tuple[float, Point]], look: Look) -> None:
    """Draw a curve with its intervals as a band, and what is within a budget as hollow marks."""
    curve = [(at, point.recall) for at, point in points if not point.within]
    across, means = [at for at, _ in curve], [mean.value for _, mean in curve]
    lows, highs = ([getattr(mean, end) for _, mean in curve] for end in ("low", "high"))
    axes.plot(across, means, color=look.hex, marker=look.symbol, ms=look.size, label=label)
    axes.fill_between(across, lows, highs, color=look.hex, alpha=0.1, lw=0)
    within = [(at, point.recall.value) for at, point in points if point.within]
    budgets, recalls = zip(*within, strict=True) if within else ((), ())
    style: dict[str, Any] = {"linestyle": "none", "marker": look.symbol, "markeredgewidth": 1.2}
    axes.plot(budgets, recalls, **style, **_hollow(look.hex))


def _hollow(colour: str) -> dict[str, Any]:
    return {"markerfacecolor": "none", "markeredgecolor": colour, "markersize": 9}
