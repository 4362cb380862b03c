"""Extraction of candidate facts from messages: the model's input and the request."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from memsys.context.writers import stamp
from memsys.core.declared import Count, CountFrom0, Word, check_fields
from memsys.core.errors import InputError
from memsys.core.turns import ROLES, line
from memsys.core.types import Session, Turn
from memsys.knowledge.facts.fact import (
    Event,
    Fact,
    Subject,
    TimedTurn,
    extraction_schema,
    fault,
    read_facts,
    tokens,
)
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt, load_prompt

if TYPE_CHECKING:
    from memsys.knowledge.relations.extract import SameReply

Images = Literal["caption", "endpoint"]
Relations = Literal["separate", "same_reply"]
_DIALOGUES = ("facts_extract", "facts_dialogue")  # the prompts for dialogues between people
_SUMMARY = "facts_summary"  # the prompt for the summary of such a dialogue
_NOTHING = "(nothing yet)"
_ADDRESSES = ("http://", "https://", "data:image/")


@dataclass(frozen=True, kw_only=True)
class ExtractSettings:
    """Settings of the extraction of facts. `exchange`: new messages per call; `recent`: earlier
    messages shown with them. `retries`: how often calls without an answer are repeated at the end
    of a session. `most`: maximum of facts per exchange, None for three per message; a small model
    needs fewer to finish within its output limit. `relations`: extracted by calls of their own, or
    in the reply that has the facts (see SameReply), which saves these calls. `images`: shown as
    captions, or described by the model, which reads them at `image_detail`.

    Prompts are names of shipped prompts or paths.
    Without a summary prompt there is no running summary; without an assistant prompt, `prompt` is
    used for an assistant's facts too. `system`: the text of a system prompt that says what to
    extract from anybody; the prompt facts_input follows it. Examples in a prompt are enclosed in
    <example> and </example>: a fact that repeats them is rejected. `roles`: the messages are those
    of a chat, whose speakers may have no name but their role. `place`: the name of these settings
    in error messages.
    """

    prompt: str
    summary_prompt: str | None
    exchange: Count = 2
    recent: CountFrom0 = 10
    assistant_prompt: str | None = None
    images: Images = "caption"
    image_prompt: str = "facts_image"
    image_detail: Detail = "low"  # suffices for one sentence
    retries: CountFrom0 = 1
    most: Count | None = None
    relations: Relations = "separate"
    system: Word | None = None
    roles: bool = False
    place: str = "strategy.facts"

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        check_fields(self, self.place)

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by role. Raises InputError if one is missing or lacks a placeholder."""
        shipped = self.prompt if self.system is None else "facts_input"
        prompts = {"facts": load_prompt(shipped, ["messages", "time"])}
        if self.system is not None:
            prompts["system"] = Prompt("system", self.system)
        elif self.assistant_prompt is not None:
            prompts["assistant_facts"] = load_prompt(self.assistant_prompt, ["messages", "time"])
        if self.summary_prompt is not None:
            prompts["summary"] = load_prompt(self.summary_prompt, ["summary", "messages"])
        if self.images == "endpoint":
            prompts["image"] = load_prompt(self.image_prompt, ["message"])
        return prompts

    def check_exchange(self, setting: str, exchange: int) -> None:
        """Raises InputError naming `setting`, the messages per call of the relations, unless
        `exchange` is the number for facts too, or relations come by calls of their own.
        """
        if self.relations == "same_reply" and self.exchange != exchange:
            raise InputError(
                f"{setting}: relations come with the facts (same_reply); use the "
                f"{self.exchange} of {self.place}.exchange"
            )


def for_roles(settings: ExtractSettings) -> ExtractSettings:
    """Return `settings` for messages with roles: the prompts for dialogues between people are
    replaced by those for users and for agents; any other prompt is used for both.
    """
    settings = replace(settings, roles=True)
    if settings.prompt in _DIALOGUES:
        agents = settings.assistant_prompt or "facts_assistant"
        settings = replace(settings, prompt="facts_user", assistant_prompt=agents)
    if settings.summary_prompt == _SUMMARY:
        settings = replace(settings, summary_prompt="facts_summary_roles")
    return settings


