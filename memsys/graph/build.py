"""The graph over memories: its store, and its construction by rules, without a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from memsys.errors import InputError, check_fields
from memsys.graph.entities import EntityKind, entities, key_of
from memsys.stores.size import lines
from memsys.types import Memory

if TYPE_CHECKING:
    import networkx as nx

EdgeKind = Literal["mentions", "related_to"]
MEMORY, ENTITY = "m:", "e:"  # prefixes of the nodes of memory ids and entity keys
TITLE_KIND: EntityKind = "phrase"  # of an entity that is the title of a memory


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
        self._sorted: dict[str, list[Edge]] = {}  # of the nodes looked up since the last change

    def add(self, edges: Iterable[tuple[str, str, EdgeKind, float]]) -> None:
        """Add edges (node, node, kind, weight); the last weight of a repeated edge counts."""
        for one, other, kind, weight in edges:
            self._graph.add_edge(one, other, kind=kind, weight=weight)
        self._sorted.clear()

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """See GraphStore."""
        for node in nodes:
            if node not in self._sorted:
                self._sorted[node] = self._heaviest_first(node)
        edges_of = [self._sorted[node] for node in nodes]
        if mentions_only:
            return [[edge for edge in edges if edge.kind == "mentions"] for edges in edges_of]
        return edges_of

    def size(self) -> dict[str, int]:
        """See GraphStore; an edge is a line of JSON: node, node, kind, weight."""
        graph = self._graph
        edges = ([one, far, d["kind"], d["weight"]] for one, far, d in graph.edges(data=True))
        return {"nodes": len(graph), "edges": graph.number_of_edges(), "bytes": lines(edges)}

    def _heaviest_first(self, node: str) -> list[Edge]:
        if node not in self._graph:
            return []
        edges = (Edge(far, d["kind"], d["weight"]) for far, d in self._graph.adj[node].items())
        return sorted(edges, key=lambda edge: (-edge.weight, edge.node))


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """Settings of the rules that link memories.

    `max_entities`: number of entities per memory, rarest first. `max_share`: an entity in more than
    this share of the memories is too common to link and is dropped. `keyword_weight` and
    `name_weight`: weight of a single common word, and of a name or quoted phrase; a phrase has 1.
    `store`: networkx, or csr for large stores (memsys/graph/csr.py).
    """

    max_entities: int
    max_share: float
    keyword_weight: float
    name_weight: float
    store: Literal["networkx", "csr"] = "networkx"

    def __post_init__(self) -> None:
        """Raise InputError on a value outside its range."""
        if self.store not in ("networkx", "csr"):
            raise InputError(f"graph.store: {self.store!r} is none of networkx, csr")
        check_fields(self, "graph")
        if self.max_entities < 1:
            raise InputError(f"graph.max_entities: {self.max_entities}; use 1 or more")
        for name in ("max_share", "keyword_weight", "name_weight"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"graph.{name}: {getattr(self, name)} is not in (0, 1]")


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """The graph store, and the node of each memory's title. `titles` maps memory ids; a memory
    without a title that shares no entity with another is not in it.
    """

    store: GraphStore
    titles: Mapping[str, str]


def build_graph(memories: Sequence[Memory], settings: GraphSettings) -> MemoryGraph:
    """Return the graph that links memories by titles and shared entities.

    A memory mentions its title, as an entity with the title's stems, and its heaviest entities; the
    node of one without a title is that of its heaviest entity. The weight of a mention is the
    entity's rarity times the weight of its kind; that of a RELATED_TO edge the Jaccard index of the
    memories that mention its entities.
    """
    speakers = {memory.speaker for memory in memories}
    titles = [key_of(memory.title) for memory in memories]
    entities_of = [
        entities(memory.content, speakers) | ({title: TITLE_KIND} if title else {})
        for memory, title in zip(memories, titles, strict=True)
    ]
    frequency = Counter(key for keys in entities_of for key in keys)
    weights = [
        _mentions(keys, title, frequency, len(memories), settings)
        for keys, title in zip(entities_of, titles, strict=True)
    ]
    used = Counter(key for keys in weights for key in keys)
    together = Counter(pair for keys in weights for pair in combinations(sorted(keys), 2))
    store = NetworkXStore()
    mentions: EdgeKind = "mentions"
    related: EdgeKind = "related_to"
    store.add(
        (MEMORY + memory.id, ENTITY + key, mentions, weight)
        for memory, keys in zip(memories, weights, strict=True)
        for key, weight in keys.items()
    )
    store.add(
        (ENTITY + one, ENTITY + other, related, count / (used[one] + used[other] - count))
        for (one, other), count in together.items()
    )
    nodes = {
        memory.id: ENTITY + next(iter(keys))
        for memory, keys in zip(memories, weights, strict=True)
        if keys
    }
    return MemoryGraph(store, nodes)


def rarity(frequency: int, n: int) -> float:
    """Return ln(n / frequency) / ln(n), 0 to 1: the inverse document frequency, scaled, of an
    entity in `frequency` of n memories. It is 1 in a store of one memory.
    """
    return math.log(n / frequency) / math.log(n) if n > 1 else 1.0


def _mentions(
    keys: Mapping[str, EntityKind],
    title: str,
    frequency: Mapping[str, int],
    n: int,
    settings: GraphSettings,
) -> dict[str, float]:
    """Return what one memory mentions with its weights: its title, if any, then the selected other
    entities, heaviest first.
    """
    kinds = {"name": settings.name_weight, "phrase": 1.0, "keyword": settings.keyword_weight}
    # An entity of a single memory links nothing; one of half the store links everything.
    linking = {
        key: kinds[kind] * rarity(frequency[key], n)
        for key, kind in keys.items()
        if key != title and 1 < frequency[key] <= max(settings.max_share * n, 2)
        if frequency[key] < n
    }
    heaviest = sorted(linking, key=lambda key: -linking[key])[: settings.max_entities]
    first = {title: rarity(frequency[title], n)} if title else {}
    return first | {key: linking[key] for key in heaviest}
