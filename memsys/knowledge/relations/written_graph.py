"""`graph=relations`: a model writes the graph, and memories are linked by what it wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Sequence
from itertools import chain
from typing import Any
from uuid import uuid4

from memsys.core.declared import Name, Share, check_values
from memsys.core.terms import is_cjk, terms
from memsys.core.types import Memory, Session
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import rarity
from memsys.graph.entities import key_of
from memsys.graph.store import ENTITY, MEMORY, EdgeKind, MemoryGraph, NetworkXStore, Statement
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.graph_writer import GraphWriter
from memsys.knowledge.relations.relation_graph import RelationGraph
from memsys.knowledge.relations.triples import Related
from memsys.llm.base import LLM, needed_model
from memsys.stores.relations import Node, RelationStore


class WrittenByModel:
    """The settings of `graph=relations`; `open` returns the graph of one conversation."""

    def __init__(
        self, name: Name, relation_store: RelationStore, max_share: Share, **settings: Any
    ) -> None:
        """`relation_store` may be shared: each conversation has its own owner id there.
        `max_share`: see link_memories. `settings`: see RelationGraphSettings. Raises TypeError on
        an unknown or missing setting, InputError on a value out of range.
        """
        check_values(WrittenByModel, locals(), "graph")
        self.name, self._store, self._max_share = name, relation_store, max_share
        self._settings = RelationGraphSettings(**{**settings, "place": "graph"})

    def open(self, llm: LLM | None, embedder: CachedEmbedder) -> WrittenGraph:
        """Return an empty graph. Raises InputError without a model, or if a prompt is unusable."""
        remedy = "add llm=openai, or llm=local graph.calls=schema"
        model = needed_model(llm, f"graph={self.name}", "write the graph", remedy)
        extractor = RelationExtractor(model, self._settings)
        graph = RelationGraph(self._store, uuid4().hex, embedder, self._settings)
        return WrittenGraph(extractor, graph, self._settings, self._max_share)


class WrittenGraph:
    """The entities and relations of one conversation, and the links that they make.

    `part` reads entities and relations from a reply with the facts of `exchange` messages (see
    SameReply); an exchange without such a reply is extracted by calls.
    """

    def __init__(
        self,
        extractor: RelationExtractor,
        relations: RelationGraph,
        settings: RelationGraphSettings,
        max_share: float,
    ) -> None:
        self.prompts, self.exchange = extractor.prompts, settings.exchange
        self.part = SameReply(extractor)
        self._relations, self._max_share = relations, max_share
        self._writer = GraphWriter(extractor, relations, settings, self.part)

    def write(self, session: Session, log: list[Event]) -> None:
        """Add what `session` states, and log the steps; see GraphWriter.write."""
        self._writer.write(session, log)

    def build(self, memories: Sequence[Memory]) -> MemoryGraph:
        """Return the graph over `memories`; see link_memories."""
        with self._relations.writing():  # none is deleted between the two reads
            related = self._relations.related(self._relations.relations())
        return link_memories(memories, related, self._max_share)

    def size(self) -> dict[str, int]:
        """Return the tokens and bytes of the entities and relations; see RelationGraph.size."""
        size = self._relations.size()
        return {unit: size[unit] for unit in ("tokens", "bytes")}

    def forget(self, turns: Collection[str], unsaid: Container[object]) -> int:
        """Delete what rests on `turns`; see RelationGraph.forget."""
        self.part.forget(turns)
        return self._relations.forget(turns, unsaid)

    def clear(self) -> None:
        """Delete the entities and relations from the store."""
        self._relations.clear()


Pair = tuple[str, str]  # keys of two entities, sorted


def link_memories(
    memories: Sequence[Memory], relations: Sequence[Related], max_share: float
) -> MemoryGraph:
    """Return the graph that links `memories` by `relations`.

    A memory mentions its title, the ends of every relation that one of its turns states, and the
    entities whose names occur in its content. The weight of a mention is the entity's `rarity`;
    what more than `max_share` of the memories mention is mentioned only as a title.

    RELATED_TO edges join a title with the entities of its memory, with the Jaccard index of the
    memories that mention each; and the ends of relations that have not ended, with m / (m + 1) for
    the m times that such a relation was stated. The greater weight counts.
    """
    mentions = _mentions(memories, relations, max_share)
    members: defaultdict[str, set[str]] = defaultdict(set)
    for id_, weights in mentions.items():
        for key in weights:
            members[key].add(id_)
    related: dict[Pair, float] = {}
    for memory in memories:
        title = key_of(memory.title)
        for key in mentions[memory.id] if title else ():
            if key != title:
                both, any_ = members[title] & members[key], members[title] | members[key]
                related[_pair(title, key)] = len(both) / len(any_)
    stated: Counter[Pair] = Counter()
    for relation, ends in relations:
        source, target = map(key_of_node, ends)
        if relation.ended is None and source != target:
            stated[_pair(source, target)] += relation.mentions
    for pair, count in stated.items():
        related[pair] = max(related.get(pair, 0.0), _weight(count))
    store = NetworkXStore()
    kinds: tuple[EdgeKind, EdgeKind] = "mentions", "related_to"
    store.add(
        (MEMORY + id_, ENTITY + key, kinds[0], weight)
        for id_, weights in mentions.items()
        for key, weight in weights.items()
    )
    store.add((ENTITY + key, ENTITY + other, kinds[1], w) for (key, other), w in related.items())
    start_nodes = {id_: ENTITY + next(iter(w)) for id_, w in mentions.items() if w}
    return MemoryGraph(store, start_nodes, _statements(relations))


def _statements(relations: Sequence[Related]) -> dict[str, list[Statement]]:
    """Return the relations that have not ended, by the nodes of their ends, with the weight of the
    edge that each of them alone would make.
    """
    statements: defaultdict[str, list[Statement]] = defaultdict(list)
    for related in relations:
        if related.relation.ended is None:
            stated = Statement(related.as_memory(), _weight(related.relation.mentions))
            for key in dict.fromkeys(map(key_of_node, related.ends)):
                statements[ENTITY + key].append(stated)
    return dict(statements)


def _weight(mentions: int) -> float:
    return mentions / (mentions + 1)


def key_of_node(node: Node) -> str:
    """Return the key of an entity; it is that of a title of the same words."""
    return key_of(node.name) or node.id


def _mentions(
    memories: Sequence[Memory], relations: Sequence[Related], max_share: float
) -> dict[str, dict[str, float]]:
    """Return what each memory mentions with its weights: its title, if any, then heaviest first;
    entities of equal weight in order of appearance.
    """
    of_turn: defaultdict[str, list[str]] = defaultdict(list)
    for relation, ends in relations:
        for turn in relation.turns:
            of_turn[turn] += map(key_of_node, ends)
    names = _Names({key_of_node(node) for _, ends in relations for node in ends})
    named = [
        dict.fromkeys(
            chain(
                filter(None, [key_of(memory.title)]),
                *(of_turn.get(turn, ()) for turn in memory.turns),
                names.occurring(memory.content),
            )
        )
        for memory in memories
    ]
    n, frequency = len(memories), Counter(chain.from_iterable(named))
    most = max(max_share * n, 2)
    mentions: dict[str, dict[str, float]] = {}
    for memory, keys in zip(memories, named, strict=True):
        title = key_of(memory.title)
        weights = {
            key: rarity(frequency[key], n) for key in keys if key == title or frequency[key] <= most
        }
        ordered = sorted(weights, key=lambda key: (key != title, -weights[key]))
        mentions[memory.id] = {key: weights[key] for key in ordered}
    return mentions


def _pair(key: str, other: str) -> Pair:
    return (key, other) if key < other else (other, key)


class _Names:
    """The keys of entities, found in a text by whole words; Chinese ones anywhere."""

    def __init__(self, keys: set[str]) -> None:
        self._keys = keys
        self._words = sorted({key.count(" ") + 1 for key in keys if not is_cjk(key)})
        self._characters = sorted({len(key) for key in keys if is_cjk(key)})

    def occurring(self, text: str) -> Iterator[str]:
        """Yield the keys that occur in `text`."""
        stems = terms(text)
        for size in self._words:
            spans = (" ".join(stems[i : i + size]) for i in range(len(stems) - size + 1))
            yield from (span for span in spans if span in self._keys)
        for size in self._characters if is_cjk(text) else ():
            parts = (text[i : i + size] for i in range(len(text) - size + 1))
            yield from (part for part in parts if part in self._keys)
