"""The form in which a server is asked for JSON: what it supports is found out once."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from memsys.llm.base import Completion

ReplyFormat = Literal["json_schema", "json_object", "text"]
FORMATS: tuple[ReplyFormat, ...] = get_args(ReplyFormat)  # from the strictest
Send = Callable[[ReplyFormat, bool], Completion]


def with_format(
    body: Mapping[str, Any], schema: Mapping[str, Any], form: ReplyFormat
) -> dict[str, Any]:
    """Return the request `body` with `schema` asked for as `form`. For a server that does not know
    schemas, a last message contains it, unless the messages ask for JSON already.
    """
    if form == "json_schema":
        return {**body, "response_format": _response_format(schema)}
    asked = dict(body) if form == "text" else {**body, "response_format": {"type": form}}
    if "json" not in json.dumps(body["messages"]).casefold():
        words = f"Reply with one JSON object of this JSON schema: {json.dumps(dict(schema))}"
        asked["messages"] = [*body["messages"], {"role": "user", "content": words}]
    return asked


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schema` in the form of the protocol, named by its title."""
    name = re.sub(r"[^\w-]+", "_", str(schema.get("title", "answer")), flags=re.ASCII)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name or "answer", "strict": True, "schema": dict(schema)},
    }


class Declined(Exception):  # noqa: N818 - another form of the request follows
    """The server does not take a request in this form."""


class Formats:
    """The reply format of one client, safe for several threads. The first request with a schema
    finds out which format the server accepts, while others wait; `accepted` is None before.
    """

    def __init__(self) -> None:
        self._probe = threading.Lock()
        self._accepted: ReplyFormat | None = None
        self._replayed: ReplyFormat | None = None

    @property
    def used(self) -> ReplyFormat | None:
        """The format that the server accepted, else that of the last recorded answer, else None."""
        return self._accepted or self._replayed

    def ask(self, send: Send, recorded: Callable[[ReplyFormat], bool]) -> Completion:
        """Return the answer to a request in the first format that is recorded, or else in the one
        that the server accepts. `send` sends it in a format; if its second argument is true, it
        raises Declined where the server does not take the format.
        """
        for form in sorted(FORMATS, key=lambda form: form != self.used):
            if recorded(form):
                self._replayed = form
                return send(form, False)
        if self._accepted is None:
            with self._probe:
                if self._accepted is None:
                    return self._find(send)
        return send(self._accepted, False)

    def accept(self, form: ReplyFormat) -> None:
        """Note that the server has answered a request in this format, well or badly."""
        self._accepted = self._accepted or form

    def _find(self, send: Send) -> Completion:
        for form in FORMATS[:-1]:
            try:
                return send(form, True)
            except Declined:
                continue
        return send(FORMATS[-1], False)
