"""Means with intervals, and the scores of the same records under several protocols."""

from collections.abc import Sequence
from typing import Any

from eval.datasets.types import ADVERSARIAL, TYPES, types_in
from eval.metrics.protocols import Protocol, protocols
from eval.metrics.registry import find
from eval.metrics.stats.interval import ClusterBootstrap
from eval.records.schema import Cell, Record


def by_protocol(records: Sequence[Record], names: Sequence[str], seed: int) -> dict[str, Any]:
    """Return by protocol its definition and a cell for each type that it counts, and `overall`.

    A cell contains n, f1, bleu1 and evidence_recall, each 0 to 1 or null, with 95% intervals.
    Raises InputError on an unknown name.
    """
    return {
        protocol.name: {
            "f1_metric": protocol.f1,
            "errors": protocol.errors,
            "source": protocol.source,
            "by_type": {
                name: _cell(rows, protocol, seed)
                for name, rows in counted_by_type(records, protocol).items()
            },
        }
        for protocol in protocols(names)
    }


def mean_cell(
    column: str,
    values: Sequence[float | None],
    bootstrap: ClusterBootstrap | None,
    most: float = 1.0,
) -> Cell:
    """Return the mean of `values` as `column` and its interval, within 0 and `most`, as `_ci`.

    Both are None without a value; `bootstrap` is None without a row.
    """
    mean = bootstrap.mean(values) if bootstrap else None
    if mean is None:
        return {column: None, f"{column}_ci": None}
    possible = mean.within(0.0, most)
    return {column: mean.value, f"{column}_ci": [possible.low, possible.high]}


def counted_by_type(records: Sequence[Record], protocol: Protocol) -> dict[str, list[Record]]:
    """Return the records that `protocol` counts, by question type and `overall`."""
    types = types_in(records)
    # Of another data set than LoCoMo every protocol counts what has an answer.
    categories = protocol.categories if types is TYPES else types.keys() - {ADVERSARIAL}
    counted = [record for record in records if record["category"] in categories]
    if protocol.errors == "excluded":
        counted = [record for record in counted if record["status"] == "ok"]
    groups = {
        types[category]: [record for record in counted if record["category"] == category]
        for category in sorted(categories)
    }
    return groups | {"overall": counted}


def protocol_score(row: Record, key: str) -> float | None:
    """Return the score; 0 for a failed question that a protocol counts and the score applies to."""
    if row["status"] == "ok":
        value: float | None = row["scores"].get(key)
        return value
    metric = find(key)
    needs_gold = metric is None or metric.applies_to == "gold"
    return None if row["category"] == ADVERSARIAL and needs_gold else 0.0


def _cell(rows: Sequence[Record], protocol: Protocol, seed: int) -> Cell:
    cell: Cell = {"n": len(rows)}
    bootstrap = ClusterBootstrap([row["conversation"] for row in rows], seed) if rows else None
    values = {
        "f1": [protocol_score(row, protocol.f1) for row in rows],
        "bleu1": [protocol_score(row, "bleu1") for row in rows],
        "evidence_recall": [_recall(row, protocol) for row in rows],
    }
    for column, scores in values.items():
        cell |= mean_cell(column, scores, bootstrap)
    return cell


def _recall(row: Record, protocol: Protocol) -> float | None:
    if row["retrieved"] is None:  # unknown is not missed
        return None
    if not row["evidence"]:
        return protocol.recall_without_evidence
    value: float | None = row["scores"].get("evidence_recall") if row["status"] == "ok" else 0.0
    return value
