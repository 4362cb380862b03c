"""The libraries whose prompts are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eval.datasets.synthetic.libraries import graphiti, langmem, mem0ai, mem0ai_graph

# Of a chat request and the share of messages to overlook: the message of the reply, with `content`
# and, where tools were called, `tool_calls`; None where the request is none of the library's.
MessageOf = Callable[[Mapping[str, Any], float], dict[str, Any] | None]

LIBRARIES: Final[tuple[MessageOf, ...]] = (
    graphiti.message_of,
    langmem.message_of,
    mem0ai.message_of,
    mem0ai_graph.message_of,
)
