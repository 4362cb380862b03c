"""Pair a run with another that differs from it in expansion or gate only.

Settings are compared first, then retrieved memories: where both strategies do the same, their
results must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.records.manifest import leaves
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.measures import data_files, same_data
from memsys.core.errors import InputError

# Settings that decide which memories are in the context; reader and scoring do not.
_SHARED = ("dataset.captions", "memory", "embedder", "index", "context", "k", "budget", "strategy")
_OF_EXPANSION = ("graph", "strategy.expansion")
_NOT_SHARED = ("strategy.gate", "embedder.threads", "strategy._target_", "strategy._partial_")

Pair = tuple[Record, Record]


def pair_with_direct(run: Run, direct: Run) -> list[Pair]:
    """Pair the records of `run`, which expands, with those of `direct`, which does not.

    Only questions that both answered are paired. Raises InputError unless the runs differ in
    expansion only.
    """
    where = f"--direct {direct.label}"
    if not run.retrieval_known or not run.traces("expansion"):
        raise InputError(
            f"{run.label}: its records (strategy {run.strategy}) have no trace.expansion, so "
            "--direct does not apply; name a run of graph_expand or hybrid_gate"
        )
    pairs = _pairs(run, direct, where, _OF_EXPANSION)
    for _, other in pairs:
        if any(origin == "expanded" for *_, origin in other["retrieved"] or ()):
            raise InputError(
                f"{where}: expands as well (the first: {other['id']}); name a run without "
                "expansion, as of vector_only"
            )
    k = direct.manifest["config"].get("strategy", {}).get("k")
    for mine, other in pairs:
        theirs = memory_ids(other)
        traced = {step["memory"] for step in mine["trace"]["expansion"]}
        # With fewer than k, the budget skipped a memory and may have admitted a later one.
        full = k is None or len(theirs) == k
        if (full and not memory_ids(mine, "direct") <= theirs) or (
            traced <= theirs and memory_ids(mine) != theirs  # nothing to add
        ):
            raise InputError(
                f"{where}: found other memories directly than {run.label} did for {mine['id']}; "
                "name a run of the same start ranking and settings"
            )
    return pairs


def pair_with_expanded(run: Run, expanded: Run) -> list[Pair]:
    """Pair the records of `run`, which has a gate, with those of `expanded`, which always expands.

    Only questions that both answered are paired. Raises InputError unless the runs differ in the
    gate only.
    """
    where = f"--expanded {expanded.label}"
    if not run.retrieval_known or not run.traces("gate"):
        raise InputError(
            f"{run.label}: its records (strategy {run.strategy}) have no trace.gate, so --expanded "
            "does not apply; name a run of hybrid_gate"
        )
    pairs = _pairs(run, expanded, where, ())
    if not expanded.traces("expansion") or expanded.traces("gate"):
        raise InputError(f"{where}: does not always expand; name a run of graph_expand")
    for mine, other in pairs:
        if mine["trace"]["gate"]["open"] and memory_ids(mine) != memory_ids(other):
            raise InputError(
                f"{where}: retrieved other memories than {run.label} for {mine['id']}, where the "
                "gate is open; name a run of the same start ranking and settings"
            )
    return pairs


def memory_ids(record: Record, origin: str | None = None) -> set[str]:
    """Return the ids of memories in the context, of one origin (direct, expanded) or of both."""
    rows = record["retrieved"] or ()
    return {row[0] for row in rows if origin in {None, row[3]}}


def _pairs(run: Run, other: Run, where: str, free: tuple[str, ...]) -> list[Pair]:
    """Raise InputError unless data, questions and settings, except the `free` ones, are equal."""
    if not other.retrieval_known:
        raise InputError(f"{where}: imported answers do not include what was retrieved; name a run")
    if not same_data(run, other):
        files = f"{data_files(other)}; {data_files(run)}"
        raise InputError(
            f"{where}: answered other data than {run.label} ({files}); run both on the same files"
        )
    unequal = [id_ for id_ in {**run.records, **other.records} if not _in_both(run, other, id_)]
    if unequal:
        raise InputError(
            f"{where}: {len(unequal)} questions are not the same in {run.label} (the first: "
            f"{unequal[0]}); run both on the same questions"
        )
    differing = _differing(run.manifest["config"], other.manifest["config"], free)
    if differing:
        raise InputError(
            f"{where}: differs from {run.label} in {', '.join(differing)}; "
            "run both with the same settings"
        )
    answered = [
        (record, other.records[record["id"]])
        for record in run.counted
        if other.records[record["id"]]["status"] == "ok"
    ]
    if not answered:
        raise InputError(f"{where}: no question was answered in {run.label} too; resume the runs")
    return answered


def _in_both(run: Run, other: Run, id_: str) -> bool:
    one, two = run.records.get(id_), other.records.get(id_)
    if one is None or two is None:
        return False
    return one["question"] == two["question"] and set(one["evidence"]) == set(two["evidence"])


def _differing(one: Mapping[str, Any], two: Mapping[str, Any], free: tuple[str, ...]) -> list[str]:
    """Return the paths of settings that should be equal and differ.

    Settings that only one of the strategies has (a gate, a start ranking) do not count.
    """
    shared = _SHARED if "graph" in free else (*_SHARED, "graph")
    first, second = dict(leaves(one)), dict(leaves(two))
    return [
        path
        for path in {**first, **second}
        if first.get(path) != second.get(path)
        and _under(path, shared)
        and not _under(path, (*free, *_NOT_SHARED))
        and (not _under(path, ("strategy",)) or (path in first and path in second))
    ]


def _under(path: str, names: tuple[str, ...]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in names)
