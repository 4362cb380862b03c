"""One update step of Mem0 (Chhikara et al., 2025, arXiv 2504.19413, section 2.1): extract facts,
compare each with the stored ones, let a model decide, apply the decision.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from memsys.core.declared import Count, check_fields
from memsys.core.types import Session
from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.extract import ExtractSettings, FactExtractor
from memsys.knowledge.facts.fact import (
    Event,
    Fact,
    FactChange,
    Kind,
    StoredFact,
    Subject,
    fault,
    tokens,
)
from memsys.llm.base import LLM, Completion, LLMError, Tool
from memsys.llm.prompt import Prompt, load_prompt
from memsys.llm.reply import object_schema, violation

if TYPE_CHECKING:
    from memsys.knowledge.relations.extract import SameReply

Calls = Literal["tools", "schema"]
Compare = Literal["filter", "owner"]
_TABLE: Final = load_table(Path(__file__).with_name("operations.yaml"))


def _parameters(names: Sequence[str], **more: Any) -> dict[str, Any]:
    return object_schema({**more, **{name: _TABLE["fields"][name] for name in names}})


TOOLS: Final = tuple(
    Tool(kind, row["description"], _parameters(row["fields"]))
    for kind, row in _TABLE["kinds"].items()
)
_PARAMETERS: Final = {tool.name: tool.parameters for tool in TOOLS}


def schema(stored: int) -> dict[str, Any]:
    """Return the JSON schema of a decision where `stored` facts are shown. Its bounds are for
    servers that decode by it: a small model neither ends a list nor uses only the numbers shown.
    """
    kinds = {"type": "string", "enum": list(_PARAMETERS)}
    row = _parameters(tuple(_TABLE["fields"]), operation=kinds)
    row["properties"]["id"] = {"type": "integer", "minimum": 0, "maximum": stored}
    for name, longest in _TABLE["longest"].items():
        row["properties"][name] = {"type": "string", "pattern": rf'^[^"\\\n]{{0,{longest}}}$'}
    rows = {"type": "array", "items": row, "maxItems": 3}
    return {"title": "operations", **object_schema({"operations": rows})}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that a model chose. `number`: of the fact in the list shown, 0 for none."""

    kind: Kind
    number: int
    content: str
    why: str


def read_operations(reply: Completion) -> Iterator[Operation | Event]:
    """Yield the operations of a reply in order, or for an invalid one the event of its fault. Tool
    calls take precedence over text; a text has to be JSON of `schema`.
    """
    for call in reply.tool_calls:
        try:
            yield _operation(call.name, json.loads(call.arguments))
        except ValueError:
            yield fault("decide", "broken_json", f"{call.name}: {call.arguments}")
    if reply.tool_calls:
        return
    try:
        rows = json.loads(reply.text)["operations"]
    except (ValueError, TypeError, KeyError):
        yield fault("decide", "no_operation", reply.text)
        return
    for row in rows if isinstance(rows, list) else [rows]:
        fields = dict(row) if isinstance(row, dict) else {}
        name = str(fields.pop("operation", ""))
        wanted = _PARAMETERS.get(name, {}).get("properties", fields)
        yield _operation(name, {key: fields[key] for key in fields if key in wanted})


def _operation(name: str, arguments: Any) -> Operation | Event:
    if name not in _PARAMETERS:
        return fault("decide", "unknown_operation", f"{name}: {arguments}")
    wrong = violation(arguments, _PARAMETERS[name], name)
    if wrong is None and name == "UPDATE" and not arguments["content"].strip():
        wrong = "UPDATE.content is empty"
    if wrong is not None:
        return fault("decide", "bad_argument", wrong)
    kind: Kind = name  # type: ignore[assignment]
    number = int(arguments.get("id", 0))
    content = " ".join(str(arguments.get("content", "")).split())
    return Operation(kind, number, content, arguments["why"])


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
        scores = [f" (similarity {memory.score:.2f})" if self.scores else "" for memory in stored]
        pairs = enumerate(zip(stored, scores, strict=True), 1)
        listed = "\n".join(f"{n}. {memory.text}{score}" for n, (memory, score) in pairs)
        messages = [{"role": "user", "content": self.loaded.fill(memories=listed, fact=fact.text)}]
        if self.calls == "tools":
            return llm.complete(messages, tools=TOOLS)
        return llm.complete(messages, schema=schema(len(stored)))


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
        for item in read:
            event = item if isinstance(item, dict) else self._apply(item, fact, stored, session)
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
    pending = [fact for number in sorted(extracted) for fact in extracted[number]]
    unusable = 0
    for _ in range(rounds):
        outcomes = [(fact, take(fact, session)) for fact in pending]
        unusable += sum(outcome == "unusable" for _, outcome in outcomes)
        pending = [fact for fact, outcome in outcomes if outcome == "no_answer"]
    if summarise:
        extractor.refresh(session, log)
    events = log[start:]
    done = Counter(str(event["operation"]) for event in events if event["step"] == "apply")
    faults = sum("fault" in event for event in events)
    lost = len(exchanges) - len(extracted) + unusable + len(pending)
    log.append({"step": "session", **done, "faults": faults, "lost": lost, "of": len(exchanges)})
    if exchanges and not extracted:
        raise LLMError(f"none of {len(exchanges)} exchanges was ingested: {last}")
