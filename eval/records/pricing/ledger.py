"""The live calls that a run has paid for: paid.jsonl, one line per call, written when its answer
arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eval.records.jsonl import CALLS, INGEST, LineWriter, read_lines, write_lines
from eval.records.pricing.prices import PHASES
from memsys.core.files import open_entry
from memsys.core.places import RECORDS
from memsys.core.types import Usage

PAID = "paid.jsonl"  # {"model": ..., "calls": 1, "input_tokens": ..., "output_tokens": ...}


class PaidCalls:
    """Ledger of the run in a folder, for memsys.llm.budget.CallLedger, which locks it.

    A run of an earlier version has no such file; its records replace it, in which replayed calls
    count as paid: the run may stop too early, and never too late.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing is written, and `folder` need not exist, before the first live call."""
        self._folder = folder
        self._writer: LineWriter | None = None

    @property
    def added(self) -> bool:
        """Whether this process has paid for a call."""
        return self._writer is not None

    def rows(self) -> Iterator[tuple[str, Usage]]:
        """Yield model and usage of each paid call; raises InputError on a damaged file."""
        older = _is_older(self._folder)
        for row in self._older() if older else read_lines(self._folder / PAID, torn=True):
            counts = {name: count for name, count in row.items() if name != "model"}
            yield row["model"], Usage(**counts)

    def note(self, model: str, usage: Usage) -> None:
        """Append the line of one call and flush it."""
        if self._writer is None:
            if _is_older(self._folder):
                write_lines(self._folder / PAID, list(self._older()))
            self._writer = LineWriter(self._folder / PAID)
        self._writer.write({"model": model, **asdict(usage)})

    def _older(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each model of each record, for runs of earlier versions."""
        usages = [line["usage"] or {} for line in read_lines(self._folder / INGEST, torn=True)]
        for record in read_lines(self._folder / RECORDS, torn=True):
            usages += [(record["usage"] or {}).get(phase, {}) for phase in PHASES]
        for usage in usages:
            for model, counts in usage.get("by_model", {}).items():
                yield {"model": model, **counts}


def begin(folder: Path) -> None:
    """Create paid.jsonl before calls.jsonl, which shows that the ledger is complete."""
    if not (folder / CALLS).exists():
        open_entry(folder / PAID, "ab").close()


def _is_older(folder: Path) -> bool:
    return (folder / CALLS).exists() and not (folder / PAID).exists()
