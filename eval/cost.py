"""`python -m eval.cost RUN [RUN ...]`: what runs used and cost, by phase and question."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from eval.exits import code_of
from eval.spending import Spending, baseline_of, load_spending
from eval.tables import plain
from memsys.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the costs; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _show(options.runs))


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
    return parser


def _show(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise InputError("RUN: one run is named twice")
    runs = [load_spending(name) for name in names]
    header = ["phase", "calls", "input tokens", "output tokens", "$"]
    for run in runs:
        print(f"{run.title}\n{run.about}\n")
        rows = [
            [
                name,
                _count(phase.calls),
                _count(phase.input_tokens),
                _count(phase.output_tokens),
                _dollars(phase.usd),
            ]
            for name, phase in run.phases.items()
        ]
        print(plain(header, rows) + "\n")
    print(plain(*_per_question(runs)))
    print(
        "\nSystem: ingest, retrieval and answers; the judge's is apart. A question: retrieval and "
        "answer.\nReplayed calls count at what they cost when live; attempts that failed are in no "
        "figure.\nRepaid after: questions a conversation until ingest and questions cost less than "
        "full_context."
    )


def _per_question(runs: Sequence[Spending]) -> tuple[list[str], list[list[str]]]:
    header = [
        *("run", "questions", "input tokens a question", "output tokens a question"),
        *("$ a question", "judge $ a question", "ingest $ a conversation", "system $"),
        "repaid after",
    ]
    rows = [
        [
            run.name,
            f"{len(run.asked):,}",
            _mean(run.per_question("input_tokens")),
            _mean(run.per_question("output_tokens")),
            _dollars(run.question_usd),
            _dollars(run.judge_question_usd),
            _dollars(run.ingest_usd),
            _dollars(run.system_usd),
            _repaid(run, baseline_of(run, runs)),
        ]
        for run in runs
    ]
    return header, rows


def _repaid(run: Spending, baseline: Spending | None) -> str:
    if run.is_full_context:
        return "-"
    if baseline is None:
        return "no such run"
    after = run.repaid_against(baseline)
    if after is None:
        return "unknown"
    return "never" if after == float("inf") else f"{after:,.1f}"


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _mean(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.1f}"


def _dollars(value: float | None) -> str:
    """Four places; eight for what is below a tenth of a cent."""
    if value is None:
        return "unknown"
    return f"{value:,.4f}" if value == 0 or value >= 0.001 else f"{value:.8f}"


if __name__ == "__main__":
    sys.exit(main())
