"""A memory service over HTTP, with the interface of `python -m eval serve` (docs/memory-api.md).

The evidence of a result is its `turns`, or else the turn ids in the metadata of its post. A service
that returns only metadata is therefore credited per post: post turns one by one (`batch` 1).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote
from uuid import uuid4

from memsys.core.addresses import check_address, check_variable, json_without_secrets
from memsys.core.declared import Count, Seconds, check_values
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json
from memsys.core.turns import line
from memsys.core.types import Candidate, Memory, Query, Retrieval, Session, Turn
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

if TYPE_CHECKING:
    from memsys.llm.network import Network

_PAGE = 100  # rows per request of a list
_REPLY_MOST = 64 * 2**20  # bytes of an answer, unpacked


class ServiceError(Exception):
    """The service answered one request with an error, or not at all."""


class Client:
    """Sends requests to one service over one connection, opened by the first request."""

    # Addresses that have answered this process; if one fails later, the input is not at fault.
    _reached: ClassVar[set[str]] = set()

    def __init__(self, url: str, key_variable: str, timeout_s: Seconds) -> None:
        """`key_variable`: environment variable of the key, which is sent as a bearer token and
        never logged. `timeout_s`: time limit of one request, to the last byte of its answer.
        Raises InputError on an invalid argument.
        """
        check_address(url, "strategy.url")
        check_variable(key_variable, "strategy.key_variable")
        check_values(Client, {"timeout_s": timeout_s}, "strategy", later=None)
        self.url, self._key_variable, self._timeout_s = url.rstrip("/"), key_variable, timeout_s
        self._network: Network | None = None

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> list[Any]:
        """Send a request and return the `results` of the answer. Raises ServiceError with the
        status; InputError if the address has never answered, or the key is refused.
        """
        import httpx2  # noqa: PLC0415 - half a second to import

        from memsys.llm.network import AnswerTooLarge, Network, Outgoing  # noqa: PLC0415 - imports httpx2

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
            status, _, data = self._network.send(Outgoing.of(request), self._timeout_s, _REPLY_MOST)
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
        answer: Any = None
        with suppress(ValueError):
            # A service may repeat the key, in escapes too: removed before anything is recorded.
            answer = json_without_secrets(parse_json(data))
        if not 200 <= status < 300:
            message = ""
            with suppress(TypeError, KeyError):
                message = str(answer["error"]["message"])[:200]
            raise ServiceError(f"{method} {path}: {status} {message}".rstrip())
        rows = answer.get("results", []) if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise ServiceError(f"{method} {path}: the answer is not a JSON object with `results`")
        return rows

    def close(self) -> None:
        """Close the connection."""
        if self._network is not None:
            self._network.close()


class Rest(Strategy):
    """Posts messages under a unique owner, searches there, and deletes them at the end."""

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        infer: bool | None,
        batch: Count | None,
        **to: Any,
    ) -> None:
        """`infer`: whether the service's model writes facts (null: its default). `batch`: turns per
        post (null: a session). `to`: see Client. Raises InputError on a wrong value.
        """
        check_values(Rest, locals(), "strategy")
        super().__init__(parts, k, budget)
        self._client, self._infer, self._batch = Client(**to), infer, batch
        self._owner, self._memories, self._posted = f"memsys-{uuid4().hex}", 0, False
        self.details = {"url": self._client.url, "infer": infer, "batch": batch}

    def ingest(self, session: Session) -> int:
        """Return the growth of the number of memories. Raises the same errors as Client.ask."""
        before, step = self._memories, self._batch or max(len(session.turns), 1)
        for start in range(0, len(session.turns), step):
            body = as_post(session.turns[start : start + step], session.time)
            options = {} if self._infer is None else {"infer": self._infer}
            self._posted = True
            rows = self._client.ask("POST", "/memories", body | options | {"user_id": self._owner})
            events = [row.get("event", "ADD") for row in rows]
            self._memories += events.count("ADD") - events.count("DELETE")
        return self._memories - before

    def forget(self, turns: Sequence[str]) -> int | None:
        """Delete the memories that the service lists with one of `turns`, with their history;
        return their number. None if it lists memories, but of no turns. Raises the same errors as
        Client.ask.
        """
        rows: list[Any] = []
        while True:
            path = f"/memories?user_id={self._owner}&limit={_PAGE}&offset={len(rows)}"
            page = self._client.ask("GET", path)
            rows += page
            if len(page) < _PAGE:
                break
        if rows and not any(map(turns_of, rows)):
            return None
        gone = [str(row["id"]) for row in rows if set(turns_of(row)).intersection(turns)]
        for id_ in gone:
            self._client.ask("DELETE", f"/memories/{quote(id_, safe='')}?history=false")
        self._memories -= len(gone)
        return len(gone)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the service's score. Raises the same errors as Client.ask."""
        body = {"query": query.text, "user_id": self._owner, "top_k": self.k}
        rows = self._client.ask("POST", "/search", body)
        return [as_candidate(row, query.time) for row in rows], {}

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy; the store of this process is empty."""
        ranked, trace = self.rank(query)
        return self.retrieval(ranked[: self.k], trace)

    def size(self) -> Mapping[str, int]:
        """Return the number of memories according to the service's answers."""
        return {"memories": self._memories}

    def close(self) -> None:
        """Delete the posted messages if the service can be reached."""
        if self._posted:
            with suppress(ServiceError, InputError):
                self._client.ask("DELETE", f"/memories?user_id={self._owner}")
        self._client.close()


def as_post(turns: Sequence[Turn], time: datetime) -> dict[str, Any]:
    """Return `turns` said at `time` as the body of an add, without its owner. Each message has the
    role user and the speaker's name; the metadata repeat turns, speakers and time, for services
    that store nothing else.
    """
    at = f"{time.isoformat()}Z"
    ids, speakers = [turn.id for turn in turns], [turn.speaker for turn in turns]
    texts = [line(turn).removeprefix(f"{turn.speaker}: ") for turn in turns]  # with image captions
    messages = [
        {"role": "user", "name": turn.speaker, "id": turn.id, "content": text or " "}
        for turn, text in zip(turns, texts, strict=True)
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
    moment = datetime.fromisoformat(time).replace(tzinfo=None) if time else asked
    text, turns = str(row["memory"]), turns_of(row)
    speaker, title = (str(values.get(name) or "") for name in ("speaker", "title"))
    memory = Memory(str(row["id"]), text, text, moment, speaker, turns, title=title)
    return Candidate(memory, float(row.get("score") or 0.0))


def turns_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the turns of a row, its own or those in its metadata; may be empty."""
    values = {**(row.get("metadata") or {}), **row}
    return tuple(map(str, values.get("turns") or ()))
