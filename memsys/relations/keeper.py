"""The write path: entities, relations, what they contradict, and then the change of the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memsys.facts.base import Event, fault
from memsys.llm.base import LLMError
from memsys.relations.base import Entity, Triple, id_of
from memsys.relations.extract import Extractor
from memsys.relations.graph import Applied, OwnGraph
from memsys.relations.settings import GraphSettings
from memsys.stores.relations import Relation
from memsys.types import Session, Turn


@dataclass(slots=True)
class _Progress:
    """How far an exchange has come: what is there is not asked for again."""

    entities: list[Entity] | None = None
    triples: list[Triple] | None = None
    ended: dict[int, str] | None = None
    stored: list[Relation] = field(default_factory=list)  # those that `ended` counts
    done: bool = False


class GraphKeeper:
    """Keeps the relations of one conversation. What goes wrong with one exchange costs that
    exchange alone; it goes into `log`, and keeping the session again does what was left undone and
    nothing twice.
    """

    def __init__(
        self, extractor: Extractor, graph: OwnGraph, settings: GraphSettings, log: list[Event]
    ) -> None:
        self._extractor, self._graph = extractor, graph
        self._settings, self._log = settings, log
        self._progress: dict[str, _Progress] = {}  # by an exchange's first turn

    def keep(self, session: Session) -> None:
        """Bring the graph up to date with `session`. Raises LLMError where the model answered for
        none of its exchanges: then it is the server that fails, and there is no graph to measure.
        """
        start, exchanges = len(self._log), list(self._exchanges(session))
        unheard = [error for turns in exchanges if (error := self._hear(turns, session))]
        events = self._log[start:]
        done = Counter(str(e["operation"]) for e in events if e["step"] == "apply_relation")
        faults = sum("fault" in one for one in events)
        lost = sum(not self._progress[turns[0].id].done for turns in exchanges)
        told = {"faults": faults, "lost": lost, "of": len(exchanges)}
        self._log.append({"step": "graph", **done, **told})
        if unheard and len(unheard) == len(exchanges):
            raise LLMError(f"none of {len(exchanges)} exchanges came into the graph: {unheard[-1]}")

    def _hear(self, turns: Sequence[Turn], session: Session) -> LLMError | None:
        """The error where nothing at all was answered for an exchange."""
        progress = self._progress.setdefault(turns[0].id, _Progress())
        if progress.done:
            return None
        try:
            progress.done = self._exchange(turns, session, progress)
        except LLMError as error:
            ids = [turn.id for turn in turns]
            self._log.append(fault(_step(progress), "no_answer", error, turns=ids))
            return error if progress.entities is None else None
        return None

    def _exchanges(self, session: Session) -> Iterator[Sequence[Turn]]:
        step = self._settings.exchange
        for start in range(0, len(session.turns), step):
            yield session.turns[start : start + step]

    def _exchange(self, turns: Sequence[Turn], session: Session, at: _Progress) -> bool:
        """Whether all that `turns` say is in the graph; raises LLMError where no reply came."""
        time, log = session.time, self._log
        if at.entities is None:
            at.entities = self._extractor.entities(turns, time, log)
        if not at.entities:
            return at.entities is not None
        if at.triples is None:
            at.triples = self._extractor.triples(turns, time, at.entities, log)
        if at.triples is None:
            return False
        planned = self._graph.plan(at.triples, time)
        if at.ended is None:
            said = {one.key for one in planned}  # what is said again is not in question
            names = [entity.name for entity in at.entities]
            near = [one for one, _ in self._graph.around(names)]
            open_ = [one for one in near if one.ended is None and one.key not in said]
            at.stored = open_[: self._settings.shown]
            new = [one.triple for one in planned]
            listed = self._graph.sentences(at.stored)
            at.ended = self._extractor.ended(turns, time, listed, new, log) if listed else {}
        if at.ended is None:
            return False
        self._end(turns, session, [(at.stored[n], why) for n, why in at.ended.items()])
        if planned:
            operations = self._graph.add(planned, time)
            for one, operation in zip(planned, operations, strict=True):
                ends = [end.name for end in one.ends]
                text = f"{ends[0]} {one.triple.name} {ends[1]}"
                given = [one.triple.source.name, one.triple.destination.name]
                merged = {name: end for name, end in zip(given, ends, strict=True) if name != end}
                told = {"merged": merged} if merged else {}
                self._note(operation, "r:" + "|".join(one.key), text, one.triple.turns, **told)
        return True

    def _end(
        self, turns: Sequence[Turn], session: Session, ended: Sequence[tuple[Relation, str]]
    ) -> None:
        if not ended:
            return
        relations = [relation for relation, _ in ended]
        texts = self._graph.sentences(relations)
        operation = self._graph.end(relations, session.time)
        ids = [turn.id for turn in turns]
        for (relation, why), text in zip(ended, texts, strict=True):
            self._note(operation, id_of(relation), text, ids, why=why)

    def _note(
        self, operation: Applied, relation: str, text: str, turns: Sequence[str], **told: object
    ) -> None:
        event = {"step": "apply_relation", "operation": operation, "relation": relation}
        self._log.append({**event, "text": text, **told, "turns": list(turns)})


def _step(at: _Progress) -> str:
    """Where an exchange stands: the step whose reply is missing."""
    if at.entities is None:
        return "entities"
    return "relations" if at.triples is None else "conflicts"
