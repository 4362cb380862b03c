"""Where the graph lives: nodes for memories and entities, weighted edges of two kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

import networkx as nx

EdgeKind = Literal["mentions", "related_to"]
MEMORY, ENTITY = "m:", "e:"  # prefixes that keep a memory id and an entity key apart


class Edge(NamedTuple):
    """One end of an edge as seen from the other: the far node, the kind, the weight in 0..1."""

    node: str
    kind: EdgeKind
    weight: float


class GraphStore(Protocol):
    """An undirected weighted graph with batched look-ups."""

    def add(self, edges: Iterable[tuple[str, str, EdgeKind, float]]) -> None:
        """Add edges (node, node, kind, weight); an edge given twice keeps the last weight."""
        ...

    def neighbours(self, nodes: Sequence[str]) -> list[list[Edge]]:
        """The edges of each node, heaviest first, ties by name; [] for an unknown node."""
        ...


class NetworkXStore:
    """networkx in memory: right at the size of a conversation."""

    def __init__(self) -> None:
        self._graph = nx.Graph()

    def add(self, edges: Iterable[tuple[str, str, EdgeKind, float]]) -> None:
        """See GraphStore."""
        for one, other, kind, weight in edges:
            self._graph.add_edge(one, other, kind=kind, weight=weight)

    def neighbours(self, nodes: Sequence[str]) -> list[list[Edge]]:
        """See GraphStore."""
        adjacency = self._graph.adj
        return [
            sorted(
                (Edge(far, data["kind"], data["weight"]) for far, data in adjacency[node].items()),
                key=lambda edge: (-edge.weight, edge.node),
            )
            if node in adjacency
            else []
            for node in nodes
        ]
