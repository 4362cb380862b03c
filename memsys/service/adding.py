"""What an add stores: messages verbatim, or the facts, summary, relations or procedure that a model
writes. The update of facts is that of the benchmark (memsys.knowledge.facts.fact_writer).
"""

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from threading import Lock

from memsys.core.turns import ROLES
from memsys.core.types import Session
from memsys.knowledge.facts.extract import FactExtractor
from memsys.knowledge.facts.fact import (
    Event,
    Fact,
    FactChange,
    StoredFact,
    as_memory,
    fault,
    plain,
    subject_of,
)
from memsys.knowledge.facts.fact_writer import Compare, FactWriter
from memsys.knowledge.facts.procedure import procedure
from memsys.knowledge.memory.base import verbatim
from memsys.llm.base import LLM, instructed
from memsys.service.arguments import NoModelError, Owner
from memsys.service.messages import (
    Messages,
    ParsedMessages,
    as_list,
    as_texts,
    as_units,
    parse_messages,
    sessions_of,
)
from memsys.service.relations import RelationMemory
from memsys.service.results import AddResult, MemoryChange, MemoryRecord, RelationChange
from memsys.service.setup import Setup
from memsys.service.writing import About, Writer

_log = logging.getLogger(__name__)


class Adder:
    """Stores messages, and what a model makes of them, with the running summary of each owner's
    messages. Thread-safe.
    """

    def __init__(self, setup: Setup, writer: Writer, relations: RelationMemory) -> None:
        self._setup, self._writer, self._relations = setup, writer, relations
        self._pool = ThreadPoolExecutor(thread_name_prefix="summary")
        self._pending: dict[Owner, Future[list[Event]]] = {}  # summaries, in the background
        self._lock = Lock()  # of _pending

    def add(
        self,
        messages: Messages,
        about: About,
        time: datetime,
        infer: bool,
        prompt: str | None,
        relate: bool,
    ) -> AddResult:
        """Store `messages`, said at `time`, of the owner, metadata and kind of `about`. `infer`:
        whether a model writes facts or a procedure; `relate`: whether it writes the relations that
        link memories, if it writes neither; `prompt`: further instructions to it, or the template
        of a procedure. Raises as Memory.add does.
        """
        log = list[Event]()
        setup, relations, llm = self._setup, self._relations, self._setup.llm
        if infer and llm is None:
            raise NoModelError(
                "infer: there is no model to write facts, or to record a run, with; set llm= "
                "(openai, local), or add with infer=False"
            )
        is_run = infer and about.kind == "procedural"
        texts: Messages = messages
        if not isinstance(messages, str):
            texts = as_texts(setup, as_list(messages), log, run=is_run)
        if is_run and llm is not None:
            run = as_list(texts)
            record, events = procedure(llm, run, setup.procedure, prompt)
            turns = tuple(id_ for message in run if isinstance(id_ := message.get("id"), str))
            stored = self._writer.add([verbatim("", record, time, "assistant", turns)], about)
            return AddResult(changes=tuple(stored), events=[*log, *events])
        parsed = parse_messages(texts, time)
        about = replace(about, public=parsed.public)
        if infer:
            return self._facts(instructed(llm, prompt), about, parsed, log)
        changes: Sequence[RelationChange] = ()
        if relate and relations.links:  # first: without the model, nothing is stored
            changes = relations.write(parsed.session, about.owner, parsed.public, log)
        stored = self._writer.add(as_units(texts, parsed, setup.builder), about)
        return AddResult(changes=tuple(stored), events=log, relations=changes)

    def close(self) -> None:
        """Wait for all summaries. Errors have been logged."""
        self._pool.shutdown()

    def _facts(
        self, llm: LLM | None, about: About, parsed: ParsedMessages, log: list[Event]
    ) -> AddResult:
        """Extract the facts of `parsed` and update those of the owner, whose last messages and
        summary are stored between two calls; then write the relations, if that is set.
        """
        assert llm is not None  # noqa: S101 - checked
        setup, dialogues = self._setup, self._writer.dialogues
        owner, session, background = about.owner, parsed.session, setup.summary.background
        with self._lock:
            pending = self._pending.pop(owner, None)
        log += pending.result() if pending is not None else []
        with self._writer.lock:
            dialogue, summary = dialogues.of(owner)
        earlier = {id_: public for _, id_, _, _, public in dialogue}
        about = replace(about, public={**earlier, **about.public})
        storage = _OwnerFacts(self._writer, about, setup.update.compare)
        part = self._relations.reply_part(owner) if self._relations.enabled else None
        facts = FactWriter(llm, setup.facts, setup.update, storage, part)
        facts.extractor.summary = summary
        for old_session in sessions_of(dialogue):
            facts.extractor.add_turns(old_session)
        subject = subject_of(parsed.roles, owner.agent_id)
        facts.write(session, subject, summarise=not background)
        rows = [
            [session.time.isoformat(), turn.id, turn.speaker, turn.text, parsed.public[turn.id]]
            for turn in session.turns
        ]
        with self._writer.lock:
            with self._writer.database.writing():  # another add or deletion may have changed them
                stored, current = dialogues.of(owner)
                current = facts.extractor.summary if current == summary else current
                last = [*stored, *rows][-setup.facts.recent :] if setup.facts.recent else []
                dialogues.put(owner, last, current)
            if not background:
                storage.changes += self._store_summary(owner, current, session)
        if background and session.turns:
            with self._lock:
                given = owner, session, facts.extractor, self._pending.get(owner)
                self._pending[owner] = self._pool.submit(self._refresh, *given)
        log += facts.log
        changes: Sequence[RelationChange] = ()
        if part is not None:
            changes = self._relations.write(session, owner, about.public, log, part)
        return AddResult(changes=tuple(storage.changes), events=log, relations=changes)

    def _store_summary(self, owner: Owner, summary: str, session: Session) -> list[MemoryChange]:
        """Store `summary`, if that is set and it is new, as the memory of `owner` of that kind."""
        if not self._setup.summary.searchable or not summary:
            return []
        with self._writer.lock:
            owned = self._writer.database.owned(owner)
            stored = [row for row in owned if (row.owner, row.kind) == (owner, "summary")]
            if not stored:
                new = verbatim("", summary, session.time, "", ())
                return self._writer.add([new], About(owner, {}, "summary", {}))
            if stored[0].memory == summary:
                return []
            texts = {"memory": summary, "index_text": summary, "time": session.time}
            change = self._writer.change(stored[0].id, texts)
            return [] if change is None else [change]

    def _refresh(
        self,
        owner: Owner,
        session: Session,
        extractor: FactExtractor,
        before: Future[list[Event]] | None,
    ) -> list[Event]:
        """Refresh and store a summary after the one `before`; return the log of both. Errors become
        faults, which are logged here too, as there may be no further `add`.
        """
        log = before.result() if before is not None else []
        start, dialogues = len(log), self._writer.dialogues
        try:
            with self._writer.lock:
                _, extractor.summary = dialogues.of(owner)
            extractor.refresh(session, log)
            with self._writer.lock:
                with self._writer.database.writing():
                    last = session.turns[-1].id
                    current = dialogues.set_summary(owner, extractor.summary, last)
                if current:  # else the owner was deleted meanwhile
                    self._store_summary(owner, extractor.summary, session)
        except Exception as error:
            log.append(fault("summary", "not_stored", f"{type(error).__name__}: {error}"))
        for kind in (event["fault"] for event in log[start:] if "fault" in event):
            _log.warning("a summary was not refreshed: %s", kind)
        return log


