"""Query-independent graph features of a memory: connectivity, access frequency and recency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from memsys.graph.build import MEMORY, MemoryGraph
from memsys.index.rank import Scores
from memsys.types import Memory

_ACCESS_CAP = 100
_DAY_S = 86_400


class GraphStatistics(NamedTuple):
    """Connectivity g of a memory, its number of accesses, and the time of the last one."""

    g: float
    accesses: int
    last: datetime


def graph_statistics(graph: MemoryGraph, memories: Sequence[Memory]) -> list[GraphStatistics]:
    """Return the statistics of each memory, in order."""
    scores = connectivity(graph, memories)
    return [
        GraphStatistics(float(g), count, last)
        for g, (count, last) in zip(scores, accesses(graph, memories), strict=True)
    ]


def connectivity(graph: MemoryGraph, memories: Sequence[Memory]) -> Scores:
    """Return g = .4 min(n/10, 1) + .3 min(e/20, 1) + .3 min(w, 1) of each memory, shape (m,). n:
    nodes next to the memory; e: edges of the subgraph of the memory and those nodes; w: mean weight
    of these edges. A memory without a neighbour has g = 0.
    """
    around = graph.store.neighbours([MEMORY + memory.id for memory in memories])
    names = sorted({edge.node for edges in around for edge in edges})
    between = dict(zip(names, graph.store.neighbours(names), strict=True))
    scores = np.zeros(len(memories))
    for i, edges in enumerate(around):
        if not edges:
            continue
        inside = {edge.node for edge in edges}
        weights = [edge.weight for edge in edges]
        weights += [
            edge.weight
            for name in inside
            for edge in between[name]
            if edge.node in inside and name < edge.node
        ]
        n, e, w = len(inside), len(weights), math.fsum(weights) / len(weights)
        scores[i] = 0.4 * min(n / 10, 1) + 0.3 * min(e / 20, 1) + 0.3 * min(w, 1)
    return scores


def accesses(graph: MemoryGraph, memories: Sequence[Memory]) -> list[tuple[int, datetime]]:
    """Return the number of accesses of each memory and the time of the last (the memory's time if
    there is none). A memory is accessed when a later session mentions its title or, if no other
    memory mentions that, its heaviest shared entity. Questions are not accesses, or a score would
    depend on the order in which a benchmark asks.
    """
    nodes = [MEMORY + memory.id for memory in memories]
    by_id = dict(zip(nodes, memories, strict=True))
    around = graph.store.neighbours(nodes, mentions_only=True)
    names = sorted({edge.node for edges in around for edge in edges})
    mentioned = {
        name: sorted(by_id[edge.node].time for edge in edges if edge.node in by_id)
        for name, edges in zip(
            names, graph.store.neighbours(names, mentions_only=True), strict=True
        )
    }
    found = []
    for memory, edges in zip(memories, around, strict=True):
        entities = [graph.titles.get(memory.id, ""), *(edge.node for edge in edges)]
        times: Sequence[datetime] = next(
            (mentioned[name] for name in entities if len(mentioned.get(name, ())) > 1), ()
        )
        later = [time for time in times if time > memory.time]
        found.append((len(later), later[-1] if later else memory.time))
    return found


def access_frequency(count: int) -> float:
    """Return ln(1 + min(count, 100)) / ln(101), 0 to 1."""
    return math.log1p(min(count, _ACCESS_CAP)) / math.log1p(_ACCESS_CAP)


def recency(last: datetime, now: datetime, decay_per_day: float) -> float:
    """Return exp(-decay * days since `last`), 0 to 1; both times are of the conversation."""
    days = max((now - last).total_seconds() / _DAY_S, 0.0)
    return math.exp(-decay_per_day * days)
