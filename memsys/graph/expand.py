"""One hop out from what was found: memories that only the graph connects to the query."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memsys.errors import InputError
from memsys.graph.build import MemoryGraph
from memsys.graph.store import MEMORY, Edge, EdgeKind


@dataclass(frozen=True, slots=True)
class Expansion:
    """The numbers of an expansion.

    `seeds`: best direct results to start from. `neighbours`: heaviest related entities followed
    of each seed's title. `per_seed`: most memories a seed adds. `threshold`: least relevance of an
    added memory. Its score is edge_weight * edge + relevance_weight * relevance. `edges`: the
    kinds that are followed.
    """

    seeds: int
    neighbours: int
    per_seed: int
    edge_weight: float
    relevance_weight: float
    threshold: float
    edges: Collection[EdgeKind]

    def __post_init__(self) -> None:
        """Raises InputError on an unknown edge kind or a count below 1."""
        unknown = set(self.edges) - {"mentions", "related_to"}
        if unknown or not self.edges:
            raise InputError("expansion.edges: use one or both of mentions, related_to")
        if min(self.seeds, self.neighbours, self.per_seed) < 1:
            raise InputError("expansion: seeds, neighbours and per_seed must be 1 or more")


@dataclass(frozen=True, slots=True)
class Added:
    """A memory that an expansion adds, its score, and the path: seed memory, entity followed."""

    memory: str
    score: float
    seed: str
    via: str


def expand(
    graph: MemoryGraph, seeds: Sequence[str], relevance: Mapping[str, float], settings: Expansion
) -> list[Added]:
    """Memories one hop from the titles of `seeds` (ids, best first), best first.

    A seed's title is a node; its mention edges lead to memories, its RELATED_TO edges to entities
    and so to the memories that mention these (edge weight: the product along the path). Two
    batched look-ups in all. A memory is visited once, a seed never added. `relevance` maps every
    memory id to its relevance to the query, 0 to 1.
    """
    titles = [graph.titles[seed] for seed in seeds if seed in graph.titles]
    rooted = [seed for seed in seeds if seed in graph.titles]
    first = graph.store.neighbours(titles)
    related = [
        [edge for edge in edges if edge.kind == "related_to"][: settings.neighbours]
        if "related_to" in settings.edges
        else []
        for edges in first
    ]
    entities = sorted({edge.node for edges in related for edge in edges})
    second = dict(zip(entities, graph.store.neighbours(entities), strict=True))

    visited = {MEMORY + seed for seed in seeds}
    added: list[Added] = []
    for seed, title, edges, to_entities in zip(rooted, titles, first, related, strict=True):
        paths = [(edge, title, 1.0) for edge in edges if "mentions" in settings.edges]
        paths += [(e, far.node, far.weight) for far in to_entities for e in second[far.node]]
        found = _best(paths, seed, relevance, settings)
        fresh = [one for one in found if MEMORY + one.memory not in visited]
        added += fresh[: settings.per_seed]
        visited |= {MEMORY + one.memory for one in fresh[: settings.per_seed]}
    return sorted(added, key=lambda one: (-one.score, one.memory))


def _best(
    paths: list[tuple[Edge, str, float]],
    seed: str,
    relevance: Mapping[str, float],
    settings: Expansion,
) -> list[Added]:
    """Memories at the end of `paths` (last edge, its entity, weight so far), each by its best."""
    best: dict[str, Added] = {}
    for edge, via, weight in paths:
        if edge.kind != "mentions":
            continue
        memory = edge.node.removeprefix(MEMORY)
        relevant = relevance.get(memory, 0.0)
        if relevant < settings.threshold:
            continue
        score = settings.edge_weight * weight * edge.weight + settings.relevance_weight * relevant
        if memory not in best or score > best[memory].score:
            best[memory] = Added(memory, score, seed, via)
    return sorted(best.values(), key=lambda one: (-one.score, one.memory))
