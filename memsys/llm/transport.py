"""The OpenAI client over a transport that limits and times single attempts."""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

import httpx2
import openai

from memsys.core.addresses import json_without_secrets, without_secrets
from memsys.core.concurrency import waiting
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json
from memsys.core.types import Usage
from memsys.llm.base import LLMError, RequestTooLongError
from memsys.llm.budget import Budget, BudgetReached, Limits
from memsys.llm.endpoint import Exchange, ServerSettings
from memsys.llm.network import AnswerTooLarge, Network, Outgoing
from memsys.llm.pricing import usage_of
from memsys.llm.recording import RecordedAnswer

_PASSED_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
_MOST_BYTES = 16 * 2**20  # of an answer, unpacked
_VECTOR = 2**18  # further bytes per vector: 8,192 numbers
_NO_KEY = "none"  # a local server accepts any
_SHOWN = 200  # characters of a server's message
_TOO_LONG = re.compile(
    r"context.?(length|size|window)|maximum context|too many tokens|prompt is too long",
    re.IGNORECASE,
)
_REMEDIES = {
    401: "the key is not accepted; check the variable {variable}",
    403: "the key may not use this model; check the variable {variable} and the account",
    404: "no such model or address; check llm.model and llm.base_url",
}
_PORTS = {"http": 80, "https": 443}
_NOBODY = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


# The bytes that the OpenAI client would send.
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# The OpenAI client between a call and the transport passes no further arguments through.
_CALL: ContextVar[Exchange] = ContextVar("_CALL")


