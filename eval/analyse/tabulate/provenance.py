"""Where the tables of an experiment are from: its commands, commits and days."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from eval.analyse.tabulate.grid import Grid
from eval.records.schema import Manifest


def heading(grid: Grid) -> list[str]:
    """Return name, title and commands of an experiment, a part of the page each."""
    return [
        f"# {grid.name}",
        f"{grid.title}.",
        f"    {grid.command}\n    python -m eval tabulate {shlex.join([grid.name])}",
    ]


def made(manifests: Sequence[Manifest]) -> str:
    """Return the days and commits of runs, as `2026-11-22, commit 585bff7933 with changes`."""
    states = {(one["git"] or {}).get("commit", "unknown")[:10] for one in manifests}
    dirty = any((one["git"] or {}).get("dirty") for one in manifests)
    days = sorted({one["started"][:10] for one in manifests})
    changed = " with changes" if dirty else ""
    return f"{', '.join(days)}, commit {', '.join(sorted(states))}{changed}"
