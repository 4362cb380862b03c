"""The write path without a model: from memories to a graph."""

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
    """The store and each memory's title: its heaviest entity's node, absent if it has none.

    `titles` maps memory ids; memories without an entity that another shares are not in it.
    """

    store: GraphStore
    titles: Mapping[str, str]


def build_graph(memories: Sequence[Memory], settings: GraphSettings) -> MemoryGraph:
    """Link memories by shared entities.

    Rarity of an entity in n memories, df of them with it: ln(n / df) / ln(n), the inverse document
    frequency scaled to 0..1. A mention weighs rarity times the weight of the entity's kind. Two
    entities are RELATED_TO each other by the Jaccard index of the memories that mention them.
    """
    speakers = {memory.speaker for memory in memories}
    found = [entities(memory.content, speakers) for memory in memories]
    frequency = Counter(key for keys in found for key in keys)
    weights = [_mentions(keys, frequency, len(memories), settings) for keys in found]
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
    """The entities kept of one memory with their weights, heaviest first."""
    kinds = {
        "name": settings.name_weight,
        "phrase": 1.0,
        "keyword": settings.keyword_weight,
    }
    # An entity that no other memory has links nothing; one that half the store has, everything.
    linking = {
        key: kinds[kind] * math.log(n / frequency[key]) / math.log(n)
        for key, kind in keys.items()
        if 1 < frequency[key] <= max(settings.max_share * n, 2) and frequency[key] < n
    }
    heaviest = sorted(linking, key=lambda key: -linking[key])[: settings.max_entities]
    return {key: linking[key] for key in heaviest}