class Client(httpx2.BaseTransport):
    """Sends calls by the OpenAI client, which tries again after faults that may pass, and is its
    transport: it sends single attempts, within the limits and the budget. The pauses between
    attempts are in the OpenAI client and do not occupy a slot of the running calls.

    The OpenAI client takes part in the first call of a path, whose headers later calls repeat, and
    in each call whose first attempt fails. Its part of a call takes 0.4 ms, as long as all others
    together.
    """

    def __init__(self, settings: ServerSettings, budget: Budget | None) -> None:
        """A server on this machine is started."""
        self._key_variable, self._timeout_s = settings.key_variable, settings.timeout_s
        self._limits = Limits(settings.concurrency, settings.requests_per_minute)
        self._budget, self._network, address = budget, Network(), settings.base_url
        # By path, what the OpenAI client first sent to it, without content.
        self._templates: dict[str, Outgoing] = {}
        self._reached = False  # whether the server has answered anything
        self._openai = openai.OpenAI(
            api_key=os.environ.get(settings.key_variable) or _NO_KEY,
            base_url=address if isinstance(address, str) else address.start(),
            timeout=settings.timeout_s,
            max_retries=settings.retries,
            http_client=httpx2.Client(transport=self),
        )

    def send(self, exchange: Exchange) -> tuple[Exception, int | None] | None:
        """Return None for an answer, which is now in `exchange`; else the error after all attempts
        and the status under which it is recorded: the server's, 0 if no answer was complete, or
        None if no server was reached and there is nothing to replay.

        The error is returned, as one that is raised here would refer to the request and its
        headers.
        """
        content = _JSON.encode(dict(exchange.body)).encode()
        template = self._templates.get(exchange.path)
        if template is not None:
            try:
                exchange.first = self._send(template.with_content(content), exchange)
            except httpx2.TransportError as error:
                exchange.first = error
        if exchange.row is not None:  # it was answered
            return None
        token = _CALL.set(exchange)
        try:
            self._openai.post(exchange.path, cast_to=httpx2.Response, content=content)
        except openai.OpenAIError as error:
            if exchange.stopped is not None:
                return exchange.stopped, 0
            failure = self._explained(error, exchange.model, exchange.attempts)
            if isinstance(error, openai.APIStatusError):
                return failure, error.status_code
            return failure, None if isinstance(error.__cause__, _NOBODY) else 0
        finally:
            _CALL.reset(token)
        return None

    def _explained(
        self, error: openai.OpenAIError, model: str, attempts: int
    ) -> LLMError | InputError:
        """Return `error` as an LLMError, or as an InputError if configuration or account cause it.
        The message contains no secret, although a server may repeat one.
        """
        tries = f"{attempts} attempt{'s' if attempts != 1 else ''}"
        if isinstance(error, openai.APITimeoutError):
            return LLMError(f"{model}: no whole answer within {self._timeout_s:g} s ({tries})")
        if not isinstance(error, openai.APIStatusError):
            cause = error.__cause__
            message = self._shown(f"{type(cause).__name__}: {cause}" if cause else str(error))
            return LLMError(f"{model}: the connection failed ({message}; {tries})")
        body, status = error.body, error.status_code
        text = body.get("message") if isinstance(body, dict) else None
        message = self._shown(" ".join(str(text or error.message).split()))
        if status in _REMEDIES:
            remedy = _REMEDIES[status].format(variable=self._key_variable)
            return InputError(f"{model}: HTTP {status}: {remedy} ({message})")
        if "insufficient_quota" in (error.code, error.type):
            return InputError(
                f"{model}: the account has no credit left ({message}); add credit and resume"
            )
        if error.code == "context_length_exceeded" or (
            status in (400, 413) and _TOO_LONG.search(message)
        ):
            return RequestTooLongError(
                f"{model}: the request is longer than the model's context ({message})"
            )
        return LLMError(f"{model}: HTTP {status} ({message}; {tries})")

    def _shown(self, text: str) -> str:
        # Shortening first could leave half a key.
        return without_secrets(text, self._key_variable)[:_SHOWN]

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one attempt. An answer becomes `answer` and `row` of the exchange, an error that
        must not be retried its `stopped`.
        """
        exchange = _CALL.get()
        first, exchange.first = exchange.first, None
        if isinstance(first, Exception):
            raise first
        if isinstance(first, httpx2.Response):
            return first
        outgoing = Outgoing.of(request)
        self._templates.setdefault(exchange.path, outgoing.with_content(b""))
        refused = self._send(outgoing, exchange)
        return httpx2.Response(200) if refused is None else refused

    def _send(self, request: Outgoing, exchange: Exchange) -> httpx2.Response | None:
        """Send one attempt; return the server's refusal, or None if it is answered."""
        try:
            with self._limits.place():
                return self._attempt(request, exchange)
        except (InputError, BudgetReached, LLMError) as error:
            exchange.stopped = error
            return httpx2.Response(400, headers={"x-should-retry": "false"}, json={})

    def _attempt(self, request: Outgoing, exchange: Exchange) -> httpx2.Response | None:
        body = exchange.body
        model, texts = exchange.model, body.get("input")
        most = _MOST_BYTES + _VECTOR * (len(texts) if isinstance(texts, list) else 1)
        settle = self._budget.reserve(model, body) if self._budget else lambda _: None
        exchange.attempts += 1
        exchange.waited_ms = exchange.spent_ms
        awaited = partial(_awaited, exchange, time.perf_counter())
        try:
            status, headers, data = self._network.send(request, self._timeout_s, most, awaited)
            self._reached = True
            answer = _parsed(data, model) if 200 <= status < 300 else None
        except httpx2.ConnectError as error:
            settle(Usage(1))  # nothing was sent
            if not self._reached and _is_refused(error):
                url = request.url
                place = f"{url.hostname}:{url.port or _PORTS[url.scheme]}"
                raise InputError(
                    f"{model}: no server listens at {place} "
                    "(connection refused); start it, or correct base_url, and resume"
                ) from None
            raise
        except InputError:
            settle(Usage(1))  # the proxy is at fault, and nothing was sent
            raise
        except BaseException as error:
            settle(None)  # the answer is lost, but the server may bill it
            if isinstance(error, AnswerTooLarge):  # which another attempt would not mend
                raise LLMError(f"{model}: the answer is {error}") from None
            raise
        if answer is None:
            settle(Usage(1))  # refused
            passed = {name: headers[name] for name in _PASSED_HEADERS if name in headers}
            return httpx2.Response(status, headers=passed, content=data)
        usage = usage_of(answer)
        settle(usage)
        text = data.decode()
        if (cleaned := json_without_secrets(answer)) != answer:  # a server may repeat the key
            answer, text = cleaned, json.dumps(cleaned, ensure_ascii=False)
        exchange.answer = answer
        exchange.row = RecordedAnswer(
            key=exchange.key,
            path=unquote(request.url.path),
            model=model,
            status=status,
            body=text,
            latency_ms=exchange.latency_ms,
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return None


@contextmanager
def _awaited(exchange: Exchange, started: float) -> Iterator[None]:
    """Wait for a part of an answer; the last one ends the latency."""
    with waiting():
        yield
        exchange.latency_ms = (time.perf_counter() - started) * 1000


def _parsed(data: bytes, model: str) -> Mapping[str, Any]:
    """Return the JSON object in `data`; else raise a protocol error, which is retried. Raises
    LLMError, which is not, for JSON beyond the limits of parse_json.
    """
    try:
        answer = parse_json(data)
    except (json.JSONDecodeError, UnicodeDecodeError):
        answer = None
    except ValueError as error:
        raise LLMError(f"{model}: the answer cannot be used: {error}") from None
    if not isinstance(answer, dict):
        raise httpx2.RemoteProtocolError("the answer is not a JSON object")
    return answer


def _is_refused(error: BaseException) -> bool:
    """Return whether the machine answered that nothing listens at the port."""
    cause = error.__cause__ or error.__context__
    return isinstance(error, ConnectionRefusedError) or (cause is not None and _is_refused(cause))
