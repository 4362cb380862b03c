"""The protocol of a chat model, its messages and its answers, and custom instructions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memsys.core.errors import InputError
from memsys.core.types import Usage

Message = Mapping[str, Any]  # {"role": ..., "content": ...}, as in the OpenAI protocol


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the model; `arguments` is its JSON text, unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model: text, tool calls, finish reason, and the endpoint's usage. `model` is
    the name in the answer, which may be more exact than the requested one.
    """

    text: str
    usage: Usage
    model: str
    finish: str
    tool_calls: tuple[ToolCall, ...] = ()


class LLM(Protocol):
    """A chat model. The client adds every call to the run's meter."""

    name: str  # of the model, as in manifests and the price list

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
        max_tokens: int | None = None,
    ) -> Completion:
        """Return one answer. `schema`: JSON schema of the reply. `sample`: number that
        distinguishes repetitions of a request, which a recording would otherwise answer alike.
        `max_tokens`: of the answer, if that is more than the configured limit.
        Raises LLMError without a usable answer.
        """

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the endpoint's whole answer to the request `body`, with its model set to this one.
        Used for memory libraries behind a gateway. Raises LLMError without a usable answer.
        """


class LLMError(Exception):
    """The endpoint gave no usable answer; the message says why and never contains a key. It fails
    one question, not the run: the question is recorded as an error and asked again on resume.
    """


class RequestTooLongError(LLMError):
    """The request is longer than the model's context."""


class InstructedLLM:
    """A model whose every request has `instructions` in its system prompt, at the end."""

    def __init__(self, llm: LLM, instructions: str) -> None:
        self.name, self.llm, self.instructions = llm.name, llm, instructions

    def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        """See LLM."""
        return self.llm.complete(self._with(messages), **options)

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """See LLM."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(
            isinstance(message, Mapping) for message in messages
        ):
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


def needed_model(
    llm: LLM | None, setting: str, what: str, remedy: str = "add llm=openai or llm=local"
) -> LLM:
    """Return `llm`. Raises InputError naming `setting` and `remedy` if it is None; `what`: what a
    model is needed to do.
    """
    if llm is None:
        raise InputError(f"{setting}: no model to {what}; {remedy}")
    return llm


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
