"""Expansion: from the titles of memories along the graph to other memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from memsys.core.declared import Count, CountFrom0, Threshold, Weight, check_fields
from memsys.core.errors import InputError
from memsys.graph.store import MEMORY, Edge, EdgeKind, MemoryGraph

_DIGITS = 6  # of the numbers in a trace


@dataclass(frozen=True, slots=True)
class Expansion:
    """Parameters of an expansion. `seeds`: number of direct results to start from. `neighbours`:
    number of related entities followed from each entity, heaviest first. `hops`: 1, from the title
    of a seed, or 2, once more from these entities. `per_seed`: largest number of memories a seed
    adds. `threshold`: least relevance of an added memory; its score is edge_weight * edge +
    relevance_weight * relevance. `path_weight`: the edge is the last RELATED_TO edge of the path
    (the mention, if there is none), or the product of all edges. `edges`: kinds of edges followed.
    `reserved`: how many of the k places only added memories get; with 0 they compete with direct
    results by score. `judge`: llm lets a model drop irrelevant memories, by `judge_prompt`.
    `relations`: largest number of relations of the followed entities that are shown beside the
    memories; scored like an added memory, by the edge's weight and the cosine of the sentence.
    """

    seeds: Count
    neighbours: Count
    per_seed: Count
    edge_weight: Weight
    relevance_weight: Weight
    threshold: Threshold
    edges: Sequence[EdgeKind]
    hops: Literal[1, 2] = 1
    reserved: CountFrom0 = 0
    path_weight: Literal["edge", "product"] = "edge"
    judge: Literal["llm"] | None = None
    judge_prompt: str = "expansion_judge"
    relations: CountFrom0 = 0

    def __post_init__(self) -> None:
        """Raise InputError on a value out of range, no edge kind, or weights that are all 0."""
        check_fields(self, "strategy.expansion")
        if not self.edges:
            raise InputError(
                "strategy.expansion.edges: []; use one or both of mentions, related_to"
            )
        if not (self.edge_weight or self.relevance_weight):
            raise InputError(
                "strategy.expansion.edge_weight: 0, as relevance_weight; set one of them above 0"
            )

    def score(self, edge: float, relevance: float) -> float:
        """Return the score of what is added over an `edge` with a `relevance` to the query."""
        return self.edge_weight * edge + self.relevance_weight * relevance


class ExpandedMemory(NamedTuple):
    """A memory added by an expansion, its path (seed memory and entity), the weight of the edge,
    its relevance to the query, and its score.
    """

    memory: str
    seed: str
    via: str
    edge: float
    relevance: float
    score: float

    def traced(self) -> dict[str, Any]:
        """Return the fields, with rounded numbers."""
        return rounded(self._asdict())


def rounded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` of a trace with their numbers rounded."""
    return {n: round(x, _DIGITS) if isinstance(x, float) else x for n, x in fields.items()}


class Expanded(NamedTuple):
    """The memories added by an expansion, best first, and the entities that it followed."""

    memories: list[ExpandedMemory]
    entities: list[str]


def expand(
    graph: MemoryGraph, seeds: Sequence[str], relevance: Callable[[str], float], settings: Expansion
) -> Expanded:
    """Return the memories within `hops` of the titles of `seeds` (ids, best first).

    The title of a seed is a node; its mention edges lead to memories, its RELATED_TO edges to
    entities and on to the memories that mention these. There is one batched look-up per hop and one
    more. A memory is visited once; a seed is never added. `relevance` maps the id of a reached
    memory to its relevance to the query, 0 to 1.
    """
    rooted = [seed for seed in seeds if seed in graph.titles]
    titles = [graph.titles[seed] for seed in rooted]
    reached, edges_of = _reach(graph, titles, settings)

    visited = {MEMORY + seed for seed in seeds}
    added: list[ExpandedMemory] = []
    for seed, title, weights in zip(rooted, titles, reached, strict=True):
        paths = [
            (mention, via, mention.weight if via == title else _joined(weight, mention, settings))
            for via, weight in weights.items()
            for mention in edges_of[via]
        ]
        reachable = _best(paths, seed, relevance, settings)
        fresh = [one for one in reachable if MEMORY + one.memory not in visited]
        added += fresh[: settings.per_seed]
        visited |= {MEMORY + one.memory for one in fresh[: settings.per_seed]}
    added.sort(key=lambda one: (-one.score, one.memory))
    return Expanded(added, list(dict.fromkeys(via for ways in reached for via in ways)))


def _reach(
    graph: MemoryGraph, titles: Sequence[str], settings: Expansion
) -> tuple[list[dict[str, float]], dict[str, list[Edge]]]:
    """Return, per title, the entities reached with the weight of their path; and all their edges.
    Of several paths to an entity the shortest counts, then the first.
    """
    ways = [{title: 1.0} for title in titles]  # the title and all entities reached from it
    fronts = [dict(way) for way in ways]
    edges_of: dict[str, list[Edge]] = {}
    hops = settings.hops if "related_to" in settings.edges else 0
    _look_up(graph, fronts, edges_of, is_last=hops == 0)
    for hop in range(1, hops + 1):
        fronts = [
            _step(front, way, edges_of, settings) for front, way in zip(fronts, ways, strict=True)
        ]
        _look_up(graph, fronts, edges_of, is_last=hop == hops)
        for way, front in zip(ways, fronts, strict=True):
            way.update(front)
    if "mentions" not in settings.edges:
        for way, title in zip(ways, titles, strict=True):
            del way[title]
    return ways, edges_of


def _look_up(
    graph: MemoryGraph,
    fronts: Sequence[Mapping[str, float]],
    edges_of: dict[str, list[Edge]],
    is_last: bool,
) -> None:
    """Add the edges of the new nodes in `fronts` to `edges_of`; on the last hop, mentions only."""
    new = sorted({node for front in fronts for node in front} - edges_of.keys())
    edges_of.update(zip(new, graph.store.neighbours(new, is_last), strict=True))


def _step(
    front: Mapping[str, float],
    seen: Mapping[str, float],
    edges_of: Mapping[str, list[Edge]],
    settings: Expansion,
) -> dict[str, float]:
    """Return the entities one RELATED_TO edge from `front` that are not in `seen`, with weights."""
    is_product = settings.path_weight == "product"
    reached: dict[str, float] = {}
    for node, weight in front.items():
        edges = (edge for edge in edges_of[node] if edge.kind == "related_to")
        new = [edge for edge in edges if edge.node not in seen]  # the way back does not count
        for edge in new[: settings.neighbours]:
            reached.setdefault(edge.node, weight * edge.weight if is_product else edge.weight)
    return reached


def _joined(weight: float, mention: Edge, settings: Expansion) -> float:
    """Return the weight of a path to an entity, of `weight`, and on by a mention to a memory."""
    return weight * mention.weight if settings.path_weight == "product" else weight


def _best(
    paths: list[tuple[Edge, str, float]],
    seed: str,
    relevance: Callable[[str], float],
    settings: Expansion,
) -> list[ExpandedMemory]:
    """Return the memories at the end of `paths` (last edge, its entity, weight), by best path."""
    best: dict[str, ExpandedMemory] = {}
    for edge, via, weight in paths:
        if edge.kind != "mentions":
            continue
        memory = edge.node.removeprefix(MEMORY)
        relevant = relevance(memory)
        if relevant < settings.threshold:
            continue
        score = settings.score(weight, relevant)
        if memory not in best or score > best[memory].score:
            best[memory] = ExpandedMemory(memory, seed, via, weight, relevant, score)
    return sorted(best.values(), key=lambda one: (-one.score, one.memory))
