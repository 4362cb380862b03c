"""`python -m eval.cache`: hand on the recorded answers of a run, so that others can replay it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cache.bundle import write_bundle
from eval.cache.calls import answers_of
from eval.cli import code_of
from eval.records.bundle import read_bundle
from eval.rendering.tables import plain
from memsys.errors import InputError
from memsys.llm.pricing import load_pricing
from memsys.llm.recording import CALLS, Recording
from memsys.types import Usage

_RUNS = Path("results/runs")


def main(arguments: Sequence[str] | None = None) -> int:
    """Export, import or show; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _do(options))


def _do(options: argparse.Namespace) -> None:
    if options.command == "export":
        _export(options.run, options.out, options.cache)
    elif options.command == "import":
        _import(options.bundle, options.cache)
    else:
        _stats(options.cache)


def _parser() -> argparse.ArgumentParser:
    cache = argparse.ArgumentParser(add_help=False)
    cache.add_argument(
        "--cache",
        type=Path,
        default=Path(os.environ.get("MEMSYS_CACHE", ".cache")),
        metavar="FOLDER",
        help="where answers are recorded (default: the variable MEMSYS_CACHE, else .cache)",
    )
    parser = argparse.ArgumentParser(
        prog="python -m eval.cache",
        description="Recorded answers of models. docs/models.md tells how they are made and used.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    out = commands.add_parser("export", parents=[cache], help="the answers that a run used")
    out.add_argument("run", metavar="RUN", help="a run folder, or a run id under results/runs")
    out.add_argument("--out", type=Path, required=True, metavar="BUNDLE.jsonl.gz")
    into = commands.add_parser("import", parents=[cache], help="record what a bundle holds")
    into.add_argument("bundle", type=Path, metavar="BUNDLE")
    commands.add_parser("stats", parents=[cache], help="what is recorded, by model")
    return parser


def _export(run: str, out: Path, cache: Path) -> None:
    folder = Path(run)
    if not folder.is_dir() and (_RUNS / run).is_dir():
        folder = _RUNS / run
    answers = answers_of(folder, _existing(cache))
    write_bundle(out, answers)
    print(f"{out}: {len(answers):,} answers, {out.stat().st_size:,} bytes")


def _import(bundle: Path, cache: Path) -> None:
    answers = read_bundle(bundle)
    recording = Recording(cache)
    new = recording.keep(answers)
    kept = {row.key: row.body for row in recording.find_all([answer.key for answer in answers])}
    other = sum(kept[answer.key] != answer.body for answer in answers)
    print(f"{recording.path}: {new:,} of {len(answers):,} answers are new")
    if other:
        print(
            f"{other:,} requests had another answer here already, which stays: import into an "
            "empty --cache to replay the run as it was"
        )


def _stats(cache: Path) -> None:
    recording, pricing = _existing(cache), load_pricing()
    header = ["path", "model", "answers", "input tokens", "output tokens", "cost $", "from", "to"]
    rows = []
    for path, model, count, read, written, first, last in recording.totals():
        cost = pricing.cost_usd(model, Usage(count, read, written))
        shown = "unknown" if cost is None else f"{cost:,.4f}"
        rows.append([path, model, f"{count:,}", f"{read:,}", f"{written:,}", shown, first, last])
    print(recording.path)
    print(plain(header, rows) if rows else "nothing is recorded yet")


def _existing(cache: Path) -> Recording:
    """The recording in `cache`, which only import may begin."""
    if not (cache / CALLS).is_file():
        raise InputError(f"{cache / CALLS}: nothing is recorded there; name its folder (--cache)")
    return Recording(cache)


if __name__ == "__main__":
    sys.exit(main())
