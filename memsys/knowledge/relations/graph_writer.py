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
from memsys.knowledge.relations.relation_graph import Applied, Planned, RelationGraph
from memsys.knowledge.relations.triples import dated, id_of, verbalised
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
        found: SameReply | None = None,
        public: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`found`: the entities and relations that came with the facts of an exchange; an exchange
        without them is extracted by calls. `public`: the ids under which turns are stored, by their
        own; the others are stored under theirs.
        """
        self._extractor, self._graph, self._found = extractor, graph, found
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
        faults = sum("fault" in one for one in events)
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
        entities, triples = self._found.pop(turns) if self._found is not None else (None, None)
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
        stated = {one.key for one in planned}  # what is stated again has not ended
        near = self._graph.around([entity.name for entity in entities])
        open_ = [one for one, _ in near if one.ended is None and one.key not in stated]
        with self._graph.writing():  # none is deleted between the two reads
            stored = self._graph.stored(open_[: self._settings.shown])
            ends = self._graph.ends(stored)
        ended: Mapping[int, str] | None = {}
        if stored:
            listed = [dated(*one) for one in zip(stored, ends, strict=True)]
            ended = extractor.ended(turns, time, listed, [one.triple for one in planned], log)
        if ended is None:
            return False
        with self._graph.writing():
            if ended:
                reasons = {stored[row]: why for row, why in ended.items()}
                changes += self._end(turns, time, reasons)
            if planned:
                changes += self._add(planned, time)
        return True

    def _add(self, planned: Sequence[Planned], time: datetime) -> list[RelationChange]:
        changes, published = [], []
        for one in planned:
            turns = tuple(self._public.get(turn, turn) for turn in one.triple.turns)
            published.append(replace(one, triple=replace(one.triple, turns=turns)))
        for one, operation in zip(planned, self._graph.add(published, time), strict=True):
            triple, ends = one.triple, [end.name for end in one.ends]
            changes.append(RelationChange(operation, ends[0], triple.name, ends[1]))
            named = zip((triple.source.name, triple.destination.name), ends, strict=True)
            merged = {name: end for name, end in named if name != end}
            text = f"{ends[0]} {triple.name} {ends[1]}"
            more = {"merged": merged} if merged else {}
            self._log_change(operation, id_of(one.key), text, triple.turns, **more)
        return changes

    def _end(
        self, turns: Sequence[Turn], time: datetime, ended: Mapping[Relation, str]
    ) -> list[RelationChange]:
        """End the relations `ended`, each for its reason, unless they ended or were deleted while
        the model was asked.
        """
        reasons = {one.key: why for one, why in ended.items()}
        left = [one for one in self._graph.stored(list(ended)) if one.ended is None]
        ends, ids = self._graph.ends(left), [turn.id for turn in turns]
        operation, changes = self._graph.end(left, time), []
        for one, (source, target) in zip(left, ends, strict=True):
            changes.append(RelationChange(operation, source.name, one.name, target.name))
            text = verbalised(one, (source, target))
            self._log_change(operation, id_of(one.key), text, ids, why=reasons[one.key])
        return changes

    def _log_change(
        self, operation: Applied, relation: str, text: str, turns: Sequence[str], **more: object
    ) -> None:
        event = {"step": "apply_relation", "operation": operation, "relation": relation}
        self._log.append({**event, "text": text, **more, "turns": list(turns)})
