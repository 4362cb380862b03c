"""Scripted models: each call is answered by what a test planned for its kind."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memsys.core.types import Usage
from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_book import FactBook
from memsys.knowledge.facts.fact_writer import FactWriter, UpdateSettings
from memsys.llm.base import LLM, Completion, LLMError, Message, Tool, ToolCall

Reply = str | tuple[tuple[str, str], ...] | LLMError
USAGE = Usage(1, 100, 10)


def fact(content: str, speaker: str = "Mara", *turns: int, when: str = "", title: str = "") -> Any:
    """One row of an extraction's reply."""
    return {
        "title": title or content[:9],
        "content": content,
        "when": when,
        "speaker": speaker,
        "turns": list(turns),
    }


def facts(*rows: Any) -> str:
    """An extraction's reply."""
    return json.dumps({"facts": rows})


def operation(kind: str, id_: int = 0, content: str = "", why: str = "so it is") -> dict[str, Any]:
    """One row of a decision's reply by schema."""
    return {"operation": kind, "id": id_, "content": content, "why": why}


def operations(*rows: Any) -> str:
    """A decision's reply by schema."""
    return json.dumps({"operations": rows})


def call(kind: str, **arguments: Any) -> tuple[str, str]:
    """One tool call: name and arguments."""
    return kind, json.dumps({"why": "so it is", **arguments})


def planned(plan: Sequence[Any] | Callable[[str], Any], text: str, asked: list[str]) -> Any:
    """What `plan` replies to `text`, which is noted among what was `asked`: what its rule makes of
    it, or the next of its list, whose last entry is for ever.
    """
    asked.append(text)
    return plan(text) if callable(plan) else plan[min(len(asked), len(plan)) - 1]


def completion(reply: Reply, name: str, finish: str = "stop") -> Completion:
    """`reply` as the model `name` would give it; raises it if it is a failure."""
    if isinstance(reply, LLMError):
        raise reply
    if isinstance(reply, str):
        return Completion(reply, USAGE, name, finish)
    calls = tuple(ToolCall(f"c{n}", tool, given) for n, (tool, given) in enumerate(reply))
    return Completion("", USAGE, name, "tool_calls", calls)


class Planned(LLM):
    """Answers calls by kind from lists, the last entry for ever; remembers what it was asked, the
    messages that it was sent, and the schemas.

    Kinds: `extract`, `decide` (by tools or schema) and `summary`.
    """

    name = "planned"

    def __init__(
        self,
        extract: Sequence[Reply] | Callable[[str], Reply] = (),
        decide: Sequence[Reply] | Callable[[str], Reply] = (),
        summary: Sequence[Reply] = ("They talk.",),
        finish: str = "stop",
    ) -> None:
        self._finish = finish
        self.plans: dict[str, Any] = {"extract": extract, "decide": decide, "summary": summary}
        self.asked: dict[str, list[str]] = {kind: [] for kind in self.plans}
        self.sent: list[Sequence[Message]] = []
        self.schemas: list[Any] = []
        self.by_tools = 0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
        max_tokens: int | None = None,
    ) -> Completion:
        kind = self.kind_of(schema or {}, [tool.name for tool in tools])
        self.sent.append(messages)
        self.schemas.append(tools[0].parameters if tools else schema or {})
        self.by_tools += bool(tools)
        reply = planned(
            self.plans[kind], str(messages[0]["content"]), self.asked.setdefault(kind, [])
        )
        if isinstance(reply, list):
            value = json.dumps({kind: reply})
            reply = ((tools[0].name, value),) if tools else value
        return completion(reply, self.name, self._finish)

    def kind_of(self, schema: Mapping[str, Any], tools: Sequence[str]) -> str:
        """The kind of a call with this schema, or with these tools."""
        if tools or schema.get("title") == "operations":
            return "decide"
        return "extract" if schema else "summary"


class BookWriter(FactWriter):
    """A fact writer whose facts are in a book that tests can read."""

    def __init__(
        self, llm: LLM, embedder: CachedEmbedder, facts: ExtractSettings, update: UpdateSettings
    ) -> None:
        self.book = FactBook(embedder)
        super().__init__(llm, facts, update, self.book)
