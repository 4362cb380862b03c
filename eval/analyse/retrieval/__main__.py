"""`python -m eval retrieval RUN [RUN ...]`: recall, nDCG, MRR and others of rankings, by type."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from eval.analyse.retrieval.evaluation import evaluate
from eval.analyse.retrieval.measured import KINDS, Request
from eval.analyse.retrieval.write import write
from eval.answers.ranking_files import LAYOUTS, RankingFile, read_rankings
from eval.cli import add_wide, check_seed_and_out, code_of, parser
from eval.datasets.reload import NAMES, config_of, load_dataset_of
from eval.imports.rankings.import_run import run_of, write_import
from eval.imports.rankings.imports import matched
from eval.metrics.retrieval.registry import UNITS, parse
from eval.records.answer_key_views import ORIGINAL
from eval.records.folder import run_id
from eval.records.run import load_runs
from eval.records.schema import Manifest
from eval.rendering.blocks import as_text
from eval.summary.closing import ENDINGS, check_empty, system_name
from memsys.core.errors import InputError
from memsys.core.files import is_there
from memsys.core.places import RUNS, find_run
from memsys.core.yaml_text import load_table


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code: 2 for wrong input, 130 after Ctrl-C."""
    texts = load_table(Path(__file__).with_name("texts.yaml"))
    command = parser("retrieval", texts["help"])
    add = command.add_argument
    add("runs", nargs="+", type=Path, metavar="RUN", help=texts["runs"])
    add("--unit", choices=UNITS, help=texts["unit"])
    add("--kind", choices=KINDS, help=texts["kind"])
    add("--at", type=_cutoffs, metavar="N[,N...]", help=texts["at"])
    add("--type", metavar="TYPE", help=texts["type"])
    add("--measure", action="append", default=[], metavar="NAME", help=texts["measure"])
    add("--all", action="store_true", help=texts["all"])
    add("--seed", type=int, default=0, help=texts["seed"])
    add("--out", type=Path, metavar="FOLDER", help=texts["out"])
    add_wide(command)
    add = command.add_argument_group("of a FILE").add_argument
    add("--dataset", metavar=NAMES, help=texts["dataset"])
    add("--name", help=texts["name"])
    add("--depth", type=int, metavar="N", help=texts["depth"])
    add("--partial", action="store_true", default=None, help=texts["partial"])
    add("--run-folder", type=Path, metavar="FOLDER", help=texts["run_folder"])
    return code_of(lambda: _retrieval(command.parse_args(arguments)))


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        found = (0,)
    if found[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.60}: give whole numbers above 0, as 5,10,20")
    return found


def _retrieval(options: argparse.Namespace) -> None:
    check_seed_and_out(options)
    named = [f"--{name}" for name in ("unit", "kind", "at") if getattr(options, name)]
    if options.measure and (named or options.all):
        raise InputError(
            f"--measure: names unit, kind and cutoff itself; leave out {[*named, '--all'][0]}"
        )
    measures = tuple(dict.fromkeys(map(parse, options.measure)))
    chosen = options.unit, options.kind, options.at, options.type
    request = Request(*chosen, measures, every=options.all, seed=options.seed)
    found = evaluate(load_runs(run_folders(options, request), complete=False), request)
    print(as_text(found.sections))
    if options.out is not None:
        print(f"\nwritten to {options.out}: {', '.join(write(options.out, found, request))}")


_DATASET = "locomo"
_OPTIONS = ("dataset", "name", "depth", "run_folder", "partial")


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
    given = [name for name in _OPTIONS if getattr(options, name) is not None]
    if given and not files:
        raise InputError(f"--{given[0].replace('_', '-')}: is for a FILE, and none is named")
    if len(files) > 1 and (options.name is not None or options.run_folder is not None):
        raise InputError("--name and --run-folder are for one FILE; give each its own command")
    if not files:
        return paths
    config = config_of(options.dataset or _DATASET, ORIGINAL, None)
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


if __name__ == "__main__":
    sys.exit(main())
