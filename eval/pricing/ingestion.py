"""What it took a run to write its memory, what is stored, and the scores that it buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.pricing.usage import Phase, Spending, load_spending
from eval.records.finished import find_folder, load_records
from eval.records.jsonl import INGEST, Record, read_lines
from eval.summary.summarise import OVERALL, summarise

UNITS = ("memories", "tokens", "nodes", "edges", "bytes")  # of a store; tokens are o200k
_NEEDED = {"id", "conversation", "category", "type", "status", "error", "scores", "abstained"}
_NEEDED |= {
    "usage",
    "context_tokens",
    "answer_tokens",
    "latency_ms",
    "retrieved",
    "evidence",
    "gold",
}


@dataclass(frozen=True, slots=True)
class Writing:
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


def load_writing(name: str) -> Writing:
    """Of the run in the folder `name` or of that id under results/runs, finished or not.

    Raises InputError where eval.pricing.usage does.
    """
    spending, folder = load_spending(name), find_folder(name)
    records = list(load_records(folder, _NEEDED).values())
    manifest = spending.manifest
    summary = summarise(records, manifest, manifest.get("seed") or 0)
    return writing_of(spending, spending.name, folder, summary)


def writing_of(spending: Spending, label: str, folder: Path, summary: Mapping[str, Any]) -> Writing:
    """From what has been read of the run in `folder` already. Raises InputError on a line of
    ingest.jsonl that is not JSON.
    """
    lines = list(read_lines(folder / INGEST, torn=True))
    told = {(one["conversation"], one["session"]) for one in lines if one.get("session")}
    times = [line.get("latency_ms") for line in lines]
    known = [float(time) for time in times if time is not None]
    return Writing(
        spending,
        label,
        len(told) or None,
        sum(known) / 1000 if lines and len(known) == len(times) else None,
        any(line.get("latency_source") == "recorded" for line in lines),
        _store(lines),
        summary["by_type"][OVERALL],
    )


def _store(lines: Sequence[Record]) -> dict[str, float]:
    conversations = {line["conversation"] for line in lines}
    held = {line["conversation"]: line["store"] for line in lines if line.get("store")}
    return {
        unit: sum(one[unit] for one in held.values()) / len(held)
        for unit in UNITS
        if held and held.keys() == conversations and all(unit in one for one in held.values())
    }
