"""An OpenAI-compatible server behind a recording of its answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Protocol
from urllib.parse import urlsplit

from memsys.core.addresses import check_address, check_key, check_variable
from memsys.core.concurrency import computing
from memsys.core.declared import Count, CountFrom0, Range, Seconds, check_fields
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json
from memsys.core.types import Usage
from memsys.llm.base import LLMError, RequestTooLongError
from memsys.llm.budget import Budget
from memsys.llm.meter import Call, Meter
from memsys.llm.pricing import usage_of
from memsys.llm.recording import RecordedAnswer, Recording, key_of, rejected_key

if TYPE_CHECKING:
    from memsys.llm.transport import Client

_LOCAL_PATH = "/v1"  # of a server on this machine
_DECLINED = (400, 404, 422)  # statuses of servers that do not know a field


class Server(Protocol):
    """A server on this machine, started when the first request has to be sent."""

    def start(self) -> str:
        """Start listening unless already started; return the base URL, whose path is /v1."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """A model on a server, and how it is asked.

    `base_url`: an http(s) address, or a server that is started with the first live call.
    `key_variable`: name of the environment variable with the key. `timeout_s` bounds one attempt,
    `retries` are further attempts, which follow the server's retry-after if there is one.
    `concurrency` and `requests_per_minute` (None: no limit) bound live calls.
    """

    model: str
    base_url: str | Server
    key_variable: str = "OPENAI_API_KEY"
    timeout_s: Seconds = 60
    retries: CountFrom0 = 5
    concurrency: Count = 8
    requests_per_minute: Annotated[float, Range(0.001, 1e9)] | None = None

    def check(self, field: str) -> None:
        """Raise InputError, naming the setting below `field`, on one that cannot be used; the key
        is checked where calls may be live.
        """
        if not hasattr(self.base_url, "start"):
            check_address(self.base_url, f"{field}.base_url")
        model: object = self.model
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            raise InputError(
                f"{field}.model: {model!r:.60}; name the model as the endpoint knows it"
            )
        check_variable(self.key_variable, f"{field}.key_variable")
        check_fields(self, field)


class Declined(Exception):  # noqa: N818 - another form of the request follows
    """The server does not take a request in this form."""


@dataclass(slots=True)
class Exchange:
    """A running call. The caller sets `check`, which returns what the answer says or raises
    LLMError if it is unusable, `sample`, and `probing`: another form of the request follows if the
    server declines this one.

    The rest is the request's `path` and `body`, and the outcome: `value`, what `check` returned;
    `first`, that of a first attempt without the OpenAI client, until it asks for it; `key`, under
    which answer or failure is recorded; `answer` and `row`, a live answer, usable or not, and how
    it is recorded; `latency_ms` of the successful attempt and `waited_ms` before it (queue, rate
    limit, failed attempts and the pauses after them); `recorded`, when a replayed answer was live
    (ISO, UTC); `stopped`, an error that must not be retried; `failed`, the usage of an unusable
    answer, or of no tokens if no answer came.
    """

    check: Callable[[Mapping[str, Any]], object]
    sample: int = 0
    probing: bool = False
    path: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    first: Any = None
    value: Any = None
    key: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)
    row: RecordedAnswer | None = None
    attempts: int = 0
    latency_ms: float = 0.0
    waited_ms: float = 0.0
    recorded: str | None = None
    stopped: Exception | None = None
    failed: Usage | None = None
    started: float = field(default_factory=time.perf_counter)

    @property
    def model(self) -> str:
        """The model that is asked."""
        return str(self.body.get("model"))

    @property
    def spent_ms(self) -> float:
        """Milliseconds since the call began."""
        return (time.perf_counter() - self.started) * 1000

    def read(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `answer`, read into `value`; raises LLMError if it is not usable."""
        try:
            self.value = self.check(answer)
        except LLMError:
            self.fail(usage_of(answer) or Usage(calls=1))
            raise
        return answer

    def fail(self, usage: Usage) -> None:
        """Mark the call as failed; the failure is recorded elsewhere (see rejected_key)."""
        self.key, self.failed = rejected_key(self.key), usage

    def call(self, usage: Usage | None) -> Call:
        """Return the call for the meter; `usage` is None without a usable answer."""
        spent, is_answered = self.spent_ms, usage is not None
        return Call(
            spent_ms=spent,
            live_ms=self.latency_ms if is_answered else 0.0,
            replayed=self.recorded is not None,
            usage=usage or self.failed or Usage(),
            waited_ms=self.waited_ms if is_answered else spent,
            attempts=self.attempts,
            key=self.key if is_answered or self.failed else None,
            recorded=self.recorded if is_answered else None,
            model=self.model,
        )


