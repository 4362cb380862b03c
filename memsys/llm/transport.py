"""HTTP transport that replays, limits, times and records the requests of a client."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx2

from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import Budget, BudgetReached, Limits, Reservation
from memsys.llm.exchange import EXCHANGE, Exchange, key_of, rejected_key
from memsys.llm.recording import RecordedAnswer, Recording
from memsys.llm.usage import usage_of

_SECRET_LENGTH = 8  # shorter values are words, as in API_KEY=none
_PASSED_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class RecordingTransport(httpx2.BaseTransport):
    """Answers a request from the recording or, if it is not recorded, from the network.

    It sees single attempts: the pauses between them are in the OpenAI client and do not occupy a
    slot of the running calls.
    """

    def __init__(
        self, recording: Recording, limits: Limits, budget: Budget | None, timeout_s: float
    ) -> None:
        """`timeout_s` bounds one attempt, from sending to the last byte of the answer."""
        self._recording, self._limits, self._budget = recording, limits, budget
        self._timeout_s = timeout_s
        limits_of_client = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        # A client rather than a bare transport, as it uses the system's proxies. None of them can
        # reach a server on the loopback of this machine.
        here = httpx2.HTTPTransport(limits=limits_of_client)
        self._network = httpx2.Client(
            limits=limits_of_client, mounts={f"all://{host}": here for host in _LOOPBACK}
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one attempt; an error that must not be retried becomes `stopped` of the exchange."""
        exchange = EXCHANGE.get()
        try:
            return self._answer(request, exchange)
        except (InputError, BudgetReached) as error:
            exchange.stopped = error
            return httpx2.Response(400, headers={"x-should-retry": "false"}, json={})

    def close(self) -> None:
        """Close the connections."""
        self._network.close()

    def _answer(self, request: httpx2.Request, exchange: Exchange) -> httpx2.Response:
        body = json.loads(request.content)
        path = request.url.path
        exchange.key = key_of(request.method, path, body, exchange.sample)
        with self._recording.claim(exchange.key):
            recorded = self._recording.find(exchange.key)
            if recorded is not None:  # another thread or process was first
                exchange.waited_ms = exchange.spent_ms
                exchange.replay(recorded.latency_ms, recorded.created)
                return _response(recorded.status, {}, recorded.body.encode())
            with self._limits.place():
                return self._live(request, body, exchange)

    def _live(
        self, request: httpx2.Request, body: Mapping[str, Any], exchange: Exchange
    ) -> httpx2.Response:
        model = str(body.get("model", ""))
        reservation = None
        if self._budget is not None:
            reservation = self._budget.reserve(model, body)
        started = time.perf_counter()
        exchange.attempts += 1
        exchange.waited_ms = exchange.spent_ms
        try:
            status, headers, data = self._send(request, started)
            exchange.latency_ms = (time.perf_counter() - started) * 1000
            answer = _parsed(data) if 200 <= status < 300 else None
        except httpx2.ConnectError:
            _settle(reservation, {"usage": {"prompt_tokens": 0}})  # nothing was sent
            raise
        except BaseException:
            _settle(reservation, {})  # the answer is lost, but the server may bill it
            raise
        if answer is None:
            _settle(reservation, {"usage": {"prompt_tokens": 0}})  # refused
            return _response(status, headers, data)
        _settle(reservation, answer)
        exchange.created = datetime.now(UTC).isoformat(timespec="seconds")
        text = _without_key(data.decode(), request)
        key = exchange.key
        try:
            exchange.check(answer)
        except LLMError:  # the caller's own check raises it again
            key = rejected_key(key)
        return _response(status, headers, self._keep(key, exchange, request, model, status, text))

    def _send(
        self, request: httpx2.Request, started: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        response = self._network.send(request, stream=True)
        try:
            parts = []
            for part in response.iter_bytes():
                parts.append(part)
                # The limit of httpx is per read; a slow stream could go on for ever.
                if time.perf_counter() - started > self._timeout_s:
                    raise httpx2.ReadTimeout("the answer takes too long", request=request)
            return response.status_code, response.headers, b"".join(parts)
        finally:
            response.close()

    def _keep(
        self,
        key: str,
        exchange: Exchange,
        request: httpx2.Request,
        model: str,
        status: int,
        text: str,
    ) -> bytes:
        """Record the answer, and return the recorded one: the first answer wins everywhere."""
        if self._recording.mode == "off":
            return text.encode()
        usage = usage_of(json.loads(text))
        row = RecordedAnswer(
            key=key,
            path=request.url.path,
            model=model,
            status=status,
            body=text,
            latency_ms=exchange.latency_ms,
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            created=str(exchange.created),
        )
        if key != exchange.key:
            return self._recording.keep_failed(row).body.encode()
        if not self._recording.keep([row]):
            first = self._recording.find(key)
            return (first or row).body.encode()
        return text.encode()


def _parsed(data: bytes) -> Mapping[str, Any]:
    """Return the JSON object in `data`; else raise a protocol error, which is retried."""
    try:
        answer = json.loads(data.decode())
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise httpx2.RemoteProtocolError("the answer is not a JSON object")
    return answer


def _settle(reservation: Reservation | None, answer: Mapping[str, Any]) -> None:
    if reservation is not None:
        reservation.settle(usage_of(answer))


def _without_key(text: str, request: httpx2.Request) -> str:
    """Return `text` without the key, which a server may repeat."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    return text.replace(key, "$KEY") if len(key) >= _SECRET_LENGTH else text


def _response(status: int, headers: Mapping[str, str], data: bytes) -> httpx2.Response:
    passed = {name: headers[name] for name in _PASSED_HEADERS if name in headers}
    return httpx2.Response(status, headers=passed, content=data)
