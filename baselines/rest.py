"""A memory service over HTTP, with the interface of `python -m memsys.serve` (docs/memory-api.md).

Evidence is what a result tells in `turns`; else what was put into the metadata of its post, so that
a service that keeps only those is credited by the post: post its turns one by one (`batch` 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from memsys.errors import InputError
from memsys.service.rest.client import Client, ServiceError
from memsys.service.rest.wire import as_candidate, as_post
from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.types import Candidate, Query, Retrieval, Session


class Rest(Strategy):
    """Posts what is said under an owner of its own, searches there, and deletes it in the end."""

    def __init__(
        self,
        parts: Parts,
        k: int,
        budget: int | None,
        infer: bool | None,
        batch: int | None,
        **to: Any,
    ) -> None:
        """`infer`: whether the service's model writes facts (null: as it likes). `batch`: turns a
        post (null: a session's). `to`: see Client. Raises InputError on a wrong value.
        """
        super().__init__(parts, k, budget)
        if batch is not None and (not isinstance(batch, int) or batch < 1):
            raise InputError(f"strategy.batch: {batch!r}; use 1 or more, or null")
        self._client, self._infer, self._batch = Client(**to), infer, batch
        self._owner, self._held, self._told = f"memsys-{uuid4().hex}", 0, False
        self.details = {"url": self._client.url, "infer": infer, "batch": batch}

    def ingest(self, session: Session) -> int:
        """Returns by how many the memories grew. Raises as Client.ask."""
        before, step = self._held, self._batch or max(len(session.turns), 1)
        for start in range(0, len(session.turns), step):
            body = as_post(session.turns[start : start + step], session.time)
            given = {} if self._infer is None else {"infer": self._infer}
            self._told = True
            rows = self._client.ask("POST", "/memories", body | given | {"user_id": self._owner})
            events = [row.get("event", "ADD") for row in rows]
            self._held += events.count("ADD") - events.count("DELETE")
        return self._held - before

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Score: the service's own. Raises as Client.ask."""
        body = {"query": query.text, "user_id": self._owner, "top_k": self.k}
        rows = self._client.ask("POST", "/search", body)
        return [as_candidate(row, query.time) for row in rows], {}

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy: the memories are elsewhere."""
        ranked, trace = self.rank(query)
        return self.retrieval(ranked[: self.k], trace)

    def size(self) -> Mapping[str, int]:
        """Memories, as the service's answers tell."""
        return {"memories": self._held}

    def close(self) -> None:
        """Delete what was posted, as far as the service can be reached."""
        if self._told:
            with suppress(ServiceError, InputError):
                self._client.ask("DELETE", f"/memories?user_id={self._owner}")
        self._client.close()
