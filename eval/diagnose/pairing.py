"""Whether another run is the same but for its expansion, so that the two may be set side by side.

Settings are compared first, then what was found: where two strategies do the same, their results
must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eval.records.run import Run
from eval.records.schema import Record
from memsys.errors import InputError

# What decides which memories are found and kept; the reader and the scoring do not.
_SHARED = ("dataset.captions", "memory", "embedder", "index", "context", "k", "budget", "strategy")
_OF_EXPANSION = ("graph", "strategy.expansion")
_NOT_SHARED = ("strategy.gate", "embedder.threads", "strategy._target_", "strategy._partial_")

Pair = tuple[Record, Record]


def pair_with_direct(run: Run, direct: Run) -> list[Pair]:
    """Records of `run`, which expands, with those of `direct`, which does not, where both answered.

    Raises InputError unless they differ in expansion alone.
    """
    where = f"--direct {direct.label}"
    if not run.retrieval_known or not run.traces("expansion"):
        raise InputError(
            f"{run.label}: its records (strategy {run.strategy}) hold no trace.expansion, so "
            "--direct has nothing to be compared with; name a run of graph_expand or hybrid_gate"
        )
    pairs = _pairs(run, direct, where, _OF_EXPANSION)
    for _, other in pairs:
        if any(origin == "expanded" for *_, origin in other["retrieved"] or ()):
            raise InputError(
                f"{where}: expanded as well (the first: {other['id']}); name a run without "
                "expansion, as of vector_only"
            )
    k = direct.manifest["config"].get("strategy", {}).get("k")
    for mine, other in pairs:
        theirs = kept(other)
        traced = {step["memory"] for step in mine["trace"]["expansion"]}
        # With fewer than k the budget passed one over, and another may have fitted in its stead.
        full = k is None or len(theirs) == k
        if (full and not kept(mine, "direct") <= theirs) or (
            traced <= theirs and kept(mine) != theirs  # nothing to add
        ):
            raise InputError(
                f"{where}: found other memories directly than {run.label} did for {mine['id']}; "
                "name a run of the same start ranking and settings"
            )
    return pairs


def pair_with_expanded(run: Run, expanded: Run) -> list[Pair]:
    """Records of `run`, which has a gate, with those of `expanded`, whose gate is always open.

    Raises InputError unless they differ in the gate alone.
    """
    where = f"--expanded {expanded.label}"
    if not run.retrieval_known or not run.traces("gate"):
        raise InputError(
            f"{run.label}: its records (strategy {run.strategy}) hold no trace.gate, so --expanded "
            "has nothing to be compared with; name a run of hybrid_gate"
        )
    pairs = _pairs(run, expanded, where, ())
    if not expanded.traces("expansion") or expanded.traces("gate"):
        raise InputError(f"{where}: does not always expand; name a run of graph_expand")
    for mine, other in pairs:
        if mine["trace"]["gate"]["open"] and kept(mine) != kept(other):
            raise InputError(
                f"{where}: kept other memories than {run.label} for {mine['id']}, where the gate "
                "is open; name a run of the same start ranking and settings"
            )
    return pairs


def kept(record: Record, origin: str | None = None) -> set[str]:
    """Ids of the memories put before the reader, of all origins or of one."""
    rows = record["retrieved"] or ()
    return {row[0] for row in rows if origin in {None, row[3]}}


def _pairs(run: Run, other: Run, where: str, free: tuple[str, ...]) -> list[Pair]:
    """Raises InputError unless data, questions and settings but the `free` ones are the same."""
    if not other.retrieval_known:
        raise InputError(f"{where}: imported answers do not tell what was retrieved; name a run")
    if _data(run) != _data(other):
        raise InputError(
            f"{where}: answered other data than {run.label} ({_files(other)}; {_files(run)}); "
            "run both on the same files"
        )
    alone = [id_ for id_ in {**run.records, **other.records} if not _in_both(run, other, id_)]
    if alone:
        raise InputError(
            f"{where}: {len(alone)} questions are not the same in {run.label} (the first: "
            f"{alone[0]}); run both on the same questions"
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


def _data(run: Run) -> list[str]:
    return sorted(file["sha256"] for file in run.manifest["data"])


def _files(run: Run) -> str:
    return ", ".join(f"{file['name']} {file['sha256'][:8]}" for file in run.manifest["data"])


def _in_both(run: Run, other: Run, id_: str) -> bool:
    one, two = run.records.get(id_), other.records.get(id_)
    if one is None or two is None:
        return False
    return one["question"] == two["question"] and set(one["evidence"]) == set(two["evidence"])


def _differing(one: Mapping[str, Any], two: Mapping[str, Any], free: tuple[str, ...]) -> list[str]:
    """Settings, by path, that should be the same and are not.

    What only one of two strategies has (a gate, a start ranking) is let be.
    """
    shared = _SHARED if "graph" in free else (*_SHARED, "graph")
    first, second = dict(_leaves(one)), dict(_leaves(two))
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


def _leaves(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
