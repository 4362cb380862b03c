"""A memory service over HTTP, with the interface of `python -m eval serve` (docs/memory-api.md).

The evidence of a result is its `turns`, or else the turn ids in the metadata of its post. A service
that returns only metadata is therefore credited per post: post turns one by one (`batch` 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from memsys.core.declared import Count, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query, Retrieval, Session
from memsys.service.rest.client import Client, ServiceError, as_candidate, as_post, turns_of
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

_PAGE = 100  # rows per request of a list


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
