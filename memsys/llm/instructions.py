"""Custom instructions: a text in the system prompt of every request to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memsys.core.errors import InputError
from memsys.llm.base import LLM, Completion, Message, Tool


class InstructedLLM:
    """A model whose every request has `instructions` in its system prompt, at the end."""

    def __init__(self, llm: LLM, instructions: str) -> None:
        self.name, self.llm, self.instructions = llm.name, llm, instructions

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
        max_tokens: int | None = None,
    ) -> Completion:
        """See LLM."""
        given: dict[str, Any] = {"schema": schema, "tools": tools, "sample": sample}
        return self.llm.complete(self._with(messages), **given, max_tokens=max_tokens)

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """See LLM."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(isinstance(one, Mapping) for one in messages):
            return self.llm.forward(body)  # the server says what is wrong
        return self.llm.forward({**body, "messages": self._with(messages)})

    def _with(self, messages: Sequence[Message]) -> list[Message]:
        """Return `messages` with the instructions at the end of the first one, if it is of the
        system, else in one before them.
        """
        if not messages or messages[0].get("role") not in ("system", "developer"):
            return [{"role": "system", "content": self.instructions}, *messages]
        content = messages[0].get("content") or ""
        if isinstance(content, list):
            whole: Any = [*content, {"type": "text", "text": self.instructions}]
        else:
            whole = "\n\n".join(filter(None, [content, self.instructions]))
        return [{**messages[0], "content": whole}, *messages[1:]]


def instructed(llm: LLM | None, text: str | None) -> LLM | None:
    """Return `llm` with `text`, if any, after the instructions that it has. Raises InputError if
    that is no text.
    """
    if text is not None and not isinstance(text, str):
        raise InputError(f"instructions: {text!r:.40}; use text")
    if llm is None or not text:
        return llm
    if isinstance(llm, InstructedLLM):
        return InstructedLLM(llm.llm, f"{llm.instructions}\n\n{text}")
    return InstructedLLM(llm, text)
