"""From messages to candidate facts: what a model is shown, and what of its reply holds good."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any

from memsys.context.base import stamp
from memsys.errors import InputError
from memsys.facts.base import Event, Fact, fault, plain, tokens
from memsys.facts.dates import resolve
from memsys.index.terms import terms
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt, load_prompt
from memsys.memory.text import line
from memsys.types import Session, Turn

Said = tuple[datetime, Turn]  # a turn and the time of its session
_NOTHING = "(nothing yet)"
_EXAMPLE = re.compile(r"<example>(.*?)</example>", re.DOTALL)  # in a prompt of one's own
_SPEAKS = re.compile(r"^(?:\d+\. )?(\w[\w ]*): ", re.MULTILINE)
_TEXT = {"type": "string"}
_MOST = 3  # facts a message


@dataclass(frozen=True, kw_only=True)
class ExtractSettings:
    """`exchange`: new messages a call; `recent`: messages before them that are shown. `prompt` and
    `summary_prompt`: a name under conf/prompts or a path; without a summary prompt no running
    summary is kept. Examples in a prompt stand between <example> and </example>: what repeats them
    is no fact.
    """

    prompt: str
    summary_prompt: str | None
    exchange: int = 2
    recent: int = 10

    def __post_init__(self) -> None:
        """Raises InputError on a number out of range."""
        for name, least in (("exchange", 1), ("recent", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise InputError(f"strategy.facts.{name}: {value!r}; use {least} or more")

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """By role. Raises InputError where one is missing or lacks a place."""
        found = {"facts": load_prompt(self.prompt, ["messages", "time"])}
        if self.summary_prompt is not None:
            found["summary"] = load_prompt(self.summary_prompt, ["summary", "messages"])
        return found


class Extractor:
    """Asks a model for the facts of new messages; remembers what was said, and its summary."""

    def __init__(self, llm: LLM, settings: ExtractSettings) -> None:
        """Raises InputError where a prompt cannot be used."""
        self._llm, self._settings, self.prompts = llm, settings, settings.prompts
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

    def facts(self, new: Sequence[Turn], time: datetime, log: list[Event]) -> list[Fact]:
        """The candidate facts of `new` turns, said at `time`; may be none. What the reply gets
        wrong goes into `log`, and so does the call. Raises LLMError without a usable reply.
        """
        first = self._place[new[0].id]
        before = self._said[max(first - self._settings.recent, 0) : first]
        shown = [*before, *((time, turn) for turn in new)]
        text = self.prompts["facts"].fill(
            summary=self.summary or _NOTHING,
            recent=_numbered(before, 1) or _NOTHING,
            messages=_numbered(shown[len(before) :], len(before) + 1),
            time=stamp(time),
        )
        schema = _schema(len(new), len(shown))
        reply = self._llm.complete([{"role": "user", "content": text}], schema=schema)
        try:
            rows = [dict(row) for row in json.loads(reply.text)["facts"]]
            facts = list(self._checked(rows, shown, log))
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
            messages="\n".join(map(line, session.turns)),
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

    def _checked(
        self, rows: Sequence[Mapping[str, Any]], shown: Sequence[Said], log: list[Event]
    ) -> Iterator[Fact]:
        examples = " ".join(_EXAMPLE.findall(self.prompts["facts"].text))
        heard = set(terms(" ".join([self.summary, *(line(turn) for _, turn in shown)])))
        said_by = {turn.speaker.casefold(): turn.speaker for _, turn in shown}
        known: set[str] = set()
        for row in rows:
            content = " ".join(row["content"].split())
            same = plain(content)
            if not same or same in known:
                continue
            known.add(same)
            if _echoes(content, examples, heard):
                log.append(fault("extract", "prompt_example", content))
                continue
            numbers = dict.fromkeys(int(n) for n in row["turns"])  # 1.0 is a whole number too
            sources = [shown[n - 1] for n in numbers if 1 <= n <= len(shown)]
            if len(sources) < max(len(numbers), 1):
                log.append(fault("extract", "unknown_turn", f"{content}: {list(numbers)}"))
            title = " ".join(row["title"].split())
            time, first = sources[0] if sources else shown[-1]
            yield Fact(
                title="" if _echoes(title, examples, heard) else title,
                content=content,
                event=resolve(row["when"], time.date()),
                speaker=said_by.get(row["speaker"].strip().casefold(), first.speaker),
                turns=tuple(turn.id for _, turn in sources),
            )


def _schema(new: int, shown: int) -> dict[str, Any]:
    """The form of a reply on so many `new` of the `shown` messages.

    Bounds are for servers that write by the schema: small models never end a list by themselves.
    """
    number = {"type": "integer", "minimum": 1, "maximum": shown}
    sources = {"type": "array", "items": number, "maxItems": 4}
    fields = {**dict.fromkeys(("title", "content", "when", "speaker"), _TEXT), "turns": sources}
    fact = _object(fields)
    return _object({"facts": {"type": "array", "items": fact, "maxItems": _MOST * new}}) | {
        "title": "facts"
    }


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _echoes(content: str, examples: str, heard: set[str]) -> bool:
    """Whether `content` repeats one of the prompt's `examples`, be it in distorted words, as small
    models do: it names somebody who speaks there and was not heard of, or half of its terms stand
    there and were not heard.
    """
    own = set(terms(content))
    borrowed = own.intersection(terms(examples)) - heard
    speakers = terms(" ".join(_SPEAKS.findall(examples)))
    return bool(borrowed.intersection(speakers)) or 2 * len(borrowed) >= max(len(own), 1)


def _numbered(said: Sequence[Said], first: int) -> str:
    """Messages under the times of their sessions, numbered from `first`."""
    lines, number = [], first
    for time, group in groupby(said, key=lambda one: one[0]):
        lines.append(f"[{stamp(time)}]")
        for _, turn in group:
            lines.append(f"{number}. {line(turn)}")
            number += 1
    return "\n".join(lines)
