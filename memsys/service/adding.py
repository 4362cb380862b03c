"""What an add stores: messages verbatim, or facts, relations or a procedure by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memsys.knowledge.facts.fact import Event
from memsys.service.images import as_texts
from memsys.service.instructions import instructed
from memsys.service.messages import Messages, as_list, as_units, parse_messages
from memsys.service.model_writing import write_facts, write_procedure
from memsys.service.ranking import Ranker
from memsys.service.records import AddResult, RelationChange
from memsys.service.relations import RelationMemory
from memsys.service.setup import Setup
from memsys.service.summaries import Summaries
from memsys.service.writing import About, Writer


@dataclass(frozen=True, slots=True)
class Adder:
    """The parts of a memory that an add uses."""

    setup: Setup
    writer: Writer
    ranker: Ranker
    summaries: Summaries
    relations: RelationMemory

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
        link memories, if it writes neither; `prompt`: further instructions to it, or the prompt of
        a procedure. Raises as Memory.add does.
        """
        setup, log = self.setup, list[Event]()
        texts = messages if isinstance(messages, str) else as_texts(setup, as_list(messages), log)
        if infer and about.kind == "procedural":
            added = write_procedure(setup, self.writer, texts, about, time, prompt)
            return replace(added, events=[*log, *added.events])
        setup = replace(setup, llm=instructed(setup.llm, prompt))
        parsed = parse_messages(texts, time)
        about = replace(about, public=parsed.public)
        if not infer:
            units = as_units(texts, parsed, setup.builder)
            relations: Sequence[RelationChange] = ()
            if relate and self.relations.links:  # first: without the model, nothing is stored
                relations, more = self.relations.write(parsed.session, about.owner, parsed.public)
                log += more
            return AddResult(tuple(self.writer.add(units, about)), log, relations)
        part = self.relations.reply_part(about.owner) if self.relations.enabled else None
        with self.writer.lock:
            dialogue, _ = self.writer.database.dialogue(about.owner)
        public = {**{id_: named for _, id_, _, _, named in dialogue}, **parsed.public}
        added = write_facts(setup, self.writer, self.ranker, self.summaries, about, parsed, part)
        log += added.events
        if not self.relations.enabled:
            return replace(added, events=log)
        changes, more = self.relations.write(parsed.session, about.owner, public, part)
        return replace(added, events=[*log, *more], relations=changes)
