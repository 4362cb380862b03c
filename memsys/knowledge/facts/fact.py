"""The fact: schema and check of a reply with facts, conversion to a Memory, changes, events."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from memsys.core.chinese_dates import resolve
from memsys.core.terms import terms
from memsys.core.turns import importance, line
from memsys.core.types import Memory, Turn, Usage
from memsys.llm.reply import object_schema

# One logged step of ingestion, as plain JSON values: `step` (extract, decide, apply, summary,
# session) and, after an error that did not end the ingestion, `fault` and `detail`.
Event = dict[str, Any]

Kind = Literal["ADD", "UPDATE", "DELETE", "NOOP"]  # an operation on the stored facts
Subject = Literal["user", "assistant"]  # the role whose facts are extracted
TimedTurn = tuple[datetime, Turn]  # a turn and the time of its session
_EXAMPLE = re.compile(r"<example>(.*?)</example>", re.DOTALL)  # in a prompt of the user
_SPEAKS = re.compile(r"^(?:\d+\. )?(\w[\w ]*): ", re.MULTILINE)
_LONGEST = {"title": 60, "content": 240, "when": 40, "speaker": 40}  # characters of a fact's parts
MOST = 3  # facts per message


@dataclass(frozen=True, slots=True)
class Fact:
    """A concise statement about one speaker. `event` is the date of the event in ISO 8601, as
    precise as it is known (a year, a month, a day or a span of days), or None if unknown. `turns`
    are the ids of the turns that support it; empty if the model named none of those shown.
    `prefixed`: whether its text begins with a speaker whom the statement does not name.
    """

    title: str
    content: str
    event: str | None
    speaker: str
    turns: tuple[str, ...]
    prefixed: bool = True

    @property
    def text(self) -> str:
        """`Speaker: statement (event)`, without the parts that the statement contains."""
        bare = not self.prefixed or self.speaker.casefold() in self.content.casefold()
        text = self.content if bare else f"{self.speaker}: {self.content}"
        return text if self.event is None or self.event in text else f"{text} ({self.event})"

    def rewritten(self, content: str, speaker: str, turns: tuple[str, ...]) -> Fact:
        """Return the update of a stored fact by this one: its new `content`, about its `speaker`,
        supported by the `turns` of the old one and those of this.
        """
        both = tuple(dict.fromkeys((*turns, *self.turns)))
        return replace(self, content=content, event=None, speaker=speaker, turns=both)


class StoredFact(NamedTuple):
    """A stored fact as it is shown to the model, and its cosine to the new one."""

    id: str
    text: str
    score: float


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


def as_memory(id_: str, fact: Fact, time: datetime) -> Memory:
    """Return `fact` as a Memory of a session at `time`; the title is part of the index text."""
    return Memory(
        id=id_,
        content=fact.text,
        index_text=f"{fact.title}\n{fact.text}",
        time=time,
        speaker=fact.speaker,
        turns=fact.turns,
        importance=importance(fact.text),
        title=fact.title,
        event=fact.event,
    )


def subject_of(roles: Iterable[str], agent_id: str | None) -> Subject:
    """Return whose facts to extract from messages of these `roles`: the assistant's if an agent
    owns the memory and the assistant has said something, else the user's. The rule is that of
    mem0ai (mem0/memory/main.py, `_should_use_agent_memory_extraction`).
    """
    return "assistant" if agent_id is not None and "assistant" in roles else "user"


def plain(text: str) -> str:
    """Return `text` normalised for comparison: letters and digits only, in lower case."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def fault(step: str, kind: str, detail: object, **more: Any) -> Event:
    """Return the event of an error; `detail` is cut to 300 characters."""
    return {"step": step, "fault": kind, "detail": str(detail)[:300], **more}


def tokens(usage: Usage) -> dict[str, int]:
    """Return the input and output tokens of one call, for its event."""
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def extraction_schema(
    new: int, shown: int, most: int | None = None, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the JSON schema of a reply on the last `new` of `shown` messages, with at most `most`
    facts (None: three per message) and the properties `more` beside them. Its bounds are
    for servers that decode by the schema: small models end neither a list nor a sentence by
    themselves.
    """
    number = {"type": "integer", "minimum": 1, "maximum": shown}
    sources = {"type": "array", "items": number, "maxItems": 4}
    # A pattern, because servers that decode by a schema support it where maxLength is ignored.
    texts = {
        name: {"type": "string", "pattern": rf'^[^"\\\n]{{0,{longest}}}$'}
        for name, longest in _LONGEST.items()
    }
    fact = object_schema({**texts, "turns": sources})
    facts = {"type": "array", "items": fact, "maxItems": most or MOST * new}
    return {**object_schema({"facts": facts, **(more or {})}), "title": "facts"}


def read_facts(
    rows: Sequence[Mapping[str, Any]],
    shown: Sequence[TimedTurn],
    prompt: str,
    summary: str,
    log: list[Event],
    roles: Collection[str] = (),
) -> Iterator[Fact]:
    """Yield the facts of a reply's `rows` on the messages `shown`, without duplicates; faults are
    logged. `prompt` is the text of the template, whose examples are not accepted as facts. `roles`:
    speakers that are no names, with which the text of a fact does not begin.
    """
    examples = " ".join(_EXAMPLE.findall(prompt))
    shown_terms = set(terms(" ".join([summary, *(line(turn) for _, turn in shown)])))
    said_by = {turn.speaker.casefold(): turn.speaker for _, turn in shown}
    seen: set[str] = set()
    for row in rows:
        content = " ".join(row["content"].split())
        same = plain(content)
        if not same or same in seen:
            continue
        seen.add(same)
        if _echoes(content, examples, shown_terms):
            log.append(fault("extract", "prompt_example", content))
            continue
        numbers = dict.fromkeys(int(n) for n in row["turns"])  # 1.0 is a whole number too
        sources = [shown[n - 1] for n in numbers if 1 <= n <= len(shown)]
        if len(sources) < max(len(numbers), 1):
            log.append(fault("extract", "unknown_turn", f"{content}: {list(numbers)}"))
        title = " ".join(row["title"].split())
        time, first = sources[0] if sources else shown[-1]
        speaker = said_by.get(row["speaker"].strip().casefold(), first.speaker)
        yield Fact(
            title="" if _echoes(title, examples, shown_terms) else title,
            content=content,
            event=resolve(row["when"], time.date()),
            speaker=speaker,
            turns=tuple(turn.id for _, turn in sources),
            prefixed=speaker not in roles,
        )


def _echoes(content: str, examples: str, shown_terms: set[str]) -> bool:
    """Return whether `content` repeats one of the prompt's `examples`, even in distorted words, as
    small models do: it names a speaker who occurs in the examples only, or half of its terms occur
    in the examples only.
    """
    content_terms = set(terms(content))
    borrowed = content_terms.intersection(terms(examples)) - shown_terms
    speakers = terms(" ".join(_SPEAKS.findall(examples)))
    return bool(borrowed.intersection(speakers)) or 2 * len(borrowed) >= max(len(content_terms), 1)
