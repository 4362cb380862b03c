"""Construction of the graph from memories, by rules and without a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memsys.graph.entities import EntityKind, entities
from memsys.graph.settings import GraphSettings
from memsys.graph.store import ENTITY, MEMORY, EdgeKind, GraphStore, NetworkXStore
from memsys.types import Memory


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """The graph store, and the title of each memory: the node of its heaviest entity.

    `titles` maps memory ids; a memory that shares no entity with another is not in it.
    """

    store: GraphStore
    titles: Mapping[str, str]


def build_graph(memories: Sequence[Memory], settings: GraphSettings) -> MemoryGraph:
    """Return the graph that links memories by shared entities.

    The rarity of an entity in df of n memories is ln(n / df) / ln(n), the inverse document
    frequency scaled to 0..1. The weight of a mention is rarity times the weight of the entity's
    kind; that of a RELATED_TO edge the Jaccard index of the memories that mention its entities.
    """
    speakers = {memory.speaker for memory in memories}
    entities_of = [entities(memory.content, speakers) for memory in memories]
    frequency = Counter(key for keys in entities_of for key in keys)
    weights = [_mentions(keys, frequency, len(memories), settings) for keys in entities_of]
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
    titles = {
        memory.id: ENTITY + next(iter(keys))
        for memory, keys in zip(memories, weights, strict=True)
        if keys
    }
    return MemoryGraph(store, titles)


def _mentions(
    keys: dict[str, EntityKind], frequency: Counter[str], n: int, settings: GraphSettings
) -> dict[str, float]:
    """Return the selected entities of one memory with their weights, heaviest first."""
    kinds = {"name": settings.name_weight, "phrase": 1.0, "keyword": settings.keyword_weight}
    # An entity of a single memory links nothing; one of half the store links everything.
    linking = {
        key: kinds[kind] * math.log(n / frequency[key]) / math.log(n)
        for key, kind in keys.items()
        if 1 < frequency[key] <= max(settings.max_share * n, 2) and frequency[key] < n
    }
    heaviest = sorted(linking, key=lambda key: -linking[key])[: settings.max_entities]
    return {key: linking[key] for key in heaviest}
