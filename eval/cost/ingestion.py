"""What it took a run to write its memory, what is stored, and the scores that it buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.pricing.usage import Phase, Spending, spending
from eval.records.run import Run
from eval.records.schema import Cell, IngestLine

UNITS = ("memories", "tokens", "nodes", "edges", "bytes")  # of a store; tokens are o200k


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Remembering of a run, the building of its indexes included; None: not known.

    `seconds`: of all sessions, where calls are replayed those they took when live; waiting for a
    place and attempts that failed are in none. `store`: by unit, what a conversation holds at its
    end, the mean; a unit that is not told of every conversation is left out. `cell`: the summary's
    of types 1 to 4.
    """

    spending: Spending
    label: str
    sessions: int | None
    seconds: float | None
    replayed: bool
    store: Mapping[str, float]
    cell: Mapping[str, Any]

    @property
    def used(self) -> Phase:
        """Calls, tokens and dollars of all sessions."""
        return self.spending.phases["ingest"]

    def a_session(self, value: float | None) -> float | None:
        """A total over the sessions."""
        return value / self.sessions if value is not None and self.sessions else None

    def a_conversation(self, value: float | None) -> float | None:
        """A total over the conversations."""
        return value / self.spending.conversations if value is not None else None


def ingestion(run: Run, cell: Cell) -> Ingestion:
    """Cost, duration and size of the ingestion of `run`; `cell`: its summary's of types 1 to 4."""
    lines = run.ingests
    sessions = {(line["conversation"], line["session"]) for line in lines if line["session"]}
    return Ingestion(
        spending(run),
        run.label,
        len(sessions) or None,
        sum(line["latency_ms"] for line in lines) / 1000 if lines else None,
        any(line["latency_source"] == "recorded" for line in lines),
        _store(lines),
        cell,
    )


def _store(lines: Sequence[IngestLine]) -> dict[str, float]:
    """Mean size of a conversation's store by unit; without units unknown for some conversation."""
    conversations = {line["conversation"] for line in lines}
    sizes = {line["conversation"]: line["store"] for line in lines if line.get("store")}
    return {
        unit: sum(size[unit] for size in sizes.values()) / len(sizes)
        for unit in UNITS
        if sizes and sizes.keys() == conversations and all(unit in s for s in sizes.values())
    }
