"""Decisions of a gate against an oracle gate, which opens where expansion raises recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.datasets.types import ADVERSARIAL
from eval.metrics.evidence import evidence_recall
from eval.metrics.stats.interval import Interval
from eval.records.schema import Record
from eval.summary.sample import Sample

ORIGINS = DIRECT, EXPANDED = "direct", "expanded"


@dataclass(frozen=True, slots=True)
class Case:
    """A question with evidence: the record of the gated run, and its evidence recall (0 to 1) with
    expansion off (`direct`) and on (`expanded`).
    """

    record: Record
    direct: float
    expanded: float

    @property
    def opened(self) -> bool:
        """Whether the run's gate opened."""
        return bool(self.record["trace"]["gate"]["open"])

    @property
    def raised(self) -> bool:
        """Whether expansion raises evidence recall, that is, whether the oracle gate opens."""
        return self.expanded > self.direct

    @property
    def lowered(self) -> bool:
        """Whether expansion lowers evidence recall."""
        return self.expanded < self.direct


@dataclass(frozen=True, slots=True)
class GateShares:
    """Shares of questions, None where the number to divide by is 0.

    `opened` and `raised`: of all questions. `precision`: raised among the opened. `recall`: opened
    among the raised. `harmful`: lowered among the opened.
    """

    opened: Interval | None
    raised: Interval | None
    precision: Interval | None
    recall: Interval | None
    harmful: Interval | None


def cases(
    gated: Sequence[Record], direct: Sequence[Record], expanded: Sequence[Record]
) -> list[Case]:
    """Return the questions of types 1 to 4 with evidence that all three runs answered."""
    off, on = (
        {record["id"]: record for record in records if record["status"] == "ok"}
        for records in (direct, expanded)
    )
    return [
        Case(record, recall(off[record["id"]]), recall(on[record["id"]]))
        for record in gated
        if record["status"] == "ok" and record["evidence"] and record["category"] != ADVERSARIAL
        if record["id"] in off and record["id"] in on
    ]


def gate_shares(found: Sequence[Case], seed: int) -> GateShares:
    """Compare the gate of these cases with the oracle gate."""
    opened = [case for case in found if case.opened]
    raised = [case for case in found if case.raised]
    return GateShares(
        sample(found, [case.opened for case in found], seed).share(),
        sample(found, [case.raised for case in found], seed).share(),
        sample(opened, [case.raised for case in opened], seed).share(),
        sample(raised, [case.opened for case in raised], seed).share(),
        sample(opened, [case.lowered for case in opened], seed).share(),
    )


def sample(found: Sequence[Case], values: Sequence[float], seed: int) -> Sample:
    """Build a sample of one value for each case."""
    return Sample.of([case.record for case in found], values, seed)


def found_turns(record: Record, origin: str | None = None) -> set[str]:
    """Return the evidence turns that were retrieved, of one origin or of both (None).

    A turn that was found both ways is direct.
    """
    found = record["evidence_found"] or {"direct": [], "expanded": []}
    direct = set(found["direct"])
    if origin is None:
        return direct | set(found["expanded"])
    return direct if origin == DIRECT else set(found["expanded"]) - direct


def recall(record: Record) -> float:
    """Return evidence recall, 0 to 1; raises ValueError for a question without evidence."""
    found = evidence_recall(record["evidence"], found_turns(record))
    if found is None:
        raise ValueError(f"{record['id']}: no evidence")
    return found
