"""The graph over memories: nodes, edges, and its store for the size of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from memsys.core.types import Memory
from memsys.stores.size import lines

if TYPE_CHECKING:
    import networkx as nx

EdgeKind = Literal["mentions", "related_to"]
MEMORY, ENTITY = "m:", "e:"  # prefixes of the nodes of memory ids and entity keys


class Edge(NamedTuple):
    """An edge of a given node: the node at its other end, its kind, and its weight, 0 to 1."""

    node: str
    kind: EdgeKind
    weight: float


class GraphStore(Protocol):
    """An undirected weighted graph with batched look-ups."""

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """Return the edges of each node, heaviest first, ties by name; [] for an unknown node.
        `mentions_only`: without RELATED_TO edges, which are expensive if there are many.
        """

    def size(self) -> dict[str, int]:
        """Return `nodes` (memories and entities with an edge), `edges` (each once, of both kinds)
        and their `bytes` (memsys/stores/size.py).
        """


class NetworkXStore:
    """A networkx graph in memory, for the size of a conversation."""

    def __init__(self) -> None:
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that only graphs need

        self._graph: nx.Graph[str] = nx.Graph()
        # Of the nodes looked up since the last change: all edges, and the mentions among them.
        self._sorted: dict[str, list[Edge]] = {}
        self._mentions: dict[str, list[Edge]] = {}

    def add(self, edges: Iterable[tuple[str, str, EdgeKind, float]]) -> None:
        """Add edges (node, node, kind, weight); the last weight of a repeated edge counts."""
        for one, other, kind, weight in edges:
            self._graph.add_edge(one, other, kind=kind, weight=weight)
        self._sorted.clear()
        self._mentions.clear()

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """See GraphStore."""
        for node in nodes:
            if node not in self._sorted:
                self._sorted[node] = self._heaviest_first(node)
        if not mentions_only:
            return [self._sorted[node] for node in nodes]
        for node in nodes:
            if node not in self._mentions:
                found = [edge for edge in self._sorted[node] if edge.kind == "mentions"]
                self._mentions[node] = found
        return [self._mentions[node] for node in nodes]

    def unread(self) -> NetworkXStore:
        """Return a store of the same graph that no node has been looked up in."""
        twin = copy(self)
        twin._sorted, twin._mentions = {}, {}
        return twin

    def size(self) -> dict[str, int]:
        """See GraphStore; an edge is a line of JSON: node, node, kind, weight."""
        # Not by `edges` or `degree` of networkx: a graph whose views were asked for refers to
        # itself, and stays in memory after its run.
        edges = [
            [one, far, edge["kind"], edge["weight"]]
            for one, near in self._graph.adjacency()
            for far, edge in near.items()
            if one <= far
        ]
        return {"nodes": len(self._graph), "edges": len(edges), "bytes": lines(edges)}

    def _heaviest_first(self, node: str) -> list[Edge]:
        if node not in self._graph:
            return []
        edges = (Edge(far, d["kind"], d["weight"]) for far, d in self._graph.adj[node].items())
        return sorted(edges, key=lambda edge: (-edge.weight, edge.node))


class Statement(NamedTuple):
    """A relation of two entities as a memory with a sentence, and the weight of its edge."""

    memory: Memory
    weight: float


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """The graph store, and the node of each memory's title. `titles` maps memory ids; a memory
    without a title that shares no entity with another is not in it. `statements`: the relations
    that hold, by the nodes of both ends; a graph by rules has none.
    """

    store: GraphStore
    titles: Mapping[str, str]
    statements: Mapping[str, Sequence[Statement]] = field(default_factory=dict)
