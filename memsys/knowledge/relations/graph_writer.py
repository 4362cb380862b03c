"""Ingestion into the relation graph: extract entities and relations, end contradicted ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from memsys.core.types import Session, Turn
from memsys.knowledge.facts.fact import Event, fault
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.relation_graph import Applied, Planned, RelationGraph
from memsys.knowledge.relations.triples import Entity, Triple, dated, id_of, verbalised
from memsys.llm.base import LLMError
from memsys.stores.relations import Relation


class RelationChange(NamedTuple):
    """A change of a relation: ADD, MENTION (stated again), RENEW (after its end), DELETE or END."""

    event: Applied
    source: str
    relationship: str
    destination: str


@dataclass(slots=True)
class _Progress:
    """The replies so far for one exchange, which are not asked for again."""

    entities: list[Entity] | None = None
    triples: list[Triple] | None = None
    ended: dict[int, str] | None = None
    stored: list[Relation] = field(default_factory=list)  # what the rows of `ended` refer to
    done: bool = False

    @property
    def step(self) -> str:
        """The first step without a reply."""
        if self.entities is None:
            return "entities"
        return "relations" if self.triples is None else "conflicts"


class GraphWriter:
    """Maintains the relations of one conversation. An error with one exchange loses that exchange
    only and is logged; writing the session again repeats the failed steps only. `changes` lists the
    changes of relations by the last session, in order.
    """

    def __init__(
        self,
        extractor: RelationExtractor,
        graph: RelationGraph,
        settings: RelationGraphSettings,
        log: list[Event],
        found: SameReply | None = None,
        public: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`found`: the entities and relations that came with the facts of an exchange; an exchange
        without them is extracted by calls. `public`: the ids under which turns are stored, by their
        own; the others are stored under theirs.
        """
        self._extractor, self._graph, self._found = extractor, graph, found
        self._settings, self._log, self._public = settings, log, public
        self.changes: list[RelationChange] = []
        self._progress: dict[str, _Progress] = {}  # by an exchange's first turn

    def write(self, session: Session) -> None:
        """Update the graph with `session`. Raises LLMError if the model answered for none of its
        exchanges: the server is down then, and there is no graph to measure.
        """
        self.changes = []
        start, step, turns = len(self._log), self._settings.exchange, session.turns
        exchanges = [turns[first : first + step] for first in range(0, len(turns), step)]
        errors = [error for one in exchanges if (error := self._read(one, session))]
        events = self._log[start:]
        done = Counter(str(e["operation"]) for e in events if e["step"] == "apply_relation")
        faults = sum("fault" in one for one in events)
        lost = sum(not self._progress[one[0].id].done for one in exchanges)
        totals = {"faults": faults, "lost": lost, "of": len(exchanges)}
        self._log.append({"step": "graph", **done, **totals})
        if errors and len(errors) == len(exchanges):
            raise LLMError(
                f"none of {len(exchanges)} exchanges was ingested into the graph: {errors[-1]}"
            )

    def forget(self) -> None:
        """Delete the replies so far, of which a session that is written again would use those of
        incomplete exchanges, and the list of changes. The graph stays as it is.
        """
        self.changes = []
        self._progress = {first: _Progress(done=one.done) for first, one in self._progress.items()}

    def _read(self, turns: Sequence[Turn], session: Session) -> LLMError | None:
        """Process one exchange; return the error if its first call had no answer."""
        progress = self._progress.setdefault(turns[0].id, _Progress())
        if progress.done:
            return None
        try:
            progress.done = self._exchange(turns, session, progress)
        except LLMError as error:
            ids = [turn.id for turn in turns]
            self._log.append(fault(progress.step, "no_answer", error, turns=ids))
            return error if progress.entities is None else None
        return None

    def _exchange(self, turns: Sequence[Turn], session: Session, at: _Progress) -> bool:
        """Return whether the exchange is complete in the graph. Raises LLMError without a reply."""
        time, log = session.time, self._log
        if at.entities is None and self._found is not None:
            at.entities, at.triples = self._found.pop(turns)
        if at.entities is None:
            at.entities = self._extractor.entities(turns, time, log)
        if not at.entities:
            return at.entities is not None
        if at.triples is None:
            at.triples = self._extractor.triples(turns, time, at.entities, log)
        if at.triples is None:
            return False
        planned = self._graph.plan(at.triples, time)
        if at.ended is None:  # ask which of the open relations around the entities have ended
            stated = {one.key for one in planned}  # what is stated again has not ended
            near = self._graph.around([entity.name for entity in at.entities])
            open_ = [one for one, _ in near if one.ended is None and one.key not in stated]
            with self._graph.writing():  # none is deleted between the two reads
                at.stored = self._graph.stored(open_[: self._settings.shown])
                ends = self._graph.ends(at.stored)
            listed = [dated(*one) for one in zip(at.stored, ends, strict=True)]
            new = [one.triple for one in planned]
            at.ended = self._extractor.ended(turns, time, listed, new, log) if listed else {}
        if at.ended is None:
            return False
        with self._graph.writing():
            if at.ended:
                self._end(turns, time, {at.stored[row]: why for row, why in at.ended.items()})
            if planned:
                self._add(planned, time)
        return True

    def _add(self, planned: Sequence[Planned], time: datetime) -> None:
        public = [
            replace(
                one.triple, turns=tuple(self._public.get(turn, turn) for turn in one.triple.turns)
            )
            for one in planned
        ]
        published = [
            replace(one, triple=triple) for one, triple in zip(planned, public, strict=True)
        ]
        for one, operation in zip(planned, self._graph.add(published, time), strict=True):
            triple, ends = one.triple, [end.name for end in one.ends]
            self.changes.append(RelationChange(operation, ends[0], triple.name, ends[1]))
            named = zip((triple.source.name, triple.destination.name), ends, strict=True)
            merged = {name: end for name, end in named if name != end}
            text = f"{ends[0]} {triple.name} {ends[1]}"
            more = {"merged": merged} if merged else {}
            self._log_change(operation, id_of(one), text, triple.turns, **more)

    def _end(self, turns: Sequence[Turn], time: datetime, ended: Mapping[Relation, str]) -> None:
        """End the relations `ended`, each for its reason, unless they ended or were deleted while
        the model was asked.
        """
        reasons = {one.key: why for one, why in ended.items()}
        left = [one for one in self._graph.stored(list(ended)) if one.ended is None]
        ends, ids = self._graph.ends(left), [turn.id for turn in turns]
        operation = self._graph.end(left, time)
        for one, (source, target) in zip(left, ends, strict=True):
            self.changes.append(RelationChange(operation, source.name, one.name, target.name))
            text = verbalised(one, (source, target))
            self._log_change(operation, id_of(one), text, ids, why=reasons[one.key])

    def _log_change(
        self, operation: Applied, relation: str, text: str, turns: Sequence[str], **more: object
    ) -> None:
        event = {"step": "apply_relation", "operation": operation, "relation": relation}
        self._log.append({**event, "text": text, **more, "turns": list(turns)})
