"""Expansion: from the titles of memories along the graph to other memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from memsys.core.declared import Count, CountFrom0, Threshold, Weight, check_fields
from memsys.core.errors import refuse
from memsys.graph.store import MEMORY, EdgeKind, MemoryGraph

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
        no_weight = "edge_weight: 0, as relevance_weight; set one of them above 0"
        faults = {
            "strategy.expansion.edges: []; use one or both of mentions, related_to": not self.edges,
            f"strategy.expansion.{no_weight}": not (self.edge_weight or self.relevance_weight),
        }
        refuse(faults)

    def score(self, edge: float, relevance: float) -> float:
        """Return the score of what is added over an `edge` with a `relevance` to the query."""
        return self.edge_weight * edge + self.relevance_weight * relevance


class ExpandedMemory(NamedTuple):
    """The id of a memory added by an expansion, its path (seed memory and entity), the weight of
    the edge, its relevance to the query, and its score.
    """

    memory_id: str
    seed: str
    via: str
    edge: float
    relevance: float
    score: float

    def traced(self) -> dict[str, Any]:
        """Return the fields, the id as `memory`, with rounded numbers."""
        fields = self._asdict()
        return rounded({"memory": fields.pop("memory_id"), **fields})


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
    """Return the memories within `hops` of the start nodes of `seeds` (ids, best first).

    The start node of a seed is that of its title; its mention edges lead to memories, its
    RELATED_TO edges to entities and on to the memories that mention these. There is one batched
    look-up per hop and one more. A memory is visited once; a seed is never added. `relevance` maps
    the id of a reached memory to its cosine to the query, or to -inf if it must not be added.
    """
    linked = [seed for seed in seeds if seed in graph.start_nodes]
    starts = [graph.start_nodes[seed] for seed in linked]
    reached = _reached_entities(graph, starts, settings)
    entities = list(dict.fromkeys(via for weights in reached for via in weights))
    nodes = sorted(entities)
    mentions = dict(zip(nodes, graph.store.neighbours(nodes, mentions_only=True), strict=True))
    relevances = dict[str, float]()  # of the nodes of memories
    visited = {MEMORY + seed for seed in seeds}
    added: list[ExpandedMemory] = []
    for seed, start, weights in zip(linked, starts, reached, strict=True):
        best: dict[str, ExpandedMemory] = {}
        for via, weight in weights.items():
            is_product = settings.path_weight == "product" or via == start  # whose weight is 1
            for node, _, mention in mentions[via]:
                if node in visited:
                    continue
                if (relevant := relevances.get(node)) is None:
                    relevant = relevances[node] = relevance(node.removeprefix(MEMORY))
                if relevant < settings.threshold:
                    continue
                edge = weight * mention if is_product else weight
                score = settings.score(edge, relevant)
                if node not in best or score > best[node].score:
                    memory_id = node.removeprefix(MEMORY)
                    best[node] = ExpandedMemory(memory_id, seed, via, edge, relevant, score)
        fresh = sorted(best.values(), key=_best_first)[: settings.per_seed]
        added += fresh
        visited |= {MEMORY + memory.memory_id for memory in fresh}
    return Expanded(sorted(added, key=_best_first), entities)


def _best_first(memory: ExpandedMemory) -> tuple[float, str]:
    return -memory.score, memory.memory_id


def _reached_entities(
    graph: MemoryGraph, starts: Sequence[str], settings: Expansion
) -> list[dict[str, float]]:
    """Return, per start, the entities reached with the weight of their path, the start among them
    where mentions are followed. Of several paths to an entity the shortest counts, then the first.
    """
    reached = [{start: 1.0} for start in starts]
    frontiers = [dict(weights) for weights in reached]
    is_product = settings.path_weight == "product"
    for _ in range(settings.hops if "related_to" in settings.edges else 0):
        nodes = sorted({node for frontier in frontiers for node in frontier})
        edges_of = dict(zip(nodes, graph.store.neighbours(nodes), strict=True))
        for place, (frontier, weights) in enumerate(zip(frontiers, reached, strict=True)):
            following: dict[str, float] = {}
            for node, weight in frontier.items():
                edges = (edge for edge in edges_of[node] if edge.kind == "related_to")
                new = (edge for edge in edges if edge.node not in weights)  # no path leads back
                for edge in islice(new, settings.neighbours):
                    following.setdefault(
                        edge.node, weight * edge.weight if is_product else edge.weight
                    )
            frontiers[place] = following
            weights.update(following)
    if "mentions" not in settings.edges:
        for weights, start in zip(reached, starts, strict=True):
            del weights[start]
    return reached