class _OwnerFacts:
    """The facts that an owner's ids match (see FactStorage); `changes` lists the changes. New facts
    are the owner's; a changed one remains with its owner.
    """

    def __init__(self, writer: Writer, about: About, compare: Compare) -> None:
        self._writer, self._about, self._compare = writer, about, compare
        self.changes: list[MemoryChange] = []

    def similar(self, fact: Fact, most: int) -> Sequence[StoredFact]:
        (vector,) = self._writer.embedder.documents([fact.text])
        vectors = self._writer.vectors
        with self._writer.lock:
            vectors.catch_up()
            by_id = {record.id: record for record in self._comparable_facts(fact)}
            shelves = dict.fromkeys(record.owner.shelf for record in by_id.values())
            rankings = [vectors.nearest(shelf, vector, most, list(by_id)) for shelf in shelves]
        near = sorted((hit for some in rankings for hit in some), key=lambda hit: -hit.cosine)
        return [StoredFact(hit.id, by_id[hit.id].memory, hit.cosine) for hit in near[:most]]

    def add(self, fact: Fact, time: datetime) -> FactChange | None:
        with self._writer.lock:
            stored = {plain(record.memory) for record in self._comparable_facts(fact)}
        if plain(fact.text) in stored:
            return None
        (change,) = self._writer.add([as_memory("new", fact, time)], self._about)
        return self._fact_change(change, fact, time)

    def update(self, id_: str, content: str, fact: Fact, time: datetime) -> FactChange | None:
        with self._writer.lock:
            old = self._writer.database.get(id_)
        if old is None:
            return None
        public = replace(fact, turns=tuple(self._about.public.get(t, t) for t in fact.turns))
        speaker = fact.speaker if old.speaker in ROLES else old.speaker  # the name, if one has it
        rewritten = public.rewritten(content, speaker, old.turn_keys)
        new = as_memory(id_, replace(rewritten, prefixed=speaker not in ROLES), time)
        fields = {
            **{"memory": new.content, "index_text": new.index_text, "importance": new.importance},
            **{"time": time, "event_time": new.event, "speaker": speaker, "turn_keys": new.turns},
            **({"title": new.title} if new.title else {}),
            "metadata": {**old.metadata, **self._about.metadata},
        }
        return self._fact_change(self._writer.change(id_, fields), fact, time)

    def delete(self, id_: str, fact: Fact, time: datetime) -> FactChange | None:
        return self._fact_change(next(iter(self._writer.delete([id_])), None), fact, time)

    def _fact_change(
        self, change: MemoryChange | None, fact: Fact, time: datetime
    ) -> FactChange | None:
        if change is None:
            return None
        self.changes.append(change)
        return FactChange(change.id, change.event, change.old, change.new, time, fact.turns)

    def _comparable_facts(self, fact: Fact) -> list[MemoryRecord]:
        """Return the facts that `fact` may contradict: those that the ids of the owner match, or
        that have exactly these, of the same speaker or of one without a name.
        """
        owner = self._about.owner
        return [
            row
            for row in self._writer.database.owned(owner)
            if row.kind == "fact"
            and (self._compare == "filter" or row.owner == owner)
            and (row.speaker == fact.speaker or not {row.speaker, fact.speaker}.isdisjoint(ROLES))
        ]
