"""An OpenAI-compatible server behind a recording of its answers."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from memsys.core.addresses import check_variable
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json
from memsys.core.types import Usage
from memsys.llm.base import LLMError, RequestTooLongError
from memsys.llm.budget import Budget, Limits
from memsys.llm.meter import EXCHANGE, Exchange, key_of, rejected_key
from memsys.llm.pricing import usage_of
from memsys.llm.recording import RecordedAnswer, Recording

if TYPE_CHECKING:
    import openai

_LOCAL_PATH = "/v1"  # of a server on this machine
_NO_KEY = "none"  # a local server accepts any
_DECLINED = (400, 404, 422)  # statuses of servers that do not know a field


class Server(Protocol):
    """A server on this machine, started when the first request has to be sent."""

    def start(self) -> str:
        """Start listening unless already started; return the base URL, whose path is /v1."""


class Endpoint:
    """Sends `POST {base_url}/...` with retries, limits, a budget and a recording.

    The key is read from the environment and never stored. Nothing is loaded or connected before a
    request that the recording cannot answer. An endpoint is safe for several threads.
    """

    def __init__(
        self,
        base_url: str | Server,
        recording: Recording,
        limits: Limits,
        budget: Budget | None = None,
        *,
        key_variable: str,
        timeout_s: float,
        retries: int,
    ) -> None:
        """`base_url`: see check_address. `timeout_s` bounds one attempt; `retries` are further
        attempts after the first, following the server's retry-after if there is one.
        """
        self._base_url, self._recording = base_url, recording
        address = base_url if isinstance(base_url, str) else _LOCAL_PATH
        self._path = urlsplit(address).path.rstrip("/")
        self._limits, self._budget = limits, budget
        self._key_variable, self._timeout_s, self._retries = key_variable, timeout_s, retries
        self._lock = threading.Lock()
        # A replay is CPU time alone: threads that shared it would take turns, and wait for each.
        self._replaying = threading.Lock()
        self._opened: openai.OpenAI | None = None

    def post(self, path: str, body: Mapping[str, Any], exchange: Exchange) -> Mapping[str, Any]:
        """Return the JSON answer to `body`, and fill in `exchange`; `path` starts with a slash.

        Raises LLMError for an answer that fails the check of `exchange`, and without an answer
        after all retries: both are recorded separately, and raised again only in a replay. Raises
        InputError for a fault of the configuration and, in mode `replay`, for a missing answer;
        BudgetReached before a call that could exceed the budget.
        """
        with self._replaying:
            key = exchange.key = self.key(path, body, exchange.sample)
            recorded = self._recording.to_replay(key)
            if recorded is not None:
                try:
                    return self._replayed(recorded, exchange)
                except LLMError:
                    # Recorded by an earlier version, which accepted it.
                    self._recording.reject(recorded, rejected_key(key))
                    if self._recording.mode == "replay":
                        raise
                    exchange.restart(key)
        if self._recording.mode != "replay":
            return _checked(json.loads(self._send(path, body, exchange)), exchange)
        recorded = self._recording.find(rejected_key(key))
        if recorded is not None:
            return self._replayed(recorded, exchange)
        raise InputError(
            f"llm.cache=replay: no recorded answer of {body.get('model')} to request "
            f"{key[:12]} in {self._recording.path}; import the run's bundle "
            "(python -m eval cache import BUNDLE), or set llm.cache=auto"
        )

    def is_recorded(self, path: str, body: Mapping[str, Any], sample: int) -> bool:
        """Return whether an answer to `body` is recorded; in mode `replay`, or a failure."""
        key = self.key(path, body, sample)
        keys = [key, rejected_key(key)] if self._recording.mode == "replay" else [key]
        return any(self._recording.to_replay(one) is not None for one in keys)

    def key(self, path: str, body: Mapping[str, Any], sample: int) -> str:
        """Return the key under which the answer to `body` is recorded; see key_of."""
        return key_of("POST", self._path + path, body, sample)

    def _replayed(self, recorded: RecordedAnswer, exchange: Exchange) -> Mapping[str, Any]:
        exchange.replay(recorded.latency_ms, recorded.created)
        try:
            answer = parse_json(recorded.body)
        except json.JSONDecodeError:
            answer = None
        except ValueError as error:  # accepted by earlier versions
            exchange.fail(Usage(calls=1))
            raise LLMError(f"{recorded.model}: the answer cannot be used: {error}") from None
        if not isinstance(answer, dict):
            raise self._recording.damaged(recorded.key, "its body is not a JSON object")
        if recorded.answered:
            return _checked(answer, exchange)
        exchange.fail(Usage())
        failure = answer.get("error")
        raise LLMError(
            str(failure.get("message")) if isinstance(failure, Mapping) else recorded.body
        )

    def _send(self, path: str, body: Mapping[str, Any], exchange: Exchange) -> bytes:
        import httpx2  # noqa: PLC0415 - half a second that a replayed run does not need
        import openai  # noqa: PLC0415

        from memsys.llm.transport import explain, status_to_keep  # noqa: PLC0415

        client = self._client()
        token = EXCHANGE.set(exchange)
        try:
            reply = client.post(path, cast_to=httpx2.Response, body=dict(body))
        except openai.OpenAIError as error:
            model = str(body.get("model"))
            status = 0 if exchange.stopped else status_to_keep(error)
            failure = exchange.stopped or explain(
                error, model, self._key_variable, self._timeout_s, exchange.attempts
            )
        else:
            return reply.content
        finally:
            EXCHANGE.reset(token)
        # Outside the handler, or the error would refer to the request and its headers.
        exchange.declined = (
            exchange.probing
            and status in _DECLINED
            and not isinstance(failure, RequestTooLongError)
        )
        if isinstance(failure, LLMError) and status is not None and not exchange.declined:
            exchange.fail(Usage())
            if self._recording.mode != "off":  # for replays only
                text = json.dumps({"error": {"message": str(failure)}}, ensure_ascii=False)
                now = datetime.now(UTC).isoformat(timespec="seconds")
                to = self._path + path
                row = RecordedAnswer(exchange.key, to, model, status, text, 0.0, None, None, now)
                self._recording.keep_failed(row, body)
        raise failure

    def _client(self) -> openai.OpenAI:
        import httpx2  # noqa: PLC0415
        from openai import OpenAI  # noqa: PLC0415

        from memsys.llm.transport import RecordingTransport  # noqa: PLC0415

        with self._lock:
            if self._opened is None:
                address = self._base_url
                transport = RecordingTransport(
                    self._recording, self._limits, self._budget, self._timeout_s
                )
                self._opened = OpenAI(
                    api_key=os.environ.get(self._key_variable) or _NO_KEY,
                    base_url=address if isinstance(address, str) else address.start(),
                    timeout=self._timeout_s,
                    max_retries=self._retries,
                    http_client=httpx2.Client(transport=transport),
                )
            return self._opened


def _checked(answer: Mapping[str, Any], exchange: Exchange) -> Mapping[str, Any]:
    """Return `answer`, read into `exchange`; raises LLMError if it is not usable."""
    try:
        exchange.value = exchange.check(answer)
    except LLMError:
        exchange.fail(usage_of(answer) or Usage(calls=1))
        raise
    return answer


def check_server(field: str, model: object, key: object) -> None:
    """Raise InputError, naming the setting below `field`, on a model or a variable of the key that
    is none.
    """
    if not isinstance(model, str) or not model.strip() or not model.isprintable():
        raise InputError(f"{field}.model: {model!r:.60}; name the model as the endpoint knows it")
    check_variable(key, f"{field}.key_variable")
