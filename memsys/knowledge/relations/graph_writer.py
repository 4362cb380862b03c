"""Ingestion into the relation graph: extract entities and relations, end contradicted ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal, NamedTuple

from memsys.core.types import Session, Turn
from memsys.knowledge.facts.fact import Event, fault
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.relation_graph import Applied, Key, Planned, RelationGraph
from memsys.knowledge.relations.triples import id_of
from memsys.llm.base import LLMError
from memsys.stores.relations import Relation

Step = Literal["entities", "relations", "conflicts"]


class RelationChange(NamedTuple):
    """A change of a relation: ADD, MENTION (stated again), RENEW (after its end), DELETE or END."""

    event: Applied
    source: str
    relationship: str
    destination: str


class GraphWriter:
    """Maintains the relations of one conversation. An error with one exchange loses that exchange
    only and is logged.
    """

    def __init__(
        self,
        extractor: RelationExtractor,
        graph: RelationGraph,
        settings: RelationGraphSettings,
        part: SameReply | None = None,
        public: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`part`: the entities and relations that came with the facts of an exchange; an exchange
        without them is extracted by calls. `public`: the ids under which turns are stored, by their
        own; the others are stored under theirs.
        """
        self._extractor, self._graph, self._part = extractor, graph, part
        self._settings, self._public = settings, public
        self._log: list[Event] = []
        self._step: Step = "entities"

    def write(self, session: Session, log: list[Event]) -> list[RelationChange]:
        """Update the graph with `session`, and `log` the steps; return the changes of relations, in
        order. Raises LLMError if the model answered for none of its exchanges: the server is down
        then, and there is no graph to measure.
        """
        changes: list[RelationChange] = []
        self._log = log
        start, size, turns = len(self._log), self._settings.exchange, session.turns
        exchanges = [turns[first : first + size] for first in range(0, len(turns), size)]
        lost, errors = 0, []
        for exchange in exchanges:
            try:
                lost += not self._exchange(exchange, session.time, changes)
            except LLMError as error:
                lost += 1
                ids = [turn.id for turn in exchange]
                self._log.append(fault(self._step, "no_answer", error, turns=ids))
                if self._step == "entities":
                    errors.append(error)
        events = self._log[start:]
        done = Counter(str(e["operation"]) for e in events if e["step"] == "apply_relation")
        faults = sum("fault" in event for event in events)
        totals = {"faults": faults, "lost": lost, "of": len(exchanges)}
        self._log.append({"step": "graph", **done, **totals})
        if errors and len(errors) == len(exchanges):
            raise LLMError(
                f"none of {len(exchanges)} exchanges was ingested into the graph: {errors[-1]}"
            )
        return changes

    def _exchange(
        self, turns: Sequence[Turn], time: datetime, changes: list[RelationChange]
    ) -> bool:
        """Return whether all that was asked about an exchange could be read; its changes are then
        in the graph and in `changes`. Raises LLMError without a reply; `_step` is then what was
        asked.
        """
        log, extractor = self._log, self._extractor
        self._step = "entities"
        entities, triples = self._part.pop(turns) if self._part is not None else (None, None)
        if entities is None:
            entities = extractor.entities(turns, time, log)
        if not entities:
            return entities is not None
        self._step = "relations"
        if triples is None:
            triples = extractor.triples(turns, time, entities, log)
        if triples is None:
            return False
        self._step = "conflicts"
        planned = self._graph.plan(triples, time)
        stated = {plan.key for plan in planned}  # what is stated again has not ended
        near = self._graph.around([entity.name for entity in entities])
        open_ = [edge for edge, _ in near if edge.ended is None and edge.key not in stated]
        with self._graph.writing():  # none is deleted between the two reads
            stored = self._graph.stored(open_[: self._settings.shown])
        ended: Mapping[int, str] | None = {}
        if stored:
            listed = [related.dated for related in stored]
            ended = extractor.ended(turns, time, listed, [plan.triple for plan in planned], log)
        if ended is None:
            return False
        with self._graph.writing():
            if ended:
                reasons = {stored[row].relation: why for row, why in ended.items()}
                changes += self._end(turns, time, reasons)
            if planned:
                changes += self._add(planned, time)
        return True

    def _add(self, planned: Sequence[Planned], time: datetime) -> list[RelationChange]:
        changes, published = [], []
        for plan in planned:
            turns = tuple(self._public.get(turn, turn) for turn in plan.triple.turns)
            published.append(replace(plan, triple=replace(plan.triple, turns=turns)))
        for plan, operation in zip(planned, self._graph.add(published, time), strict=True):
            triple, (source, target) = plan.triple, plan.ends
            pairs = (triple.source.name, source.name), (triple.destination.name, target.name)
            merged = {name: end for name, end in pairs if name != end}
            more = {"merged": merged} if merged else {}
            names = source.name, triple.name, target.name
            changes.append(self._log_change(operation, plan.key, names, triple.turns, **more))
        return changes

    def _end(
        self, turns: Sequence[Turn], time: datetime, ended: Mapping[Relation, str]
    ) -> list[RelationChange]:
        """End the relations `ended`, each for its reason, unless they ended or were deleted while
        the model was asked.
        """
        reasons = {relation.key: why for relation, why in ended.items()}
        left = [pair for pair in self._graph.stored(list(ended)) if pair.relation.ended is None]
        operation = self._graph.end([relation for relation, _ in left], time)
        ids, changes = [turn.id for turn in turns], []
        for relation, (source, target) in left:
            names, why = (source.name, relation.name, target.name), reasons[relation.key]
            changes.append(self._log_change(operation, relation.key, names, ids, why=why))
        return changes

    def _log_change(
        self, operation: Applied, key: Key, names: Key, turns: Sequence[str], **more: object
    ) -> RelationChange:
        """Log a change of the relation `key`, and return it; `names`: of source, itself, target."""
        event = {"step": "apply_relation", "operation": operation, "relation": id_of(key)}
        self._log.append({**event, "text": " ".join(names), **more, "turns": list(turns)})
        return RelationChange(operation, *names)