class FactExtractor:
    """Asks a model for the facts of new messages; stores the dialogue and its running summary."""

    def __init__(self, llm: LLM, settings: ExtractSettings, part: SameReply | None = None) -> None:
        """`part`: what reads the rest of a reply; it is used with `relations: same_reply` only.
        Raises InputError if a prompt cannot be used, or if that is set without a `part`.
        """
        self._llm, self._settings, self.prompts = llm, settings, settings.prompts
        self.retries = settings.retries
        self._part = part if settings.relations == "same_reply" else None
        if self._part is not None:
            self.prompts = {**self.prompts, "same_reply": self._part.prompt}
        elif settings.relations == "same_reply":
            raise InputError(
                f"{settings.place}.relations: same_reply: no relations are stored here; use "
                "graph=relations, strategy=mem0_graph, or separate"
            )
        self._dialogue: list[TimedTurn] = []
        self._index: dict[str, int] = {}  # of a turn in the dialogue
        self.summary = ""

    def add_turns(self, session: Session) -> None:
        """Append the turns of `session` to the dialogue; known turns are skipped."""
        for turn in session.turns:
            if turn.id not in self._index:
                self._index[turn.id] = len(self._dialogue)
                self._dialogue.append((session.time, turn))

    def forget(self, turns: Collection[str]) -> set[datetime]:
        """Delete `turns` from the dialogue, and the summary if it had any; return the times of
        those that were there.
        """
        gone = [(time, turn) for time, turn in self._dialogue if turn.id in turns]
        if gone:
            self._dialogue = [pair for pair in self._dialogue if pair[1].id not in turns]
            self._index = {turn.id: n for n, (_, turn) in enumerate(self._dialogue)}
            self.summary = ""  # a later session starts a new one
        return {time for time, _ in gone}

    def exchanges(self, session: Session) -> Iterator[tuple[Turn, ...]]:
        """Yield the session's turns, `exchange` at a time, after adding them to the dialogue."""
        self.add_turns(session)
        step = self._settings.exchange
        for start in range(0, len(session.turns), step):
            yield session.turns[start : start + step]

    def facts(
        self, new: Sequence[Turn], time: datetime, log: list[Event], subject: Subject = "user"
    ) -> list[Fact]:
        """Return the candidate facts of `new` turns, said at `time`; may be empty. `subject`: the
        role whose facts are extracted, which selects the prompt. The call and the faults of its
        reply are logged. Raises LLMError without a usable reply.
        """
        self._describe(new, log)
        first = self._index[new[0].id]
        before = self._dialogue[max(first - self._settings.recent, 0) : first]
        shown = [*before, *((time, self._shown_turn(turn)) for turn in new)]
        role = "assistant_facts" if subject == "assistant" else "facts"
        prompt = self.prompts.get(role, self.prompts["facts"])
        if self._part is not None:
            prompt = prompt.extended(self._part.prompt.text)
        text = prompt.fill(
            summary=self.summary or _NOTHING,
            recent=_numbered_lines(before, 1) or _NOTHING,
            messages=_numbered_lines(shown[len(before) :], len(before) + 1),
            time=stamp(time),
        )
        more = self._part.properties(len(new), len(shown)) if self._part is not None else {}
        schema = extraction_schema(len(new), len(shown), self._settings.most, more)
        messages = [{"role": "user", "content": text}]
        own = self._settings.system
        if own is not None:
            messages = [{"role": "system", "content": own}, *messages]
        reply = self._llm.complete(messages, schema=schema)
        template, roles = f"{own or ''}{prompt.text}", ROLES if self._settings.roles else ()
        content = json.loads(reply.text)
        facts = list(read_facts(content["facts"], shown, template, self.summary, log, roles))
        ids, cost = [turn.id for turn in new], tokens(reply.usage)
        log.append({"step": "extract", "turns": ids, "facts": len(facts), "tokens": cost})
        if self._part is not None:
            self._part.read(content, [turn for _, turn in shown], new, log)
        return facts

    def refresh(self, session: Session, log: list[Event]) -> None:
        """Update the summary with `session`; it is unchanged if the model does not answer."""
        prompt = self.prompts.get("summary")
        if prompt is None:
            return
        text = prompt.fill(
            summary=self.summary or _NOTHING,
            messages="\n".join(line(self._shown_turn(turn)) for turn in session.turns),
            time=stamp(session.time),
        )
        try:
            reply = self._llm.complete([{"role": "user", "content": text}])
        except LLMError as error:
            log.append(fault("summary", "no_answer", error))
            return
        if reply.finish == "length":  # far beyond the 150 words that the prompt asks for
            log.append(fault("summary", "cut_off", reply.text, tokens=tokens(reply.usage)))
            return
        self.summary = reply.text.strip() or self.summary
        log.append({"step": "summary", "tokens": tokens(reply.usage)})

    def _describe(self, turns: Sequence[Turn], log: list[Event]) -> None:
        """Replace the captions of `turns` by descriptions, if that is set, each requested once."""
        if "image" not in self.prompts:
            return
        for index in (self._index[turn.id] for turn in turns):
            time, turn = self._dialogue[index]
            if turn.image is None:
                continue
            prompt, detail = self.prompts["image"], self._settings.image_detail
            description = describe(self._llm, prompt, turn, detail, log)
            if description is not None:
                self._dialogue[index] = time, replace(turn, caption=description, image=None)

    def _shown_turn(self, turn: Turn) -> Turn:
        index = self._index.get(turn.id)
        return turn if index is None else self._dialogue[index][1]


def _numbered_lines(turns: Sequence[TimedTurn], first: int) -> str:
    """Return messages as text, numbered from `first`, under the times of their sessions."""
    lines, number = [], first
    for time, group in groupby(turns, key=lambda pair: pair[0]):
        lines.append(f"[{stamp(time)}]")
        for _, turn in group:
            lines.append(f"{number}. {line(turn)}")
            number += 1
    return "\n".join(lines)


Detail = Literal["low", "high", "auto"]  # of OpenAI's chat protocol


def describe(llm: LLM, prompt: Prompt, turn: Turn, detail: Detail, log: list[Event]) -> str | None:
    """Return one sentence on the image of `turn`, None after an error, which is logged. Only the
    address is sent: the model's server fetches the image. `detail`: resolution at which the server
    reads it, which determines its tokens.
    """
    address = turn.image or ""
    if not address.casefold().startswith(_ADDRESSES):
        scheme = address.partition(":")[0][:20]  # what follows it may contain a password
        wrong = f"{scheme}: neither http(s) nor data:image/"
        log.append(fault("image", "bad_address", wrong, turn=turn.id))
        return None
    text = prompt.fill(message=f"{turn.speaker}: {turn.text}")
    parts = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": address, "detail": detail}},
    ]
    try:
        reply = llm.complete([{"role": "user", "content": parts}])
    except LLMError as error:
        log.append(fault("image", "no_answer", error, turn=turn.id))
        return None
    description, cost = " ".join(reply.text.split()), tokens(reply.usage)
    if not description:
        log.append(fault("image", "empty", "no description", turn=turn.id, tokens=cost))
        return None
    log.append({"step": "image", "turn": turn.id, "shown": description, "tokens": cost})
    return description
