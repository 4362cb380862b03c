"""What the rest of the system knows of a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memsys.types import Usage

Message = Mapping[str, Any]  # {"role": ..., "content": ...}, as the OpenAI protocol has it


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for; `arguments` is the JSON text as it came, unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered: its text, tool calls, why it stopped, and the endpoint's usage.

    `model` is the name the endpoint answered under, which may be more exact than the one asked for.
    """

    text: str
    usage: Usage
    model: str
    finish: str
    tool_calls: tuple[ToolCall, ...] = ()


class LLM(Protocol):
    """A chat model. Every call is noted in the run's meter by the client itself."""

    @property
    def name(self) -> str:
        """The model's name, as manifests and prices know it."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
    ) -> Completion:
        """One answer. `schema`: the reply must be JSON of this JSON schema. `sample` tells apart
        repetitions of one request, which a recording would else answer alike.

        Raises LLMError when no usable answer came.
        """
        ...

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's own answer, whole, to the request that a program of the protocol made;
        its model alone is changed to this one. For memory libraries behind a gateway.

        Raises LLMError when no usable answer came.
        """
        ...


class LLMError(Exception):
    """The endpoint gave no usable answer; the message names what happened, never a key.

    Of the question under way, not of the run: it is recorded as an error and asked again on resume.
    """
