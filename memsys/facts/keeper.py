"""The write path: extract facts, compare each with what is stored, let a model decide, apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.facts.base import Event, Fact, Subject, fault, tokens
from memsys.facts.book import Change, FactBook, applied
from memsys.facts.extract import Extractor, ExtractSettings
from memsys.facts.listen import Listener, Taken
from memsys.facts.operations import TOOLS, Calls, Operation, read_operations, schema
from memsys.llm.base import LLM, Completion, LLMError
from memsys.llm.prompt import Prompt, load_prompt
from memsys.stores.vectors import VectorStore
from memsys.types import Memory, Session


@dataclass(frozen=True, kw_only=True)
class UpdateSettings:
    """`calls`: by tool calls, or by JSON of a schema for servers without tools. `similar`: stored
    facts that a new one is compared with. `prompt`: a name under conf/prompts or a path.
    """

    calls: Calls
    similar: int
    prompt: str

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        if self.calls not in get_args(Calls):
            known = ", ".join(get_args(Calls))
            raise InputError(f"strategy.update.calls: {self.calls!r} is none of {known}")
        if not isinstance(self.similar, int) or self.similar < 1:
            raise InputError(f"strategy.update.similar: {self.similar!r}; use 1 or more")

    @cached_property
    def loaded(self) -> Prompt:
        """The prompt. Raises InputError where it is missing or lacks a place."""
        return load_prompt(self.prompt, ["memories", "fact"])

    def ask(self, llm: LLM, fact: Fact, stored: Sequence[str]) -> Completion:
        """What `llm` wants done about `fact`, shown the texts that are `stored` under numbers from
        1 on. Raises LLMError without a usable reply.
        """
        listed = "\n".join(f"{n}. {text}" for n, text in enumerate(stored, 1))
        messages = [{"role": "user", "content": self.loaded.fill(memories=listed, fact=fact.text)}]
        if self.calls == "tools":
            return llm.complete(messages, tools=TOOLS)
        return llm.complete(messages, schema=schema(len(stored)))


class FactKeeper:
    """Keeps the facts of one owner. What goes wrong with one fact costs that fact alone; it goes
    into `log`, and keeping the session again does what was left undone and nothing twice.
    """

    def __init__(
        self,
        llm: LLM,
        embedder: CachedEmbedder,
        facts: ExtractSettings,
        update: UpdateSettings,
        vectors: VectorStore | None = None,
    ) -> None:
        """`vectors`: see FactBook. Raises InputError where a prompt cannot be used."""
        self._llm, self._update = llm, update
        self._extractor = Extractor(llm, facts)
        self.prompts = {**self._extractor.prompts, "update": update.loaded}
        self.book = FactBook(embedder, vectors)
        self.log: list[Event] = []
        self._listener = Listener(self._extractor, self._decide, self.log, facts.retries)

    def keep(self, session: Session, subject: Subject = "user") -> None:
        """Remember `session`: the facts of the user, or of the assistant (see subject_of; people
        who talk with each other are users). Raises LLMError where the model answered for none of
        its exchanges: then it is the server that fails, and there is no memory to measure.
        """
        self._listener.hear(session, subject)

    def _decide(self, fact: Fact, session: Session) -> Taken:
        """Whether an operation was carried out on account of `fact`."""
        stored = self.book.similar(fact, self._update.similar)
        if not stored:
            self._apply(Operation("ADD", 0, "", "nothing is stored"), fact, stored, session)
            return "done"
        try:
            reply = self._update.ask(self._llm, fact, [memory.content for memory in stored])
        except LLMError as error:
            self.log.append(fault("decide", "no_answer", error, fact=fact.text))
            return "no_answer"
        self.log.append({"step": "decide", "fact": fact.text, "tokens": tokens(reply.usage)})
        read = list(read_operations(reply)) or [fault("decide", "no_operation", "an empty list")]
        done = [
            self._apply(one, fact, stored, session)
            if isinstance(one, Operation)
            else self._blame(one, fact)
            for one in read
        ]
        return "done" if any(done) else "unusable"

    def _blame(self, event: Event, fact: Fact) -> bool:
        self.log.append({**event, "fact": fact.text})
        return False

    def _apply(
        self, wanted: Operation, fact: Fact, stored: Sequence[Memory], session: Session
    ) -> bool:
        """Carry out one operation; a number that was not shown, or whose fact is gone, is logged
        and does nothing.
        """
        change: Change | None = None
        why, book, time = wanted.why, self.book, session.time
        if wanted.kind == "ADD":
            change = book.add(fact, time)
            why = why if change else "it is stored already, word for word"
        elif wanted.kind != "NOOP":
            shown = 1 <= wanted.number <= len(stored)
            target = book.of(stored[wanted.number - 1].id) if shown else None
            if target is None:
                detail = f"{wanted.kind} {wanted.number} of {len(stored)}"
                return self._blame(fault("decide", "unknown_id", detail), fact)
            if wanted.kind == "UPDATE":
                change = book.update(target.id, wanted.content, fact, time)
            else:
                change = book.delete(target.id, fact, time)
        self.log.append(applied(fact, why, change))
        return True
