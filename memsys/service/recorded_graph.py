"""A relation graph that reports its changes to the caller of an `add`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.relations.relation_graph import (
    Applied,
    Planned,
    RelationGraph,
    RelationGraphSettings,
)
from memsys.knowledge.relations.triples import Triple
from memsys.service.records import RelationChange
from memsys.stores.relations import Relation, RelationStore


class RecordedGraph(RelationGraph):
    """A graph that appends its changes to `changes`, and stores the keys of turns (`public`); see
    turn_key.
    """

    def __init__(
        self,
        store: RelationStore,
        owner: str,
        embedder: CachedEmbedder,
        settings: RelationGraphSettings,
        others: Iterable[str],
        public: Mapping[str, str],
        changes: list[RelationChange],
    ) -> None:
        super().__init__(store, owner, embedder, settings, others)
        self._public, self._changes = public, changes

    def add(self, planned: Sequence[Planned], time: datetime) -> list[Applied]:
        """See RelationGraph."""
        own = [replace(one, triple=self._named(one)) for one in planned]
        operations = super().add(own, time)
        for one, operation in zip(own, operations, strict=True):
            source, destination = (end.name for end in one.ends)
            self._changes.append(RelationChange(operation, source, one.triple.name, destination))
        return operations

    def end(self, relations: Sequence[Relation], time: datetime) -> Applied:
        """See RelationGraph."""
        ends = self.ends(relations)
        operation = super().end(relations, time)
        for one, (source, destination) in zip(relations, ends, strict=True):
            change = RelationChange(operation, source.name, one.name, destination.name)
            self._changes.append(change)
        return operation

    def _named(self, planned: Planned) -> Triple:
        turns = tuple(self._public.get(turn, turn) for turn in planned.triple.turns)
        return replace(planned.triple, turns=turns)
