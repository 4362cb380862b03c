"""A client of a memory service with the interface of `python -m eval serve`, and the conversion
of turns to requests and of search results to candidates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

from memsys.core.addresses import check_address, check_variable, json_without_secrets
from memsys.core.errors import InputError, check_timeout
from memsys.core.json_text import parse_json
from memsys.core.turns import line
from memsys.core.types import Candidate, Memory, Turn

if TYPE_CHECKING:
    from memsys.llm.network import Network

_REPLY_MOST = 64 * 2**20  # bytes of an answer, unpacked


class ServiceError(Exception):
    """The service answered one request with an error, or not at all."""


class Client:
    """Sends requests to one service over one connection, opened by the first request."""

    # Addresses that have answered this process; if one fails later, the input is not at fault.
    _reached: ClassVar[set[str]] = set()

    def __init__(self, url: str, key_variable: str, timeout_s: float) -> None:
        """`key_variable`: environment variable of the key, which is sent as a bearer token and
        never logged. `timeout_s`: time limit of one request, to the last byte of its answer.
        Raises InputError on an invalid argument.
        """
        check_address(url, "strategy.url")
        check_variable(key_variable, "strategy.key_variable")
        check_timeout("strategy.timeout_s", timeout_s)
        self.url, self._key_variable, self._timeout_s = url.rstrip("/"), key_variable, timeout_s
        self._network: Network | None = None

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> list[Any]:
        """Send a request and return the `results` of the answer. Raises ServiceError with the
        status; InputError if the address has never answered, or the key is refused.
        """
        import httpx2  # noqa: PLC0415 - half a second to import

        from memsys.llm.network import AnswerTooLarge, Network  # noqa: PLC0415 - imports httpx2

        if self._network is None:
            self._network = Network()
        key = os.environ.get(self._key_variable)
        request = httpx2.Request(
            method,
            self.url + path,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            json=body,
        )
        try:
            status, _, data = self._network.send(request, self._timeout_s, _REPLY_MOST)
        except AnswerTooLarge as error:
            raise ServiceError(f"{method} {path}: the answer is {error}") from None
        except httpx2.TransportError as error:
            if self.url in self._reached or not isinstance(error, httpx2.ConnectError):
                raise ServiceError(f"{method} {path}: {type(error).__name__}") from None
            raise InputError(
                f"strategy.url={self.url}: nobody answers there; start a service, such as "
                "python -m eval serve, or name another address"
            ) from None
        self._reached.add(self.url)
        if status == HTTPStatus.UNAUTHORIZED:
            raise InputError(
                f"strategy.url={self.url}: refuses the key; put it into the environment variable "
                f"{self._key_variable}, or name another by strategy.key_variable"
            )
        if not 200 <= status < 300:
            raise ServiceError(f"{method} {path}: {status} {_message(data)}".rstrip())
        try:
            # A service may repeat the key, in escapes too: removed before anything is recorded.
            rows = json_without_secrets(parse_json(data)).get("results", [])
        except (ValueError, AttributeError) as error:
            raise ServiceError(f"{method} {path}: the answer is not a JSON object") from error
        if not isinstance(rows, list):
            raise ServiceError(f"{method} {path}: `results` is not a list")
        return rows

    def close(self) -> None:
        """Close the connection."""
        if self._network is not None:
            self._network.close()


def as_post(turns: Sequence[Turn], time: datetime) -> dict[str, Any]:
    """Return `turns` said at `time` as the body of an add, without its owner. Each message has the
    role user and the speaker's name; the metadata repeat turns, speakers and time, for services
    that store nothing else.
    """
    at = f"{time.isoformat()}Z"
    ids, speakers = [one.id for one in turns], [one.speaker for one in turns]
    texts = [line(one).removeprefix(f"{one.speaker}: ") for one in turns]  # with image captions
    messages = [
        {"role": "user", "name": one.speaker, "id": one.id, "content": text or " "}
        for one, text in zip(turns, texts, strict=True)
    ]
    metadata = {"turns": ids, "speakers": speakers, "time": at}
    return {"messages": messages, "metadata": metadata, "time": at}


def as_candidate(row: Mapping[str, Any], asked: datetime) -> Candidate:
    """Return one of the `results` of a search as a candidate; missing fields are taken from its
    metadata, and a missing time is `asked`, that of the query. Raises KeyError, ValueError or
    TypeError on an invalid row.
    """
    values = {**(row.get("metadata") or {}), **row}
    time = values.get("time")
    said = datetime.fromisoformat(time).replace(tzinfo=None) if time else asked
    text, turns = str(row["memory"]), turns_of(row)
    speaker, title = (str(values.get(name) or "") for name in ("speaker", "title"))
    memory = Memory(str(row["id"]), text, text, said, speaker, turns, title=title)
    return Candidate(memory, float(row.get("score") or 0.0))


def turns_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the turns of a row, its own or those in its metadata; may be empty."""
    values = {**(row.get("metadata") or {}), **row}
    return tuple(map(str, values.get("turns") or ()))


def _message(data: bytes) -> str:
    try:
        return str(json_without_secrets(parse_json(data))["error"]["message"])[:200]
    except (ValueError, TypeError, KeyError):
        return ""
