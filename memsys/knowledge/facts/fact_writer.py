"""One update step of Mem0 (Chhikara et al., 2025, arXiv 2504.19413, section 2.1): extract facts,
compare each with the stored ones, let a model decide, apply the decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from memsys.core.declared import Count, check_fields
from memsys.core.types import Session, Turn
from memsys.knowledge.facts.extract import ExtractSettings, FactExtractor
from memsys.knowledge.facts.fact import Event, Fact, Subject, fault, tokens
from memsys.knowledge.facts.operations import TOOLS, Calls, Kind, Operation, read_operations, schema
from memsys.llm.base import LLM, Completion, LLMError
from memsys.llm.prompt import Prompt, load_prompt

if TYPE_CHECKING:
    from memsys.knowledge.relations.extract import SameReply

Compare = Literal["filter", "owner"]


class StoredFact(NamedTuple):
    """A stored fact as it is shown to the model, and its cosine to the new one."""

    id: str
    text: str
    score: float


@dataclass(frozen=True, kw_only=True)
class UpdateSettings:
    """Settings of the update decision. `calls`: by tool calls, or by JSON of a schema for servers
    without tools. `similar`: number of stored facts that a new one is compared with; `scores`:
    whether their cosines are shown with them. `compare`: with all facts that match the ids given,
    or only with those of exactly the same ids, where facts of several owners are stored together.
    `prompt`: a shipped prompt or a path.
    """

    calls: Calls
    similar: Count
    prompt: str
    scores: bool = False
    compare: Compare = "filter"

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        check_fields(self, "strategy.update")

    @cached_property
    def loaded(self) -> Prompt:
        """The prompt. Raises InputError if it is missing or lacks a placeholder."""
        return load_prompt(self.prompt, ["memories", "fact"])

    def ask(self, llm: LLM, fact: Fact, stored: Sequence[StoredFact]) -> Completion:
        """Ask `llm` which operations `fact` requires, given the similar facts `stored`. Raises
        LLMError without a reply.
        """
        scores = [f" (similarity {one.score:.2f})" if self.scores else "" for one in stored]
        pairs = enumerate(zip(stored, scores, strict=True), 1)
        listed = "\n".join(f"{n}. {one.text}{score}" for n, (one, score) in pairs)
        messages = [{"role": "user", "content": self.loaded.fill(memories=listed, fact=fact.text)}]
        if self.calls == "tools":
            return llm.complete(messages, tools=TOOLS)
        return llm.complete(messages, schema=schema(len(stored)))


@dataclass(frozen=True, slots=True)
class FactChange:
    """One entry of the history; `old` and `new` are texts, None before an ADD and after a DELETE,
    `time` is that of the session that caused the change, never the wall clock.
    """

    id: str
    operation: Kind
    old: str | None
    new: str | None
    time: datetime
    turns: tuple[str, ...]


class FactStorage(Protocol):
    """Storage of facts, with search and changes. Facts are comparable if one may contradict the
    other: in a dialogue between people, those of the same speaker.
    """

    def similar(self, fact: Fact, most: int) -> Sequence[StoredFact]:
        """Return the `most` comparable facts that are most similar, best first."""

    def add(self, fact: Fact, time: datetime) -> FactChange | None:
        """Store `fact`; return None if a comparable fact has the same words."""

    def update(self, id_: str, content: str, fact: Fact, time: datetime) -> FactChange | None:
        """Replace the text of a stored fact on account of `fact`; None if there is no such id."""

    def delete(self, id_: str, fact: Fact, time: datetime) -> FactChange | None:
        """Delete a stored fact on account of `fact`; None if there is no such id."""


class FactWriter:
    """Maintains the facts of one owner. An error with one fact loses that fact only and is logged;
    writing the session again repeats the failed steps only. `log` lists the events of all calls,
    changes and errors, `prompts` the templates by role.
    """

    def __init__(
        self,
        llm: LLM,
        facts: ExtractSettings,
        update: UpdateSettings,
        storage: FactStorage,
        part: SameReply | None = None,
    ) -> None:
        """`part`: see FactExtractor. Raises InputError if a prompt cannot be used."""
        self._llm, self._update, self._storage = llm, update, storage
        self.extractor = FactExtractor(llm, facts, part)
        self.prompts = {**self.extractor.prompts, "update": update.loaded}
        self.log: list[Event] = []
        self._reader = SessionReader(self.extractor, self._decide, self.log, facts.retries)

    def write(self, session: Session, subject: Subject = "user", *, summarise: bool = True) -> None:
        """Store the facts of `session` about the user or the assistant (see subject_of; the
        speakers of a dialogue between people are users), and refresh the summary (`summarise`).
        Raises LLMError like SessionReader.read.
        """
        self._reader.read(session, subject, summarise=summarise)

    def forget(self, turns: Collection[str]) -> set[datetime]:
        """See SessionReader.forget. The stored facts stay as they are."""
        return self._reader.forget(turns)

    def _decide(self, fact: Fact, session: Session) -> Outcome:
        """Compare `fact` with the stored facts and apply the operations that the model chooses."""
        stored = self._storage.similar(fact, self._update.similar)
        if not stored:
            first = Operation("ADD", 0, "", "nothing is stored")
            self.log.append(self._apply(first, fact, stored, session))
            return "done"
        try:
            reply = self._update.ask(self._llm, fact, stored)
        except LLMError as error:
            self.log.append(fault("decide", "no_answer", error, fact=fact.text))
            return "no_answer"
        self.log.append({"step": "decide", "fact": fact.text, "tokens": tokens(reply.usage)})
        read = list(read_operations(reply)) or [fault("decide", "no_operation", "an empty list")]
        outcome: Outcome = "unusable"
        for one in read:
            event = one if isinstance(one, dict) else self._apply(one, fact, stored, session)
            self.log.append({**event, "fact": fact.text})
            outcome = outcome if "fault" in event else "done"
        return outcome

    def _apply(
        self, wanted: Operation, fact: Fact, stored: Sequence[StoredFact], session: Session
    ) -> Event:
        """Apply one operation and return its event. A number that was not shown, or whose fact no
        longer exists, is a fault and changes nothing.
        """
        change: FactChange | None = None
        why, storage, time = wanted.why, self._storage, session.time
        if wanted.kind == "ADD":
            change = storage.add(fact, time)
            why = why if change else "it is stored already, word for word"
        elif wanted.kind != "NOOP":
            id_ = stored[wanted.number - 1].id if 1 <= wanted.number <= len(stored) else ""
            if wanted.kind == "UPDATE":
                change = storage.update(id_, wanted.content, fact, time)
            else:
                change = storage.delete(id_, fact, time)
            if change is None:
                detail = f"{wanted.kind} {wanted.number} of {len(stored)}"
                return fault("decide", "unknown_id", detail)
        return applied(fact, why, change)


def applied(fact: Fact, why: str, change: FactChange | None) -> Event:
    """Return the event of applying `fact` for the reason `why`; no change is a NOOP."""
    return {
        "step": "apply",
        "operation": change.operation if change else "NOOP",
        "memory": change.id if change else None,
        "old": change.old if change else None,
        "new": change.new if change else None,
        "fact": fact.text,
        "why": why,
        "turns": list(fact.turns),
    }


# `unusable`: the model answered, but no operation was valid; asking again would change nothing.
Outcome = Literal["done", "no_answer", "unusable"]
Exchange = tuple[Turn, ...]


class SessionReader:
    """Passes every fact of a session to `take`; repeats failed exchanges, and no others."""

    def __init__(
        self,
        extractor: FactExtractor,
        take: Callable[[Fact, Session], Outcome],
        log: list[Event],
        retries: int,
    ) -> None:
        """`retries`: see ExtractSettings."""
        self._extractor, self._take, self._log = extractor, take, log
        self._rounds = 1 + retries
        self._open: dict[str, list[Fact]] = {}  # by an exchange's first turn; [] once all is done
        self._spoken: dict[str, frozenset[str]] = {}  # turns of the session, by the same

    def read(self, session: Session, subject: Subject = "user", *, summarise: bool = True) -> None:
        """Extract the facts of `session`, pass them on, and refresh the summary (`summarise`); a
        second call repeats failed exchanges.

        All exchanges are extracted before the first fact is passed on, so that a late answer does
        not change the order. Raises LLMError if the model answered for none of the exchanges: the
        server is down then, and there is no memory to measure.
        """
        start = len(self._log)
        exchanges = list(self._extractor.exchanges(session))
        missing = [turns for turns in exchanges if turns[0].id not in self._open]
        failed, error = self._extract(missing, session, subject)
        self._hand_over(exchanges, session)
        if summarise:
            self._extractor.refresh(session, self._log)
        events = self._log[start:]
        done = Counter(str(one["operation"]) for one in events if one["step"] == "apply")
        faults = sum("fault" in one for one in events)
        open_facts = sum(len(self._open.get(turns[0].id, ())) for turns in exchanges)
        lost = {"faults": faults, "lost": len(failed) + open_facts, "of": len(exchanges)}
        self._log.append({"step": "session", **done, **lost})
        if failed and len(failed) == len(exchanges):
            raise LLMError(f"none of {len(exchanges)} exchanges was ingested: {error}")

    def forget(self, turns: Collection[str]) -> set[datetime]:
        """Delete `turns`, see FactExtractor.forget, and what waits to be passed on and rests on one
        of them; a fact without turns rests on all of its session.
        """
        for key, facts in self._open.items():
            session = self._spoken[key]
            self._open[key] = [
                one for one in facts if (frozenset(one.turns) or session).isdisjoint(turns)
            ]
        return self._extractor.forget(turns)

    def _extract(
        self, missing: Sequence[Exchange], session: Session, subject: Subject
    ) -> tuple[Sequence[Exchange], LLMError | None]:
        """Extract the exchanges `missing`; return those without an answer, and the last error."""
        last = None
        for _ in range(self._rounds):
            failed = []
            for turns in missing:
                try:
                    facts = self._extractor.facts(turns, session.time, self._log, subject)
                    self._open[turns[0].id] = facts
                    self._spoken[turns[0].id] = frozenset(turn.id for turn in session.turns)
                except LLMError as error:
                    ids = [turn.id for turn in turns]
                    self._log.append(fault("extract", "no_answer", error, turns=ids))
                    failed.append(turns)
                    last = error
            missing = failed
        return missing, last

    def _hand_over(self, exchanges: Sequence[Exchange], session: Session) -> None:
        keys = [turns[0].id for turns in exchanges]
        pending = [(key, fact) for key in keys for fact in self._open.get(key, ())]
        for _ in range(self._rounds):
            waiting = []
            for key, fact in pending:
                outcome = self._take(fact, session)
                if outcome == "done":
                    self._open[key].remove(fact)
                elif outcome == "no_answer":
                    waiting.append((key, fact))
            pending = waiting
