"""A model in this process that answers requests with a schema by a function of the request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memsys.core.types import Usage
from memsys.llm.base import Completion, Message


class Asked:
    """Replies with the JSON of `reply(text of the request)`, and remembers texts and schemas."""

    name = "asked"

    def __init__(self, reply: Callable[[str], Any]) -> None:
        self._reply = reply
        self.texts: list[str] = []
        self.schemas: list[Mapping[str, Any]] = []

    def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any], **_: Any
    ) -> Completion:
        self.texts.append(messages[0]["content"])
        self.schemas.append(schema)
        return Completion(json.dumps(self._reply(self.texts[-1])), Usage(1), "asked", "stop")
