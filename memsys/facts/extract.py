"""From messages to candidate facts: what a model is shown, and how it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import get_args

from memsys.context.base import stamp
from memsys.errors import InputError
from memsys.facts.base import Event, Fact, Subject, fault, tokens
from memsys.facts.images import Eyes, Images
from memsys.facts.rows import Said, checked, form
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt, load_prompt
from memsys.text.turns import line
from memsys.types import Session, Turn

_NOTHING = "(nothing yet)"


@dataclass(frozen=True, kw_only=True)
class ExtractSettings:
    """`exchange`: new messages a call; `recent`: messages before them that are shown. `retries`:
    how often what no answer came for is tried again once the session has been gone through. `most`:
    facts an exchange, None for three a message; a small model needs fewer to end within its limit.

    `prompt`, `summary_prompt`, `assistant_prompt`, `image_prompt`: a name under conf/prompts or a
    path. Without a summary prompt no running summary is kept; without one for facts of an assistant
    `prompt` serves them too. Examples in a prompt stand between <example> and </example>: what
    repeats them is no fact. `images`: shown by their captions, or described by the model itself.
    `place`: what messages call these settings.
    """

    prompt: str
    summary_prompt: str | None
    exchange: int = 2
    recent: int = 10
    assistant_prompt: str | None = None
    images: Images = "caption"
    image_prompt: str = "facts_image"
    retries: int = 1
    most: int | None = None
    place: str = "strategy.facts"

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        for name, least in (("exchange", 1), ("recent", 0), ("retries", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise InputError(f"{self.place}.{name}: {value!r}; use {least} or more")
        if self.most is not None and (not isinstance(self.most, int) or self.most < 1):
            raise InputError(f"{self.place}.most: {self.most!r}; use 1 or more, or null")
        if self.images not in get_args(Images):
            known = ", ".join(get_args(Images))
            raise InputError(f"{self.place}.images: {self.images!r} is none of {known}")

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """By role. Raises InputError where one is missing or lacks a place."""
        found = {"facts": load_prompt(self.prompt, ["messages", "time"])}
        if self.assistant_prompt is not None:
            found["assistant_facts"] = load_prompt(self.assistant_prompt, ["messages", "time"])
        if self.summary_prompt is not None:
            found["summary"] = load_prompt(self.summary_prompt, ["summary", "messages"])
        if self.images == "endpoint":
            found["image"] = load_prompt(self.image_prompt, ["message"])
        return found


class Extractor:
    """Asks a model for the facts of new messages; remembers what was said, and its summary."""

    def __init__(self, llm: LLM, settings: ExtractSettings) -> None:
        """Raises InputError where a prompt cannot be used."""
        self._llm, self._settings, self.prompts = llm, settings, settings.prompts
        self._eyes = Eyes(llm, self.prompts["image"]) if "image" in self.prompts else None
        self._said: list[Said] = []
        self._place: dict[str, int] = {}  # of a turn in what was said
        self._summarised: set[str] = set()  # ids of sessions
        self.summary = ""

    def exchanges(self, session: Session) -> Iterator[tuple[Turn, ...]]:
        """The session's turns, so many at a time. Hearing a session twice changes nothing."""
        for turn in session.turns:
            if turn.id not in self._place:
                self._place[turn.id] = len(self._said)
                self._said.append((session.time, turn))
        step = self._settings.exchange
        for start in range(0, len(session.turns), step):
            yield session.turns[start : start + step]

    def facts(
        self, new: Sequence[Turn], time: datetime, log: list[Event], subject: Subject = "user"
    ) -> list[Fact]:
        """The candidate facts of `new` turns, said at `time`; may be none. `subject`: whose, which
        decides on the prompt. What the reply gets wrong goes into `log`, and so does the call.

        Raises LLMError without a usable reply.
        """
        self._look(new, log)
        first = self._place[new[0].id]
        before = self._said[max(first - self._settings.recent, 0) : first]
        shown = [*before, *((time, self._as_seen(turn)) for turn in new)]
        own = "assistant_facts" if subject == "assistant" else "facts"
        prompt = self.prompts.get(own, self.prompts["facts"])
        text = prompt.fill(
            summary=self.summary or _NOTHING,
            recent=_numbered(before, 1) or _NOTHING,
            messages=_numbered(shown[len(before) :], len(before) + 1),
            time=stamp(time),
        )
        schema = form(len(new), len(shown), self._settings.most)
        reply = self._llm.complete([{"role": "user", "content": text}], schema=schema)
        try:
            rows = [dict(row) for row in json.loads(reply.text)["facts"]]
            facts = list(checked(rows, shown, prompt.text, self.summary, log))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LLMError(f"{self._llm.name}: the reply is no list of facts") from error
        ids = [turn.id for turn in new]
        log.append(
            {"step": "extract", "turns": ids, "facts": len(facts), "tokens": tokens(reply.usage)}
        )
        return facts

    def refresh(self, session: Session, log: list[Event]) -> None:
        """Bring the summary up to date with `session`; the old one stays where no model answers."""
        prompt = self.prompts.get("summary")
        if prompt is None or session.id in self._summarised:
            return
        text = prompt.fill(
            summary=self.summary or _NOTHING,
            messages="\n".join(line(self._as_seen(turn)) for turn in session.turns),
            time=stamp(session.time),
        )
        try:
            reply = self._llm.complete([{"role": "user", "content": text}])
        except LLMError as error:
            log.append(fault("summary", "no_answer", error))
            return
        if reply.finish == "length":  # 150 words were asked for: the model ran away
            cost = tokens(reply.usage)
            log.append(fault("summary", "cut_off", reply.text, tokens=cost))
            return
        self._summarised.add(session.id)
        self.summary = reply.text.strip() or self.summary
        log.append({"step": "summary", "tokens": tokens(reply.usage)})

    def _look(self, turns: Sequence[Turn], log: list[Event]) -> None:
        """Have the images of `turns` described, where that is wanted."""
        for place in (self._place[turn.id] for turn in turns):
            time, turn = self._said[place]
            if self._eyes is not None:
                self._said[place] = time, self._eyes.see(turn, log)

    def _as_seen(self, turn: Turn) -> Turn:
        place = self._place.get(turn.id)
        return turn if place is None else self._said[place][1]


def _numbered(said: Sequence[Said], first: int) -> str:
    """Messages under the times of their sessions, numbered from `first`."""
    lines, number = [], first
    for time, group in groupby(said, key=lambda one: one[0]):
        lines.append(f"[{stamp(time)}]")
        for _, turn in group:
            lines.append(f"{number}. {line(turn)}")
            number += 1
    return "\n".join(lines)
