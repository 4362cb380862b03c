"""Between the protocol's client and the network: replay, limits, budget, clock and record."""

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
from memsys.llm.recording import Recorded, Recording
from memsys.llm.usage import usage_of

_SECRET_LENGTH = 8  # shorter values are words, as in API_KEY=none
_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class RecordingTransport(httpx2.BaseTransport):
    """Answers a request from the recording or, where it is not known, from the network.

    Each attempt passes here alone: the pauses between attempts are the protocol client's own, and
    hold no place among the calls under way.
    """

    def __init__(
        self, recording: Recording, limits: Limits, budget: Budget | None, timeout_s: float
    ) -> None:
        """`timeout_s` bounds one attempt, from sending it to the last byte of its answer."""
        self._recording, self._limits, self._budget = recording, limits, budget
        self._timeout_s = timeout_s
        limits_of_client = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        # A client rather than a bare transport: it knows the system's proxies. None of them can
        # reach a server on this machine's own loopback.
        here = httpx2.HTTPTransport(limits=limits_of_client)
        self._network = httpx2.Client(
            limits=limits_of_client, mounts={f"all://{host}": here for host in _LOOPBACK}
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """One attempt. What must not be retried is put into the exchange as `stopped`."""
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
            found = self._recording.find(exchange.key)
            if found is not None:  # another thread or process was first
                exchange.waited_ms = exchange.spent_ms
                exchange.replay(found.latency_ms, found.created)
                return _response(found.status, {}, found.body.encode())
            with self._limits.place():
                return self._live(request, body, exchange)

    def _live(
        self, request: httpx2.Request, body: Mapping[str, Any], exchange: Exchange
    ) -> httpx2.Response:
        model = str(body.get("model", ""))
        held = None
        if self._budget is not None:
            held = self._budget.reserve(model, body)
        started = time.perf_counter()
        exchange.attempts += 1
        exchange.waited_ms = exchange.spent_ms
        try:
            status, headers, data = self._send(request, started)
            exchange.latency_ms = (time.perf_counter() - started) * 1000
            answer = _parsed(data) if 200 <= status < 300 else None
        except httpx2.ConnectError:
            _settle(held, {"usage": {"prompt_tokens": 0}})  # nothing was sent
            raise
        except BaseException:
            _settle(held, {})  # the answer is lost; the server may bill it all the same
            raise
        if answer is None:
            _settle(held, {"usage": {"prompt_tokens": 0}})  # refused
            return _response(status, headers, data)
        _settle(held, answer)
        exchange.created = datetime.now(UTC).isoformat(timespec="seconds")
        text = _without_key(data.decode(), request)
        key = exchange.key
        try:
            exchange.check(answer)
        except LLMError:  # the caller will meet it again
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
                # The network's own limit is on each pause; a slow drip would go on for ever.
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
        """Record the answer, and return the recorded one: who comes first wins, everywhere."""
        if self._recording.mode == "off":
            return text.encode()
        usage = usage_of(json.loads(text))
        row = Recorded(
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
    """The JSON object in `data`; else a protocol error, which is retried like a cut connection."""
    try:
        answer = json.loads(data.decode())
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise httpx2.RemoteProtocolError("the answer is not a JSON object")
    return answer


def _settle(held: Reservation | None, answer: Mapping[str, Any]) -> None:
    if held is not None:
        held.settle(usage_of(answer))


def _without_key(text: str, request: httpx2.Request) -> str:
    """`text`, should a server repeat the key in it."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    return text.replace(key, "$KEY") if len(key) >= _SECRET_LENGTH else text


def _response(status: int, headers: Mapping[str, str], data: bytes) -> httpx2.Response:
    kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
    return httpx2.Response(status, headers=kept, content=data)
