"""Context writers: the text of memories for a reader, within a token budget, and summaries of long
memories, so that more of them fit it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from html import escape
from itertools import count
from typing import ClassVar, Literal, NamedTuple

from memsys.core.declared import Count, Name, check_values
from memsys.core.tokens import count_tokens
from memsys.core.types import UNDATED, Candidate, Origin
from memsys.llm.base import LLM, LLMError, needed_model
from memsys.llm.prompt import load_prompt
from memsys.llm.reply import json_reply

SUMMARY_PLACES = ("note",)  # places that the prompt must have
_REPLY = {"summary": {"type": "string"}}


class Summariser:
    """Summarises the long memories of one conversation, each at most once.

    There is one call per memory, whose text alone determines the request: what is recorded does not
    depend on the order of the questions.
    """

    def __init__(self, llm: LLM | None, longer_than: int, prompt: str) -> None:
        """`longer_than`: o200k tokens up to which a memory stays as it is. Raises InputError
        without a model, or if the prompt cannot be used.
        """
        self._llm = needed_model(llm, "context.summarise=llm", "summarise")
        self._longer_than = longer_than
        self.prompt = load_prompt(prompt, SUMMARY_PLACES)
        self._summaries: dict[str, str] = {}  # by content

    def shortened(
        self, candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], Mapping[str, Sequence[int]]]:
        """Return `candidates` with the long ones summarised; and, by id of each of these memories,
        its o200k tokens before and after. A summary that is not shorter is not used. Raises
        LLMError without a usable summary.
        """
        shown, lengths = [], {}
        for candidate in candidates:
            content = candidate.memory.content
            before = count_tokens(content)
            if before > self._longer_than:
                summary = self._summary(content)
                after = count_tokens(summary)
                if after < before:
                    candidate = replace(  # noqa: PLW2901
                        candidate, memory=replace(candidate.memory, content=summary)
                    )
                    lengths[candidate.memory.id] = [before, after]
            shown.append(candidate)
        return shown, lengths

    def forget(self, contents: Iterable[str]) -> None:
        """Delete the summaries of memories with these contents."""
        for content in contents:
            self._summaries.pop(content, None)

    def _summary(self, content: str) -> str:
        summary = self._summaries.get(content)
        if summary is None:
            reply = json_reply(self._llm, self.prompt.fill(note=content), _REPLY)
            summary = " ".join(str(reply["summary"]).split())
            if not summary:
                raise LLMError(f"{self._llm.name}: the summary of a memory is empty")
            self._summaries[content] = summary
        return summary


class Layer(NamedTuple):
    """A part of the text: the tags around it, and the origins of the memories inside."""

    opening: str
    origins: Set[Origin]
    closing: str


_WHOLE = Layer("", {"direct", "expanded"}, "")
_ROOT = ("<memory_context>\n", "</memory_context>\n")
_TIMES = ("event_time", "said")


class ContextWriter(ABC):
    """Writes candidates as text for a reader; a subclass defines the layout.

    `root`: tags around the text. `layers`: its parts, in order; one without memories is left out.
    `prompts`: the shipped prompts that describe the layout to a model; the first is the default of
    `reader.prompt`, which has to be set without one.
    """

    prompts: ClassVar[Sequence[str]] = ()
    root: ClassVar[tuple[str, str]] = ("", "")
    layers: ClassVar[Sequence[Layer]] = (_WHOLE,)

    def __init__(
        self,
        name: Name,
        summarise: Literal["llm"] | None = None,
        longer_than: Count = 64,
        summary_prompt: str = "memory_summary",
    ) -> None:
        """`summarise`: llm lets a model summarise retrieved memories of more than `longer_than`
        o200k tokens, by the prompt `summary_prompt`; None writes every memory as it is.
        """
        check_values(ContextWriter, locals(), "context")
        self.name, self.summarise = name, summarise
        self.longer_than, self.summary_prompt = longer_than, summary_prompt

    def summariser(self, llm: LLM | None) -> Summariser | None:
        """Return what summarises the memories of one conversation, None if nothing does. Raises
        InputError without a model, or on an unusable setting or prompt.
        """
        if self.summarise is None:
            return None
        return Summariser(llm, self.longer_than, self.summary_prompt)

    @abstractmethod
    def line(self, candidate: Candidate, index: int) -> str:
        """Return one memory as a line of the text; `index` counts the lines from 1."""

    def frame(self, origins: Set[Origin]) -> str:
        """Return the tags around memories of these origins, "" without an origin."""
        inside = [layer for layer in self.layers if layer.origins & origins]
        tags = "".join(layer.opening + layer.closing for layer in inside)
        return self.root[0] + tags + self.root[1] if origins else ""

    def render(self, candidates: Iterable[Candidate]) -> str:
        """Return the whole text, "" without candidates. In each layer the oldest memory comes
        first; those of one time stay in rank order.
        """
        ordered = sorted(candidates, key=lambda candidate: candidate.memory.time)
        index, text = count(1), ""
        for opening, origins, closing in self.layers:
            lines = [self.line(entry, next(index)) for entry in ordered if entry.origin in origins]
            text += opening + "".join(lines) + closing if lines else ""
        return self.root[0] + text + self.root[1] if ordered else ""

    def write(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """Return those of the ranked `candidates` that fit `budget`, in rank order, and their text.

        `budget` is in o200k tokens (None: no limit), tags included, and is never exceeded; the text
        is "" without candidates. A memory too long for the remaining budget is skipped. Lines are
        counted one by one (linear in the context), with the tags that each adds; the whole is
        counted at the end, and the last memories are dropped if it exceeds the budget after all.
        """
        if budget is None:
            return tuple(candidates), self.render(candidates)
        fitting: list[Candidate] = []
        used, origins = 0, frozenset[Origin]()
        tags: dict[frozenset[Origin], int] = {}
        for candidate in candidates:
            present = origins | {candidate.origin}
            if present not in tags:
                tags[present] = count_tokens(self.frame(present))
            lines = used + count_tokens(self.line(candidate, len(fitting) + 1))
            if lines + tags[present] <= budget:
                fitting.append(candidate)
                used, origins = lines, present
        text = self.render(fitting)
        while fitting and count_tokens(text) > budget:
            fitting.pop()
            text = self.render(fitting)
        return tuple(fitting), text

    def write_newest(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """Like `write`, of `candidates` in order of time, of which the newest get the budget; those
        that fit are returned in that order.
        """
        fitting, _ = self.write(candidates[::-1], budget)
        return self.write(fitting[::-1], budget)


class Flat(ContextWriter):
    """Writes one line per memory: `[8 May 2023, 13:56] Speaker: words`; the words alone of one
    without a time.
    """

    prompts: ClassVar[Sequence[str]] = ("short_answer", "chain_of_thought", "reply")

    def line(self, candidate: Candidate, index: int) -> str:  # noqa: ARG002
        """See ContextWriter."""
        return dated(candidate.memory.content, candidate.memory.time)


class Xml(ContextWriter):
    """Writes memories as XML elements with index, content and event time, in one list. The event
    time is the date of the event that a memory states, followed by the time at which it was said
    (`said`); where that date is not known, the event time is the time at which it was said.
    """

    prompts: ClassVar[Sequence[str]] = ("xml",)
    root: ClassVar[tuple[str, str]] = _ROOT
    remarks: ClassVar[dict[Origin, str]] = {"direct": "", "expanded": ""}

    def line(self, candidate: Candidate, index: int) -> str:
        """See ContextWriter."""
        memory = candidate.memory
        content = escape(memory.content, quote=False)
        times = [memory.event] if memory.event else []
        times += [stamp(memory.time)] if memory.time != UNDATED else []
        tags = "".join(f"<{tag}>{time}</{tag}>" for tag, time in zip(_TIMES, times, strict=False))
        elements = f"<content>{content}</content>{tags}{self.remarks[candidate.origin]}"
        return f'<memory index="{index}">{elements}</memory>\n'


class Layered(Xml):
    """Writes memories as XML in two layers: direct results, then those that a graph expansion
    added. The index runs on from layer to layer.
    """

    prompts: ClassVar[Sequence[str]] = ("layered",)
    layers: ClassVar[Sequence[Layer]] = (
        Layer("<direct_matches>\n", {"direct"}, "</direct_matches>\n"),
        Layer("<related_context>\n", {"expanded"}, "</related_context>\n"),
    )
    remarks: ClassVar[dict[Origin, str]] = {
        "direct": "<relevance>high</relevance>",
        "expanded": "<relevance>related</relevance><source>graph</source>",
    }


def dated(text: str, time: datetime) -> str:
    """Return the line `[8 May 2023, 13:56] text`; the text alone where the time is UNDATED."""
    return f"{text}\n" if time == UNDATED else f"[{stamp(time)}] {text}\n"


@lru_cache(maxsize=4_096)
def stamp(time: datetime) -> str:
    """Return the time as a reader sees it: `8 May 2023, 13:56`."""
    return f"{time.day} {time:%B %Y, %H:%M}"
