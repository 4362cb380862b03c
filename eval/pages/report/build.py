"""The report of one run or of several: its sections in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from eval.pages.report.changes import changes_block
from eval.pages.report.comparison import differences_block, tradeoffs_block
from eval.pages.report.costs import costs_block, latency_block
from eval.pages.report.losses import losses_block
from eval.pages.report.retrieval import retrieval_block
from eval.pages.report.runs import ReportedRun
from eval.pages.report.scores import headline_block, judges_block, types_block
from eval.rendering.blocks import Block, Part, Table, Verbatim
from eval.rendering.markdown import report_markdown
from eval.rendering.page import report_page


@dataclass(frozen=True, slots=True)
class Report:
    """A title and sections."""

    title: str
    blocks: Sequence[Block]

    def html(self) -> str:
        """Return the report as a self-contained page."""
        return report_page(self.title, self.blocks)

    def markdown(self) -> str:
        """Return the report as markdown, with tables in place of charts."""
        return report_markdown(self.title, self.blocks)


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
    rows = [
        [
            run.label,
            run.manifest["run_id"],
            run.manifest["started"],
            str((run.manifest["git"] or {}).get("commit", "-"))[:12],
            run.manifest["command"],
        ]
        for run in runs
    ]
    parts: list[Part] = [Table(["run", "id", "started", "commit", "command"], rows)]
    for run in runs:
        text = json.dumps(run.manifest, indent=1, ensure_ascii=False)
        parts.append(Verbatim(f"Manifest of {run.label}", text))
    return Block("manifests", "Manifests", parts)
