"""Chat models behind the OpenAI protocol, recorded and replayed."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, get_args

from memsys.core.declared import Count, Range
from memsys.core.errors import InputError, problems
from memsys.core.json_text import check_json
from memsys.llm.base import LLM, Completion, Message, Tool
from memsys.llm.budget import Budget
from memsys.llm.endpoint import Declined, Endpoint, Exchange, ServerSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording
from memsys.llm.reply import completion

_PATH = "/chat/completions"
_RESERVED = frozenset(
    {"model", "messages", "temperature", "max_tokens", "seed", "tools", "response_format", "stream"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings(ServerSettings):
    """Configuration of a chat model (see ServerSettings); `open` returns the client for a run.

    `temperature`, `max_tokens` (of an answer) and `seed` are left out of the request
    if null; `extra` is added to it unchanged (reasoning models need `max_completion_tokens` there,
    and the other three null). `cache` and `budget_usd` apply to the run: the mode of its recording
    (see Recording), and the limit on the cost of all its calls.
    """

    max_tokens: Count | None = 512
    temperature: Annotated[float, Range(0, 100)] | None = 0.0
    seed: Annotated[int, Range(-(2**63), 2**63 - 1)] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    cache: Mode = "auto"
    budget_usd: float | None = None

    def __post_init__(self) -> None:
        """Raise InputError on unusable settings; the key is checked by `open`."""
        self.check("llm")
        if reserved := _RESERVED & set(self.extra):
            name = min(reserved)
            raise InputError(f"llm.extra.{name}: is not an extra; set llm.{name} if it exists")
        with problems("llm.extra", "; give what JSON can hold"):
            check_json(dict(self.extra))

    def open(self, recording: Recording, meter: Meter, budget: Budget | None = None) -> ChatClient:
        """Return the client of one run. Raises InputError if calls may be live and the key is
        missing, or if a price or token limit that the budget needs is missing.
        """
        return ChatClient(self, recording, meter, budget)


@dataclass(frozen=True, slots=True)
class NoModel:
    """Configuration without a chat model; `cache` and `budget_usd`: see ChatSettings."""

    cache: Mode = "auto"
    budget_usd: float | None = None

    def open(self, recording: Recording, meter: Meter, budget: Budget | None = None) -> None:
        """Return None; a part that needs a model raises InputError itself."""


class ChatClient(LLM):
    """A chat model, safe for several threads; every call is added to the meter."""

    def __init__(
        self, settings: ChatSettings, recording: Recording, meter: Meter, budget: Budget | None
    ) -> None:
        """See ChatSettings.open."""
        self._settings, self.name = settings, settings.model
        self._probe = threading.Lock()
        self._accepted: ReplyFormat | None = None
        self._replayed: ReplyFormat | None = None
        fixed = {name: getattr(settings, name) for name in ("temperature", "max_tokens", "seed")}
        self._fixed = {name: value for name, value in fixed.items() if value is not None}
        self._fixed |= settings.extra
        most = self._fixed.get("max_completion_tokens", self._fixed.get("max_tokens"))
        option = f"llm {settings.model}"
        self._endpoint = Endpoint(
            settings, recording, meter, budget, option=option, most_tokens=most
        )

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
        max_tokens: int | None = None,
    ) -> Completion:
        """See LLM. Raises LLMError if this call fails; InputError if the key, the model or the
        recording is at fault and every call would fail; BudgetReached before a call that could
        exceed the budget.
        """
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [dict(m) for m in messages],
            **self._fixed,
        }
        limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
        if max_tokens is not None and limit in body:  # without a limit there is none to raise
            body[limit] = max(body[limit], max_tokens)
        if self._settings.seed is not None and "seed" in body:
            body["seed"] = self._settings.seed + sample  # or all repetitions would get one answer
        if tools:
            body["tools"] = [{"type": "function", "function": asdict(tool)} for tool in tools]

        read = partial(completion, model=self.name, schema=schema, tools=bool(tools))

        def send(form: ReplyFormat | None, probing: bool = False) -> Completion:
            exchange = Exchange(read, sample, probing)
            try:
                self._endpoint.post(_PATH, with_format(body, schema, form), exchange)
            finally:
                if exchange.row is not None:  # it was answered live, usably or not
                    self._accepted = self._accepted or form
            done: Completion = exchange.value
            return done

        if schema is None:
            return send(None)
        for form in sorted(FORMATS, key=lambda form: form != self.reply_format):
            if self._endpoint.is_recorded(_PATH, with_format(body, schema, form), sample):
                self._replayed = form
                return send(form)
        if self._accepted is None:
            with self._probe:  # finds out which format the server accepts, while others wait
                if self._accepted is None:
                    for form in FORMATS:
                        with suppress(Declined):
                            return send(form, probing=form != FORMATS[-1])
        return send(self._accepted)

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """See LLM. The run's settings fill in what `body` leaves open. Raises the same errors as
        `complete`.
        """
        check = partial(completion, model=self.name, tools=bool(body.get("tools")))
        whole = {**self._fixed, **body, "model": self.name}
        return self._endpoint.post(_PATH, whole, Exchange(check))

    @property
    def reply_format(self) -> ReplyFormat | None:
        """How this server is asked for JSON: the format that it accepted, else that of the last
        recorded answer; None before the first request with a schema.
        """
        return self._accepted or self._replayed


ReplyFormat = Literal["json_schema", "json_object", "text"]
FORMATS: tuple[ReplyFormat, ...] = get_args(ReplyFormat)  # from the strictest


def with_format(
    body: dict[str, Any], schema: Mapping[str, Any] | None, form: ReplyFormat | None
) -> dict[str, Any]:
    """Return the request `body` with `schema`, if any, asked for as `form`. For a server that does
    not know schemas, a last message contains it, unless the messages ask for JSON already.
    """
    if schema is None or form is None:
        return body
    if form == "json_schema":
        name = re.sub(r"[^\w-]+", "_", str(schema.get("title", "answer")), flags=re.ASCII)[:64]
        strict = {"name": name or "answer", "strict": True, "schema": dict(schema)}
        return {**body, "response_format": {"type": form, "json_schema": strict}}
    asked = dict(body) if form == "text" else {**body, "response_format": {"type": form}}
    if "json" not in json.dumps(body["messages"]).casefold():
        words = f"Reply with one JSON object of this JSON schema: {json.dumps(dict(schema))}"
        asked["messages"] = [*body["messages"], {"role": "user", "content": words}]
    return asked
