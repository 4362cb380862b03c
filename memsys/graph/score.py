"""Query-independent graph features of a memory: connectivity, access frequency and recency."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memsys.core.types import Memory
from memsys.graph.store import MEMORY, MemoryGraph

_ACCESS_CAP = 100
_DAY_S = 86_400


class Connectivity(NamedTuple):
    """Connectivity g of a memory, and its parts: nodes n, edges e and mean edge weight w."""

    n: int = 0
    e: int = 0
    w: float = 0.0
    g: float = 0.0


class GraphStatistics(NamedTuple):
    """Connectivity of a memory, its number of accesses, and the time of the last one."""

    connectivity: Connectivity
    accesses: int
    last_access: datetime


def graph_statistics(graph: MemoryGraph, memories: Sequence[Memory]) -> list[GraphStatistics]:
    """Return the statistics of each memory, in order."""
    return [
        GraphStatistics(around, count, last)
        for around, (count, last) in zip(
            connectivity(graph, memories), accesses(graph, memories), strict=True
        )
    ]


def connectivity(graph: MemoryGraph, memories: Sequence[Memory]) -> list[Connectivity]:
    """Return g = .4 min(n/10, 1) + .3 min(e/20, 1) + .3 min(w, 1) of each memory, with n, e and w.
    n: nodes next to the memory; e: edges of the subgraph of the memory and those nodes; w: mean
    weight of these edges. All are 0 for a memory without a neighbour.
    """
    around = graph.store.neighbours([MEMORY + memory.id for memory in memories])
    names = sorted({edge.node for edges in around for edge in edges})
    between = dict(zip(names, graph.store.neighbours(names), strict=True))
    rows = []
    for edges in around:
        inside = {edge.node for edge in edges}
        weights = [edge.weight for edge in edges]
        weights += [
            edge.weight
            for name in inside
            for edge in between[name]
            if edge.node in inside and name < edge.node
        ]
        n, e = len(inside), len(weights)
        if not n:
            rows.append(Connectivity())
            continue
        w = math.fsum(weights) / e
        g = 0.4 * min(n / 10, 1) + 0.3 * min(e / 20, 1) + 0.3 * min(w, 1)
        rows.append(Connectivity(n, e, w, g))
    return rows


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
    pairs = []
    for memory, edges in zip(memories, around, strict=True):
        entities = [graph.start_nodes.get(memory.id, ""), *(edge.node for edge in edges)]
        times: Sequence[datetime] = next(
            (mentioned[name] for name in entities if len(mentioned.get(name, ())) > 1), ()
        )
        later = [time for time in times if time > memory.time]
        pairs.append((len(later), later[-1] if later else memory.time))
    return pairs


def access_frequency(count: int) -> float:
    """Return ln(1 + min(count, 100)) / ln(101), 0 to 1."""
    return math.log1p(min(count, _ACCESS_CAP)) / math.log1p(_ACCESS_CAP)


def recency(last: datetime, now: datetime, decay_per_day: float) -> float:
    """Return exp(-decay * days since `last`), 0 to 1; both times are of the conversation."""
    days = max((now - last).total_seconds() / _DAY_S, 0.0)
    return math.exp(-decay_per_day * days)
