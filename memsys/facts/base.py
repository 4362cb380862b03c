"""A fact, how it becomes a memory, and what is told of the way there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memsys.text.turns import importance
from memsys.types import Memory, Usage

# What happened, as plain JSON values: `step` (extract, decide, apply, summary, session) and, where
# something went wrong without ending anything, `fault` and `detail`.
Event = dict[str, Any]

Subject = Literal["user", "assistant"]  # whose facts are looked for


@dataclass(frozen=True, slots=True)
class Fact:
    """A concise statement of one speaker.

    `event` is when the thing happened: a date of ISO 8601 as exact as it is known (a year, a month,
    a day, or a span of days), None where nothing tells. `turns` are the ids of the turns that it
    rests on, none where the model named none that it was shown.
    """

    title: str
    content: str
    event: str | None
    speaker: str
    turns: tuple[str, ...]

    @property
    def text(self) -> str:
        """`Speaker: statement (event)`, each part where the statement does not hold it already.

        The speaker's name has to be there: retrieval needs it.
        """
        named = self.speaker.casefold() in self.content.casefold()
        text = self.content if named else f"{self.speaker}: {self.content}"
        return text if self.event is None or self.event in text else f"{text} ({self.event})"


def as_memory(id_: str, fact: Fact, time: datetime) -> Memory:
    """The memory of `fact`, learnt in a session at `time`; its title is matched by word as well."""
    return Memory(
        id=id_,
        content=fact.text,
        index_text=f"{fact.title}\n{fact.text}",
        time=time,
        speaker=fact.speaker,
        turns=fact.turns,
        importance=importance(fact.text),
    )


def subject_of(roles: Iterable[str], agent_id: str | None) -> Subject:
    """Whose facts are to be looked for in messages of these `roles`: the assistant's where an agent
    owns the memory and the assistant says anything, else the user's.

    The rule is that of mem0ai (mem0/memory/main.py, `_should_use_agent_memory_extraction`).
    """
    return "assistant" if agent_id is not None and "assistant" in roles else "user"


def plain(text: str) -> str:
    """`text` for comparing: letters and digits alone, in lower case."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def fault(step: str, kind: str, detail: object, **more: Any) -> Event:
    """An event of what went wrong; `detail` is cut to what a log can bear."""
    return {"step": step, "fault": kind, "detail": str(detail)[:300], **more}


def tokens(usage: Usage) -> dict[str, int]:
    """Of one call, for its event."""
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
