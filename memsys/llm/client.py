"""Chat models behind the OpenAI protocol, recorded and replayed; strict parsing of answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from memsys.errors import InputError
from memsys.llm.base import LLM, Completion, LLMError, Message, Tool, ToolCall
from memsys.llm.budget import Budget, Limits
from memsys.llm.endpoint import Endpoint, Server
from memsys.llm.meter import Check, Exchange, Meter
from memsys.llm.pricing import usage_of
from memsys.llm.recording import Mode, Recording
from memsys.llm.schema import violation
from memsys.text.addresses import check_address, check_key
from memsys.types import Usage

_RESERVED = frozenset(
    {"model", "messages", "temperature", "max_tokens", "seed", "tools", "response_format", "stream"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """Configuration of a chat model; `open` returns the client for a run.

    `base_url`: an http(s) address, or a server that is started with the first live call.
    `key_variable`: name of the environment variable with the key. `timeout_s` bounds one attempt,
    `retries` are further attempts. `concurrency` and `requests_per_minute` (null: no limit) bound
    live calls. `temperature`, `max_tokens` (of an answer) and `seed` are left out of the request
    if null; `extra` is added to it unchanged (reasoning models need `max_completion_tokens` there,
    and the other three null). `cache` and `budget_usd` apply to the run: the mode of its recording
    (see Recording), and the limit on the cost of all its calls.
    """

    model: str
    base_url: str | Server
    key_variable: str = "OPENAI_API_KEY"
    timeout_s: float = 60
    retries: int = 5
    concurrency: int = 8
    requests_per_minute: float | None = None
    max_tokens: int | None = 512
    temperature: float | None = 0.0
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    cache: Mode = "auto"
    budget_usd: float | None = None

    def __post_init__(self) -> None:
        """Raise InputError on unusable settings; the key is checked by `open`."""
        if isinstance(self.base_url, str):
            check_address(self.base_url, "llm.base_url")
        if not self.model:
            raise InputError("llm.model: is empty; name the model as the endpoint knows it")
        if self.timeout_s <= 0:
            raise InputError(f"llm.timeout_s: {self.timeout_s}; give more than 0")
        if self.retries < 0:
            raise InputError(f"llm.retries: {self.retries}; give 0 or more")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(f"llm.max_tokens: {self.max_tokens}; give 1 or more, or null")
        if reserved := _RESERVED & set(self.extra):
            name = min(reserved)
            raise InputError(f"llm.extra.{name}: is not an extra; set llm.{name} if it exists")
        Limits(self.concurrency, self.requests_per_minute)

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
        self._settings, self._meter = settings, meter
        self.name = settings.model
        fixed = {name: getattr(settings, name) for name in ("temperature", "max_tokens", "seed")}
        self._fixed = {name: value for name, value in fixed.items() if value is not None}
        self._fixed |= settings.extra
        if recording.mode != "replay":
            if isinstance(settings.base_url, str):
                host = check_address(settings.base_url, "llm.base_url")
                check_key(settings.key_variable, host, f"llm {settings.model}")
            if budget is not None:
                limit = self._fixed.get("max_completion_tokens", self._fixed.get("max_tokens"))
                budget.check(settings.model, limit)
        self._endpoint = Endpoint(
            settings.base_url,
            recording,
            Limits(settings.concurrency, settings.requests_per_minute),
            budget,
            key_variable=settings.key_variable,
            timeout_s=settings.timeout_s,
            retries=settings.retries,
        )

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
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
        if self._settings.seed is not None and "seed" in body:
            body["seed"] = self._settings.seed + sample  # or all repetitions would get one answer
        if schema is not None:
            body["response_format"] = _response_format(schema)
        if tools:
            body["tools"] = [{"type": "function", "function": asdict(tool)} for tool in tools]

        read = partial(completion, model=self.name, schema=schema)
        return read(self._ask(body, read, sample))

    def forward(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """See LLM. The run's settings fill in what `body` leaves open. Raises the same errors as
        `complete`.
        """
        check = partial(completion, model=self.name)
        return self._ask({**self._fixed, **body, "model": self.name}, check, 0)

    def _ask(self, body: Mapping[str, Any], check: Check, sample: int) -> Mapping[str, Any]:
        """Return the endpoint's answer; the call is metered whether it is usable or not."""
        exchange = Exchange(check, sample)
        try:
            answer = self._endpoint.post("/chat/completions", body, exchange)
        except LLMError:
            self._meter.note(exchange.call(self.name, None))
            raise
        self._meter.note(exchange.call(self.name, usage_of(answer) or Usage(calls=1)))
        return answer


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schema` in the form of the protocol, named by its title."""
    name = re.sub(r"[^\w-]+", "_", str(schema.get("title", "answer")), flags=re.ASCII)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name or "answer", "strict": True, "schema": dict(schema)},
    }


def completion(
    answer: Mapping[str, Any], model: str, schema: Mapping[str, Any] | None = None
) -> Completion:
    """Return the first choice of `answer`. `schema`: the JSON schema its text must match. A text
    cut off by the length limit is returned, with `finish` "length", unless there is a schema. A
    missing field is an error: raises LLMError naming `model` and what is wrong.
    """
    if isinstance(answer.get("error"), Mapping):  # some gateways send errors with status 200
        raise LLMError(f"{model}: {str(answer['error'].get('message'))[:200]}")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise LLMError(f"{model}: the answer has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise LLMError(f"{model}: the answer has no message")
    calls = _tool_calls(message.get("tool_calls") or [], model)
    text, finish = message.get("content"), choice.get("finish_reason")
    if not isinstance(text, str) and not calls:
        refusal = message.get("refusal")
        why = f"the model refused: {str(refusal)[:200]}" if refusal else "it has no content"
        raise LLMError(f"{model}: no usable answer ({why})")
    text = text if isinstance(text, str) else ""
    if schema is not None and not calls:
        _check_schema(text, schema, model, finish)
    return Completion(
        text=text,
        usage=usage_of(answer) or Usage(calls=1),
        model=str(answer.get("model") or model),
        finish=str(finish),
        tool_calls=calls,
    )


def _tool_calls(rows: Any, model: str) -> tuple[ToolCall, ...]:
    if not isinstance(rows, Sequence):
        raise LLMError(f"{model}: tool_calls is not a list")
    calls = []
    for call in rows:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise LLMError(f"{model}: a tool call names no function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        calls.append(ToolCall(str(call.get("id") or ""), function["name"], text))
    return tuple(calls)


def _check_schema(text: str, schema: Mapping[str, Any], model: str, finish: object) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        cut = "; it was cut off by the limit of tokens" if finish == "length" else ""
        raise LLMError(f"{model}: the reply is not the JSON that was asked for{cut}") from None
    wrong = violation(value, schema)
    if wrong is not None:
        raise LLMError(f"{model}: the reply is not of the schema that was asked for: {wrong}")
