"""`python -m eval.cost RUN [RUN ...]`: what runs used and cost, by phase and question, and what it
took to write their memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of
from eval.cost import tables as cost_tables
from eval.cost.ingestion import ingestion
from eval.pricing.usage import spending
from eval.records.run import Run, load_run
from eval.rendering.tables import plain
from eval.summary.summarise import OVERALL, summarise
from memsys.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the costs; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _show(options.runs, writing=options.writing))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.cost",
        description="Tokens and dollars of runs by phase, per question, and after how many "
        "questions of a conversation remembering has paid for itself against the full_context run "
        "among them. Tokens are the endpoints' own, prices those of each run's manifest.",
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run folder, or an id under results/runs"
    )
    parser.add_argument(
        "--writing",
        action="store_true",
        help="what memory costs to write by session and conversation, what is stored in the end, "
        "and the scores beside it",
    )
    return parser


def _show(names: Sequence[str], *, writing: bool) -> None:
    if len(set(names)) < len(names):
        raise InputError("RUN: one run is named twice")
    if writing:
        _show_writing(names)
        return
    runs = [spending(run) for run in _loaded(names)]
    for run in runs:
        print(f"{run.title}\n{run.about}\n")
        print(plain(*cost_tables.by_phase(run)) + "\n")
    print(plain(*cost_tables.per_question(runs)))
    print(
        "\nSystem: ingest, retrieval and answers; the judge's is apart. A question: retrieval and "
        "answer.\nReplayed calls count at what they cost when live; attempts that failed are in no "
        "figure.\nRepaid after: questions a conversation until ingest and questions cost less than "
        "full_context."
    )


def _loaded(names: Sequence[str]) -> list[Run]:
    return [load_run(name, label=Path(name).name, complete=False, answered=False) for name in names]


def _show_writing(names: Sequence[str]) -> None:
    runs = []
    for one in _loaded(names):
        summary = summarise(list(one.records.values()), one.manifest, one.seed)
        runs.append(ingestion(one, summary["by_type"][OVERALL]))
    for run in runs:
        print(f"{run.spending.title}\n{run.spending.about}\n")
    print(plain(*cost_tables.writing(runs)))
    print(f"\n{cost_tables.WRITING}")


if __name__ == "__main__":
    sys.exit(main())
