"""Pair a run with another that differs from it in expansion or gate only.

Settings are compared first, then retrieved memories: where both strategies do the same, their
results must be equal.
"""

from collections.abc import Mapping, Sequence
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
_ALIKE = "of the same start ranking and settings"

Pair = tuple[Record, Record]


def pair_with_direct(run: Run, direct: Run) -> list[Pair]:
    """Pair the records of `run`, which expands, with those of `direct`, which does not.

    Only questions that both answered are paired. Raises InputError unless the runs differ in
    expansion only.
    """
    where = f"--direct {direct.label}"
    pairs = _pairs(run, direct, where, "expansion", _OF_EXPANSION)
    expanded = [other["id"] for _, other in pairs if memory_ids(other, "expanded")]
    _refuse(where, "expands as well", expanded, "without expansion, as of vector_only")
    k = direct.manifest["config"].get("strategy", {}).get("k")
    unlike = []
    for mine, other in pairs:
        theirs = memory_ids(other)
        traced = {step["memory"] for step in mine["trace"]["expansion"]}
        # With fewer than k, the budget skipped a memory and may have admitted a later one.
        full = k is None or len(theirs) == k
        if (full and not memory_ids(mine, "direct") <= theirs) or (
            traced <= theirs and memory_ids(mine) != theirs  # nothing to add
        ):
            unlike.append(mine["id"])
    _refuse(where, f"found other memories directly than {run.label}", unlike, _ALIKE)
    return pairs


def pair_with_expanded(run: Run, expanded: Run) -> list[Pair]:
    """Pair the records of `run`, which has a gate, with those of `expanded`, which always expands.

    Only questions that both answered are paired. Raises InputError unless the runs differ in the
    gate only.
    """
    where = f"--expanded {expanded.label}"
    pairs = _pairs(run, expanded, where, "gate", ())
    if not expanded.traces("expansion") or expanded.traces("gate"):
        raise InputError(f"{where}: does not always expand; name a run of graph_expand")
    opened = [pair for pair in pairs if pair[0]["trace"]["gate"]["open"]]
    unlike = [mine["id"] for mine, other in opened if memory_ids(mine) != memory_ids(other)]
    _refuse(
        where, f"retrieved other memories where the gate of {run.label} is open", unlike, _ALIKE
    )
    return pairs


def memory_ids(record: Record, origin: str | None = None) -> set[str]:
    """Return the ids of memories in the context, of one origin (direct, expanded) or of both."""
    rows = record["retrieved"] or ()
    return {row[0] for row in rows if origin in {None, row[3]}}


def _refuse(where: str, what: str, ids: Sequence[str], remedy: str) -> None:
    """Raise InputError if any question of `ids` is not as it has to be."""
    if ids:
        raise InputError(f"{where}: {what} (the first: {ids[0]}); name a run {remedy}")


def _pairs(run: Run, other: Run, where: str, trace: str, free: Sequence[str]) -> list[Pair]:
    """Raise InputError unless `run` has the `trace` in its records, and data, questions and
    settings, except the `free` ones, are equal.
    """
    if not run.retrieval_known or not run.traces(trace):
        raise InputError(
            f"{run.label}: its records (strategy {run.strategy}) have no trace.{trace}, which "
            f"{where.partition(' ')[0]} needs; name a run of graph_expand or hybrid_gate"
        )
    differing = _differing(run.manifest["config"], other.manifest["config"], free)
    asked = [
        {id_: (row["question"], set(row["evidence"])) for id_, row in side.records.items()}
        for side in (run, other)
    ]
    ids = [id_ for id_ in {**asked[0], **asked[1]} if asked[0].get(id_) != asked[1].get(id_)]
    if ids:
        differing.append(f"{len(ids)} questions (the first: {ids[0]})")
    if not same_data(run, other):
        differing.append(f"data ({data_files(other)}; {data_files(run)})")
    if not other.retrieval_known:
        differing.append("retrieval, which imported answers do not include")
    if differing:
        raise InputError(
            f"{where}: differs from {run.label} in {', '.join(differing)}; run both on the same "
            "questions with the same settings"
        )
    answered = [
        (record, other.records[record["id"]])
        for record in run.counted
        if other.records[record["id"]]["status"] == "ok"
    ]
    if not answered:
        raise InputError(f"{where}: no question was answered in {run.label} too; resume the runs")
    return answered


def _differing(own: Mapping[str, Any], other: Mapping[str, Any], free: Sequence[str]) -> list[str]:
    """Return the paths of settings that should be equal and differ.

    Settings that only one of the strategies has (a gate, a start ranking) do not count.
    """
    shared = _SHARED if "graph" in free else (*_SHARED, "graph")
    first, second = dict(leaves(own)), dict(leaves(other))
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
