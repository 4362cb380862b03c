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
        # The edges of the nodes looked up since the last change; True: mentions only.
        self._sorted: dict[tuple[str, bool], list[Edge]] = {}

    def add(self, edges: Iterable[tuple[str, str, EdgeKind, float]]) -> None:
        """Add edges (node, node, kind, weight); the last weight of a repeated edge counts."""
        self._graph.add_edges_from(
            (node, other, {"kind": kind, "weight": weight}) for node, other, kind, weight in edges
        )
        self._sorted.clear()

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """See GraphStore."""
        edge_lists = []
        for node in nodes:
            key = node, mentions_only
            if key not in self._sorted:
                around = self._graph.adj[node].items() if node in self._graph else ()
                edges = [
                    Edge._make((far, data["kind"], data["weight"]))
                    for far, data in around
                    if not mentions_only or data["kind"] == "mentions"
                ]
                edges.sort(key=lambda edge: (-edge.weight, edge.node))
                self._sorted[key] = edges
            edge_lists.append(self._sorted[key])
        return edge_lists

    def unread(self) -> NetworkXStore:
        """Return a store of the same graph that no node has been looked up in."""
        twin = copy(self)
        twin._sorted = {}
        return twin

    def size(self) -> dict[str, int]:
        """See GraphStore; an edge is a line of JSON: node, node, kind, weight."""
        # Not by `edges` or `degree` of networkx: a graph whose views were asked for refers to
        # itself, and stays in memory after its run.
        nodes = list(self._graph.adjacency())
        edges = (
            (node, far, edge["kind"], edge["weight"])
            for node, near in nodes
            for far, edge in near.items()
            if node <= far
        )
        ends = sum(len(near) + (node in near) for node, near in nodes)  # two of each edge
        return {"nodes": len(nodes), "edges": ends // 2, "bytes": lines(edges)}


class Statement(NamedTuple):
    """A relation of two entities as a memory with a sentence, and the weight of its edge."""

    memory: Memory
    weight: float


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """The graph store, and the node of each memory's title, where an expansion starts.
    `start_nodes` maps memory ids; a memory without a title that shares no entity with another is
    not in it. `statements`: the relations that hold, by the nodes of both ends; a graph by rules
    has none.
    """

    store: GraphStore
    start_nodes: Mapping[str, str]
    statements: Mapping[str, Sequence[Statement]] = field(default_factory=dict)
