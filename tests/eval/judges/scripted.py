"""A model that replies what a test tells it to: only to bring replies before a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memsys.core.types import Usage
from memsys.llm.base import Completion, Message, Tool

CORRECT = '{"reason": "same", "verdict": "CORRECT"}'
WRONG = '{"reason": "other", "verdict": "WRONG"}'


class Scripted:
    """Replies by a rule over the prompt and the sample number; remembers what it was asked."""

    def __init__(self, rule: Callable[[str, int], str], name: str = "scripted") -> None:
        self._rule = rule
        self.name = name
        self.asked: list[tuple[str, int]] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
    ) -> Completion:
        text = str(messages[-1]["content"])
        self.asked.append((text, sample))
        self.schemas.append(schema)
        return Completion(self._rule(text, sample), Usage(1, 100, 10), self.name, "stop")
