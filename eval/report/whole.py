"""The whole report of one run or of several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from eval.rendering.blocks import Block, Part, Verbatim
from eval.rendering.markdown import report_markdown
from eval.rendering.page import page
from eval.rendering.section import Table
from eval.report.changes import changes
from eval.report.contrasted import differences
from eval.report.judging import judging
from eval.report.latencies import latencies
from eval.report.lost import lost
from eval.report.money import money
from eval.report.outcome import headline, types
from eval.report.runs import Reported
from eval.report.tradeoffs import tradeoffs


@dataclass(frozen=True, slots=True)
class Report:
    """A title and blocks."""

    title: str
    blocks: Sequence[Block]

    def html(self) -> str:
        """One page that needs nothing else."""
        return page(self.title, self.blocks)

    def markdown(self) -> str:
        """The same without pictures."""
        return report_markdown(self.title, self.blocks)


def whole(runs: Sequence[Reported]) -> Report:
    """The report of `runs`, the first of which the others are compared with."""
    compared, found = differences([run.run for run in runs], runs[0].run.seed)
    blocks = [
        headline(runs, found),
        types(runs),
        judging(runs),
        compared,
        tradeoffs(runs),
        latencies(runs),
        lost(runs),
        money(runs),
        changes(runs),
        _manifests(runs),
    ]
    names = [run.label for run in runs]
    datasets = dict.fromkeys(str(run.manifest["dataset"]) for run in runs)
    title = f"{names[0]} on {', '.join(datasets)}"
    if len(runs) > 1:
        title = f"{', '.join(names[1:])} against {title}"
    return Report(title, [block for block in blocks if block is not None])


def _manifests(runs: Sequence[Reported]) -> Block:
    rows = [
        [
            run.label,
            str(run.manifest["run_id"]),
            str(run.manifest.get("started") or "-"),
            str((run.manifest.get("git") or {}).get("commit", "-"))[:12],
            str(run.manifest.get("command") or "-"),
        ]
        for run in runs
    ]
    parts: list[Part] = [Table(["run", "id", "started", "commit", "command"], rows)]
    for run in runs:
        text = json.dumps(run.manifest, indent=1, ensure_ascii=False)
        parts.append(Verbatim(f"Manifest of {run.label}", text))
    return Block("manifests", "Manifests", parts)
