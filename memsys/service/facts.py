"""Facts that a model writes into a long-lived store: extracted, compared, decided, applied.

The algorithm is that of memsys.facts.keeper (Chhikara et al., 2025, arXiv 2504.19413, section 2.1);
the store, its ids and its history are those of the memory operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any

from memsys.errors import InputError
from memsys.facts.base import Event, Fact, as_memory, fault, plain, subject_of
from memsys.facts.extract import Extractor
from memsys.facts.listen import Listener, Taken
from memsys.facts.operations import Operation, read_operations
from memsys.llm.base import LLM, LLMError
from memsys.service.messages import Heard
from memsys.service.ranking import Ranker
from memsys.service.records import Added, Change, Record
from memsys.service.setup import Setup
from memsys.service.writing import About, Writer
from memsys.types import Session, Turn


class FactWriting:
    """One add with infer=True. The owner's last messages and summary come from the store and go
    back there, so that a process may end between two adds.
    """

    def __init__(self, setup: Setup, writer: Writer, ranker: Ranker, about: About) -> None:
        """Raises InputError where there is no model, or a prompt cannot be used."""
        if setup.llm is None or setup.facts is None or setup.update is None:
            raise InputError(
                "infer: there is no model to write facts with; set llm= (openai, local), or add "
                "with infer=False"
            )
        self._llm: LLM = setup.llm
        self._facts, self._update = setup.facts, setup.update
        self._writer, self._ranker, self._about = writer, ranker, about
        self._log: list[Event] = []
        self._changes: list[Change] = []

    def write(self, heard: Heard) -> Added:
        """Keep the facts of `heard`. Raises LLMError where the model answered for none of it."""
        owner, ledger = self._about.owner, self._writer.ledger
        extractor = Extractor(self._llm, self._facts)
        with self._writer.lock:
            said, extractor.summary = ledger.dialogue(owner)
        earlier = {id_: public for _, id_, _, _, public in said}
        self._about = replace(self._about, public={**earlier, **self._about.public})
        for session in _earlier(said):
            list(extractor.exchanges(session))
        subject = subject_of(heard.roles, owner.agent_id)
        listener = Listener(extractor, self._take, self._log, self._facts.retries)
        listener.hear(heard.session, subject)
        time = heard.session.time.isoformat()
        said += [
            [time, turn.id, turn.speaker, turn.text, heard.public[turn.id]]
            for turn in heard.session.turns
        ]
        kept = said[len(said) - self._facts.recent :] if self._facts.recent else []
        with self._writer.lock, ledger.writing():
            ledger.keep_dialogue(owner, kept, extractor.summary)
        return Added(tuple(self._changes), [one for one in self._log if "fault" in one])

    def _take(self, fact: Fact, session: Session) -> Taken:
        (vector,) = self._writer.embed([fact.text])
        with self._writer.lock:
            own = self._comparable(fact)
            stored = self._ranker.similar(vector, own, self._update.similar)
        if not stored:
            return self._apply(Operation("ADD", 0, "", "nothing is stored"), fact, stored, session)
        try:
            reply = self._update.ask(self._llm, fact, [record.memory for record in stored])
        except LLMError as error:
            self._log.append(fault("decide", "no_answer", error, fact=fact.text))
            return "no_answer"
        read = list(read_operations(reply)) or [fault("decide", "no_operation", "an empty list")]
        done = [
            self._apply(one, fact, stored, session)
            if isinstance(one, Operation)
            else self._blame(one, fact)
            for one in read
        ]
        return "done" if "done" in done else "unusable"

    def _comparable(self, fact: Fact) -> list[Record]:
        """Facts of the same owner and speaker: what one likes says nothing of another."""
        owned = self._writer.ledger.owned(self._about.owner)
        return [
            one
            for one in owned
            if (one.owner, one.kind, one.speaker) == (self._about.owner, "fact", fact.speaker)
        ]

    def _blame(self, event: Event, fact: Fact) -> Taken:
        self._log.append({**event, "fact": fact.text})
        return "unusable"

    def _apply(
        self, wanted: Operation, fact: Fact, stored: Sequence[Record], session: Session
    ) -> Taken:
        """Carry out one operation; what stands word for word is not stored again."""
        if wanted.kind == "ADD":
            with self._writer.lock:
                known = {plain(one.memory) for one in self._comparable(fact)}
            if plain(fact.text) not in known:
                memory = as_memory("new", fact, session.time)
                self._changes += self._writer.add([memory], self._about)
            return "done"
        if wanted.kind == "NOOP":
            return "done"
        shown = 1 <= wanted.number <= len(stored)
        target = stored[wanted.number - 1] if shown else None
        change: Change | None = None
        if target is not None and wanted.kind == "DELETE":
            change = next(iter(self._writer.delete([target.id])), None)
        elif target is not None:
            change = self._rewrite(target, wanted.content, fact, session.time)
        if change is None:
            detail = f"{wanted.kind} {wanted.number} of {len(stored)}"
            return self._blame(fault("decide", "unknown_id", detail), fact)
        self._changes.append(change)
        return "done"

    def _rewrite(self, old: Record, content: str, fact: Fact, time: datetime) -> Change | None:
        new_turns = (self._about.public.get(turn, turn) for turn in fact.turns)
        turns = tuple(dict.fromkeys((*old.turns, *new_turns)))
        written = replace(fact, content=content, event=None, speaker=old.speaker, turns=turns)
        metadata = {**old.metadata, **self._about.metadata}
        return self._writer.change(old.id, as_memory(old.id, written, time), metadata)


def _earlier(said: Sequence[Sequence[Any]]) -> list[Session]:
    """Messages that were kept, as the sessions in which they were said."""
    sessions = []
    for time, group in groupby(said, key=lambda one: one[0]):
        turns = tuple(Turn(id_, speaker, text) for _, id_, speaker, text, _ in group)
        sessions.append(Session("earlier", datetime.fromisoformat(time), turns))
    return sessions