class Endpoint:
    """Sends `POST {base_url}/...` with retries, limits, a budget and a recording, and adds each
    call to a meter.

    The key is read from the environment and never stored. Nothing is loaded or connected before a
    request that the recording cannot answer. An endpoint is safe for several threads.
    """

    def __init__(
        self,
        settings: ServerSettings,
        recording: Recording,
        meter: Meter,
        budget: Budget | None,
        *,
        option: str,
        most_tokens: int | None,
    ) -> None:
        """`most_tokens`: of an answer, None without a limit. Raises InputError, naming `option`, if
        calls may be live and the key is missing; and if the budget needs a price or a limit of
        tokens that is missing.
        """
        self._settings, self._recording, self._meter = settings, recording, meter
        self._budget, base_url = budget, settings.base_url
        address = urlsplit(base_url if isinstance(base_url, str) else _LOCAL_PATH)
        if recording.mode != "replay":
            if address.hostname:
                check_key(settings.key_variable, address.hostname, option)
            if budget is not None:
                budget.check(settings.model, most_tokens)
        self._path = address.path.rstrip("/")
        self._lock = threading.Lock()
        self._opened: Client | None = None

    def post(self, path: str, body: Mapping[str, Any], exchange: Exchange) -> Mapping[str, Any]:
        """Return the JSON answer to `body`, and fill in `exchange`; `path` starts with a slash. The
        call is metered whether its answer is usable or not.

        Raises LLMError for an answer that fails the check of `exchange`, and without an answer
        after all retries: both are recorded separately, and raised again only in a replay. Raises
        Declined if another form of the request is to follow; InputError for a fault of the
        configuration and, in mode `replay`, for a missing answer; BudgetReached before a call that
        could exceed the budget.
        """
        exchange.path, exchange.body = path, body
        try:
            answer = self._answer(exchange)
        except (LLMError, Declined):
            self._meter.note(exchange.call(None))
            raise
        self._meter.note(exchange.call(usage_of(answer) or Usage(calls=1)))
        return answer

    def is_recorded(self, path: str, body: Mapping[str, Any], sample: int) -> bool:
        """Return whether an answer to `body` is recorded; in mode `replay`, or a failure."""
        key = key_of("POST", self._path + path, body, sample)
        keys = [key, rejected_key(key)] if self._recording.mode == "replay" else [key]
        return any(self._recording.to_replay(digest) is not None for digest in keys)

    def _answer(self, exchange: Exchange) -> Mapping[str, Any]:
        path = self._path + exchange.path
        with computing():
            key = exchange.key = key_of("POST", path, exchange.body, exchange.sample)
            recorded = self._recording.to_replay(key)
            if recorded is None and self._recording.mode == "replay":
                recorded = self._recording.find(rejected_key(key))
            if recorded is not None:
                return self._replayed(recorded, exchange)
        if self._recording.mode == "replay":
            raise InputError(
                f"llm.cache=replay: no recorded answer of {exchange.model} to request "
                f"{key[:12]} in {self._recording.path}; import the run's bundle "
                "(python -m eval cache import BUNDLE), or set llm.cache=auto"
            )
        with self._recording.claim(key):
            recorded = self._recording.to_replay(key)
            if recorded is not None:  # another thread or process was first
                exchange.waited_ms = exchange.spent_ms
                return self._replayed(recorded, exchange)
            return self._live(exchange)

    def _replayed(self, recorded: RecordedAnswer, exchange: Exchange) -> Mapping[str, Any]:
        exchange.latency_ms, exchange.recorded = recorded.latency_ms, recorded.created
        answer = self._json_of(recorded)
        if recorded.answered:
            return exchange.read(answer)
        exchange.fail(Usage())
        failure = answer.get("error")
        raise LLMError(
            str(failure.get("message")) if isinstance(failure, Mapping) else recorded.body
        )

    def _json_of(self, recorded: RecordedAnswer) -> Mapping[str, Any]:
        try:
            answer = parse_json(recorded.body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._recording.damaged(recorded.key, "its body is not a JSON object")
        return answer

    def _live(self, exchange: Exchange) -> Mapping[str, Any]:
        """Send the request, record its answer, and return the one that counts: the first."""
        row, answer, body = self._sent(exchange), exchange.answer, exchange.body
        try:
            exchange.check(answer)
        except LLMError:  # `read` raises it below, or that of an earlier answer
            first = self._recording.keep_failed(row._replace(key=rejected_key(row.key)), body)
        else:
            first = self._recording.keep_first(row, body)
        return exchange.read(answer if first.body == row.body else self._json_of(first))

    def _sent(self, exchange: Exchange) -> RecordedAnswer:
        """Return the row of a live answer; record a failure after all retries, and raise it."""
        from memsys.llm.transport import Client  # noqa: PLC0415 - half a second, not in a replay

        with self._lock:
            if self._opened is None:
                self._opened = Client(self._settings, self._budget)
        failed = self._opened.send(exchange)
        if failed is None:
            assert exchange.row is not None  # noqa: S101 - for the type checker
            return exchange.row
        failure, status = failed
        too_long = isinstance(failure, RequestTooLongError)
        if exchange.probing and status in _DECLINED and not too_long:
            raise Declined
        if isinstance(failure, LLMError) and status is not None:
            exchange.fail(Usage())  # for replays only
            text = json.dumps({"error": {"message": str(failure)}}, ensure_ascii=False)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            to, model = self._path + exchange.path, exchange.model
            row = RecordedAnswer(exchange.key, to, model, status, text, 0.0, None, None, now)
            self._recording.keep_failed(row, exchange.body)
        raise failure
