"""What a run has paid for: `paid.jsonl`, one line a live call, written as its answer comes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eval.pricing.prices import PHASES
from eval.records.jsonl import CALLS, INGEST, RECORDS, LineWriter, read_lines, write_lines
from memsys.types import Usage

PAID = "paid.jsonl"  # {"model": ..., "calls": 1, "input_tokens": ..., "output_tokens": ...}


class PaidCalls:
    """The ledger of the run in a folder; see memsys.llm.budget.CallLedger, which locks it.

    A run of before there was such a file is taken at its records, where replayed calls count as
    paid: it may stop too early, and never too late.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing is written, and `folder` need not be there, before the first live call."""
        self._folder = folder
        self._writer: LineWriter | None = None

    def rows(self) -> Iterator[tuple[str, Usage]]:
        """Model and tokens of what was paid for. Raises InputError on a file that is damaged."""
        for row in self._older() if _is_older(self._folder) else self._lines():
            own = {name: count for name, count in row.items() if name != "model"}
            yield row["model"], Usage(**own)

    def note(self, model: str, usage: Usage) -> None:
        """Append a line, flushed to the system."""
        if self._writer is None:
            if _is_older(self._folder):
                write_lines(self._folder / PAID, list(self._older()))
            self._writer = LineWriter(self._folder / PAID)
        self._writer.write({"model": model, **asdict(usage)})

    def _lines(self) -> Iterator[dict[str, Any]]:
        return read_lines(self._folder / PAID, torn=True)

    def _older(self) -> Iterator[dict[str, Any]]:
        """A row a model of each line of the records."""
        usages = [line["usage"] or {} for line in read_lines(self._folder / INGEST, torn=True)]
        for record in read_lines(self._folder / RECORDS, torn=True):
            usages += [(record["usage"] or {}).get(phase, {}) for phase in PHASES]
        for usage in usages:
            for model, own in usage.get("by_model", {}).items():
                yield {"model": model, **own}


def begin(folder: Path) -> None:
    """Before `calls.jsonl` is begun: what is not in `paid.jsonl` from now on was not paid for."""
    if not (folder / CALLS).exists():
        (folder / PAID).touch()


def _is_older(folder: Path) -> bool:
    return (folder / CALLS).exists() and not (folder / PAID).exists()
