"""An OpenAI-compatible server behind a recording of its answers."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import Budget, Limits
from memsys.llm.meter import EXCHANGE, Exchange, key_of, rejected_key
from memsys.llm.pricing import usage_of
from memsys.llm.recording import RecordedAnswer, Recording
from memsys.types import Usage

if TYPE_CHECKING:
    import openai

_LOCAL_PATH = "/v1"  # of a server on this machine
_NO_KEY = "none"  # a local server accepts any


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
        self._opened: openai.OpenAI | None = None

    def post(self, path: str, body: Mapping[str, Any], exchange: Exchange) -> Mapping[str, Any]:
        """Return the JSON answer to `body`, and fill in `exchange`; `path` starts with a slash.

        Raises LLMError for an answer that fails the check of `exchange`, and without an answer
        after all retries: both are recorded separately, and raised again only in a replay. Raises
        InputError for a fault of the configuration and, in mode `replay`, for a missing answer;
        BudgetReached before a call that could exceed the budget.
        """
        exchange.key = key_of("POST", self._path + path, body, exchange.sample)
        recorded = self._recording.find(exchange.key)
        if recorded is None and self._recording.mode == "replay":
            recorded = self._recording.find(rejected_key(exchange.key))
        data: str | bytes
        if recorded is not None:
            exchange.replay(recorded.latency_ms, recorded.created)
            data = recorded.body
            if not recorded.answered:
                exchange.fail(Usage())
                error = json.loads(data).get("error")
                raise LLMError(str(error.get("message")) if isinstance(error, Mapping) else data)
        elif self._recording.mode == "replay":
            raise InputError(
                f"llm.cache=replay: no recorded answer of {body.get('model')} to request "
                f"{exchange.key[:12]} in {self._recording.path}; import the run's bundle "
                "(python -m eval.cache import BUNDLE), or set llm.cache=auto"
            )
        else:
            data = self._send(path, body, exchange)
        answer: Mapping[str, Any] = json.loads(data)
        try:
            exchange.check(answer)
        except LLMError:
            exchange.fail(usage_of(answer) or Usage(calls=1))
            raise
        return answer

    def _send(self, path: str, body: Mapping[str, Any], exchange: Exchange) -> bytes:
        import httpx2  # noqa: PLC0415 - half a second that a replayed run does not need
        import openai  # noqa: PLC0415

        from memsys.llm.transport import explain, status_to_keep  # noqa: PLC0415

        client = self._client()
        token = EXCHANGE.set(exchange)
        try:
            reply = client.post(path, cast_to=httpx2.Response, body=dict(body))
        except openai.OpenAIError as error:
            model, status = str(body.get("model")), status_to_keep(error)
            failure = exchange.stopped or explain(
                error, model, self._key_variable, self._timeout_s, exchange.attempts
            )
        else:
            return reply.content
        finally:
            EXCHANGE.reset(token)
        # Outside the handler, or the error would refer to the request and its headers.
        if isinstance(failure, LLMError) and status is not None:
            exchange.fail(Usage())
            if self._recording.mode != "off":  # for replays only
                text = json.dumps({"error": {"message": str(failure)}}, ensure_ascii=False)
                now = datetime.now(UTC).isoformat(timespec="seconds")
                to = self._path + path
                self._recording.keep_failed(
                    RecordedAnswer(exchange.key, to, model, status, text, 0.0, None, None, now)
                )
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
