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
        first = [one for one in messages[:1] if one["role"] == "system"]
        texts = [*(str(one["content"]) for one in first), self.instructions]
        system = {"role": "system", "content": "\n\n".join(texts)}
        rest = messages[len(first) :]
        given: dict[str, Any] = {"schema": schema, "tools": tools, "sample": sample}
        return self.llm.complete([system, *rest], **given, max_tokens=max_tokens)

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """See LLM; `body` is sent as it is."""
        return self.llm.forward(body)


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
