"""The live calls that a run has paid for: paid.jsonl, one line per call, written when its answer
arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from eval.records.jsonl import LineWriter, read_lines
from memsys.core.types import Usage

PAID = "paid.jsonl"  # {"model": ..., "calls": 1, "input_tokens": ..., "output_tokens": ...}


class PaidCalls:
    """Ledger of the run in a folder, for memsys.llm.budget.CallLedger, which locks it."""

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
        for row in read_lines(self._folder / PAID, torn=True):
            counts = {name: count for name, count in row.items() if name != "model"}
            yield row["model"], Usage(**counts)

    def note(self, model: str, usage: Usage) -> None:
        """Append the line of one call and flush it."""
        if self._writer is None:
            self._writer = LineWriter(self._folder / PAID)
        self._writer.write({"model": model, **asdict(usage)})
