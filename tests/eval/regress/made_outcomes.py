"""Outcomes made by hand."""

from __future__ import annotations

from eval.regress.pins import Outcome


def outcome(
    protocol: str = "locomo", sha256: str = "a" * 64, n: int = 100, **overall: float | None
) -> Outcome:
    """Scores of type overall, .5 unless told otherwise."""
    cell = {"n": n, "f1": 0.5, "bleu1": 0.5, "evidence_recall": 0.5, "abstained": 0.5} | overall
    return Outcome(protocol, {"made.json": sha256}, {"overall": cell})
