"""How far down the recorded ranking evidence is that did not reach the context."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Table
from eval.rendering.tables import type_name
from eval.summary.evidence_ranks import evidence_ranks
from eval.summary.measures import types_of
from eval.summary.sample import by_type

_EDGES = (10, 20, 50, 100)  # last rank of each column


def missed_by_rank(run: Run) -> list[str | Table]:
    """Return a sentence and a table: evidence turns outside of the context (all, where no context
    is recorded), counted by rank and question type; [] if there are none, or no ranking of turns.
    """
    used = run.manifest["retrieval"]
    if used is None:
        return []
    deepest = min(used["depth"] or _EDGES[-1], _EDGES[-1])
    edges = [*(edge for edge in _EDGES if edge < deepest), deepest]
    starts = [1, *(edge + 1 for edge in edges)]
    names = [f"rank {low}-{high}" for low, high in zip(starts, edges, strict=False)]
    rows = []
    for name, records in by_type(run.counted):
        ranks = [rank for record in records for rank in _missed_ranks(run, record)]
        if ranks:
            columns = [0] * (len(edges) + 1)
            for rank in ranks:
                columns[len(edges) if rank is None else bisect_left(edges, rank)] += 1
            rows.append([type_name(name, types_of([run])), str(len(ranks)), *map(str, columns)])
    if not rows:
        return []
    which = (
        "Evidence turns that are not in the context" if run.retrieval_known else "Evidence turns"
    )
    return [
        f"{which}, by their rank among the turns of the recorded ranking:",
        Table(["type", "turns", *names, f"not within {deepest}"], rows),
    ]


def _missed_ranks(run: Run, record: Record) -> Sequence[int | None]:
    found, ranking = record["evidence_found"], evidence_ranks(run, record)
    if ranking is None or ranking.unit != "turn" or ranking.selected:
        return []
    read = {*found["direct"], *found["expanded"]} if found else set()
    return [rank for turn, rank in ranking.ranks.items() if turn not in read]
