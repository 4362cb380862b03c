"""Where the graph lives: nodes for memories and entities, weighted edges of two kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from memsys.stores.size import lines

if TYPE_CHECKING:
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

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """The edges of each node, heaviest first, ties by name; [] for an unknown node.

        `mentions_only`: without RELATED_TO edges, which cost most where they are many.
        """
        ...

    def size(self) -> dict[str, int]:
        """`nodes`: memories and entities with an edge; `edges`: each once, of both kinds; `bytes`:
        what is held of them (memsys/stores/size.py).
        """
        ...


class NetworkXStore:
    """networkx in memory: right at the size of a conversation."""

    def __init__(self) -> None:
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that only graphs should cost

        self._graph: nx.Graph[str] = nx.Graph()
        self._sorted: dict[str, list[Edge]] = {}  # of the nodes asked for since the last change

    def add(self, edges: Iterable[tuple[str, str, EdgeKind, float]]) -> None:
        """Add edges (node, node, kind, weight); an edge given twice keeps the last weight."""
        for one, other, kind, weight in edges:
            self._graph.add_edge(one, other, kind=kind, weight=weight)
        self._sorted.clear()

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """See GraphStore."""
        for node in nodes:
            if node not in self._sorted:
                self._sorted[node] = self._heaviest_first(node)
        found = [self._sorted[node] for node in nodes]
        if mentions_only:
            return [[edge for edge in edges if edge.kind == "mentions"] for edges in found]
        return found

    def size(self) -> dict[str, int]:
        """See GraphStore; a line of JSON an edge: node, node, kind, weight."""
        graph = self._graph
        edges = ([one, far, d["kind"], d["weight"]] for one, far, d in graph.edges(data=True))
        return {"nodes": len(graph), "edges": graph.number_of_edges(), "bytes": lines(edges)}

    def _heaviest_first(self, node: str) -> list[Edge]:
        if node not in self._graph:
            return []
        edges = (Edge(far, d["kind"], d["weight"]) for far, d in self._graph.adj[node].items())
        return sorted(edges, key=lambda edge: (-edge.weight, edge.node))
