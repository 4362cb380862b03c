"""The part of a record that a summary reads, so that the records of a run can be a stream."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any, cast

from eval.records.jsonl import Row
from eval.records.schema import ErrorEntry, Record

_OF_FAILED = ("question", "gold", "answer", "evidence", "evidence_sessions")


def row_of(record: Record) -> Record:
    """Return `record` without its texts, ranking and trace: 2 KB, however long these are.

    `evidence` and `retrieved` only show whether there is any and whether it is known. A failed
    question keeps its text and gold answer, by which a metric decides whether it applies.
    """
    found, usage = record["retrieved"], record["usage"]
    priced: Any = usage and {  # by phase and model; phases without a named model cost nothing
        intern(phase): {"by_model": {intern(name): _named(n) for name, n in by_model.items()}}
        for phase, used in usage.items()
        if (by_model := used.get("by_model"))
    }
    row: Row = {
        "id": record["id"],
        "conversation": intern(record["conversation"]),
        "category": record["category"],
        "type": intern(record["type"]),
        "key": record["key"],
        "status": intern(record["status"]),
        "error": _kind(record["error"]),
        "abstained": record["abstained"],
        "retrieved": None if found is None else (),
        "context_tokens": record["context_tokens"],
        "answer_tokens": record["answer_tokens"],
        "evidence": record["evidence"][:1],
        "scores": _named(record["scores"]),
        "scores_original": _named(record.get("scores_original")),
        "judge": _named(record["judge"]),
        "judge_source": record.get("judge_source"),
        "judge_error": _kind(record.get("judge_error")),
        "usage": priced,
        "latency_ms": {name: record["latency_ms"][name] for name in ("retrieve", "total")},
    }
    if record["status"] != "ok":
        row |= {name: value for name, value in record.items() if name in _OF_FAILED}
    return cast(Record, row)


def _kind(error: ErrorEntry | None) -> dict[str, str] | None:
    return error and {"phase": intern(error["phase"]), "kind": intern(error["kind"])}


def _named(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a copy whose names are shared by all rows: each parsed line has its own."""
    return None if values is None else {intern(name): value for name, value in values.items()}
