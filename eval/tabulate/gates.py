"""Gates against the oracle gate, which opens where, and only where, expansion raises recall."""

from __future__ import annotations

from collections.abc import Sequence

from eval.diagnose.gate import Case, cases
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.intervals import Sample, percent, show


def gates(
    runs: Sequence[Run], never: Run, always: Run, seed: int
) -> tuple[list[str], list[list[str]]]:
    """Header and a row a gate (types 1 to 4 with evidence), the oracle's own last.

    precision: share of the opened questions where expansion raises evidence recall. recall: share
    of these questions that were opened. harmful: share of the opened where expansion lowers it.
    """
    header = ["gate", "n", "opened", "precision", "recall", "harmful", "evidence recall"]
    lines = []
    found: list[Case] = []
    for run in runs:
        found = cases(*(_answered(one) for one in (run, never, always)))
        opened = [case for case in found if case.opened]
        wanted = [case for case in found if case.raised]
        reached = [case.expanded if case.opened else case.direct for case in found]
        lines.append(
            [
                f"`{run.label.partition('=')[2]}`",
                str(len(found)),
                percent(_of(found, [case.opened for case in found], seed).share()),
                percent(_of(opened, [case.raised for case in opened], seed).share()),
                percent(_of(wanted, [case.opened for case in wanted], seed).share()),
                percent(_of(opened, [case.lowered for case in opened], seed).share()),
                show(_of(found, reached, seed).score()),
            ]
        )
    raised = percent(_of(found, [case.raised for case in found], seed).share())
    best = show(_of(found, [max(case.direct, case.expanded) for case in found], seed).score())
    lines.append(["oracle", str(len(found)), raised, "100%", "100%", "0%", best])
    return header, lines


def _answered(run: Run) -> list[Record]:
    return [record for record in run.records.values() if record["status"] == "ok"]


def _of(found: Sequence[Case], values: Sequence[float], seed: int) -> Sample:
    return Sample.of([case.record for case in found], [float(value) for value in values], seed)
