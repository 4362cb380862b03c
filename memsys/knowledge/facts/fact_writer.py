"""One update step of Mem0 (Chhikara et al., 2025, arXiv 2504.19413, section 2.1): extract facts,
compare each with the stored ones, let a model decide, apply the decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from memsys.core.declared import Count, check_fields
from memsys.core.types import Session
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
    """Maintains the facts of one owner. An error with one fact loses that fact only and is logged.
    `log` lists the events of all calls, changes and errors, `prompts` the templates by role.
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

    def write(self, session: Session, subject: Subject = "user", *, summarise: bool = True) -> None:
        """Store the facts of `session` about the user or the assistant (see subject_of; the
        speakers of a dialogue between people are users), and refresh the summary (`summarise`).
        Raises LLMError like read_session.
        """
        take, log = self._decide, self.log
        read_session(self.extractor, session, take, log, subject, summarise=summarise)

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


def read_session(
    extractor: FactExtractor,
    session: Session,
    take: Callable[[Fact, Session], Outcome],
    log: list[Event],
    subject: Subject = "user",
    *,
    summarise: bool = True,
) -> None:
    """Extract the facts of `session`, pass each to `take`, and refresh the summary (`summarise`).
    Exchanges and facts without an answer are repeated at the end (ExtractSettings.retries).

    All exchanges are extracted before the first fact is passed on, so that a late answer does not
    change the order. Raises LLMError if the model answered for none of the exchanges: the server
    is down then, and there is no memory to measure.
    """
    start, exchanges, rounds = len(log), list(extractor.exchanges(session)), 1 + extractor.retries
    extracted: dict[int, list[Fact]] = {}
    last: LLMError | None = None
    for _ in range(rounds):
        for number, turns in enumerate(exchanges):
            if number in extracted:
                continue
            try:
                extracted[number] = extractor.facts(turns, session.time, log, subject)
            except LLMError as error:
                ids = [turn.id for turn in turns]
                log.append(fault("extract", "no_answer", error, turns=ids))
                last = error
    pending = [one for number in sorted(extracted) for one in extracted[number]]
    unusable = 0
    for _ in range(rounds):
        outcomes = [(one, take(one, session)) for one in pending]
        unusable += sum(outcome == "unusable" for _, outcome in outcomes)
        pending = [one for one, outcome in outcomes if outcome == "no_answer"]
    if summarise:
        extractor.refresh(session, log)
    events = log[start:]
    done = Counter(str(one["operation"]) for one in events if one["step"] == "apply")
    faults = sum("fault" in one for one in events)
    lost = len(exchanges) - len(extracted) + unusable + len(pending)
    log.append({"step": "session", **done, "faults": faults, "lost": lost, "of": len(exchanges)})
    if exchanges and not extracted:
        raise LLMError(f"none of {len(exchanges)} exchanges was ingested: {last}")
