"""The extracted fact, its conversion to a Memory, and the events logged during extraction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from memsys.core.turns import importance
from memsys.core.types import Memory, Usage

# One logged step of ingestion, as plain JSON values: `step` (extract, decide, apply, summary,
# session) and, after an error that did not end the ingestion, `fault` and `detail`.
Event = dict[str, Any]

Subject = Literal["user", "assistant"]  # the role whose facts are extracted


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
