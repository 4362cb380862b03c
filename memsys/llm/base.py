"""The protocol of a chat model, its messages and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
