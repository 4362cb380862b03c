"""A memory server that speaks the Model Context Protocol, as a strategy."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

from tqdm import tqdm

from baselines.mcp.admission import admit, server_of
from baselines.mcp.connection import Address
from baselines.mcp.session import OwnerMemory
from memsys.core.declared import Count, check_values
from memsys.core.types import Candidate, Query, Retrieval, Session
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy


class Mcp(Strategy):
    """The k results of the server's search, in its order. It stores the memories that the option
    `memory` of the run builds, one call each.
    """

    def __init__(self, parts: Parts, k: Count, budget: Count | None, **settings: Any) -> None:
        """`settings`: see `server_of`. Nothing is started before the first session. Raises
        InputError on a wrong setting, or without the client library.
        """
        check_values(Mcp, locals(), "strategy")
        super().__init__(parts, k, budget)
        self._k, self._server = k, server_of(**settings)
        self._stack = ExitStack()
        self._memory: OwnerMemory | None = None
        self.details: dict[str, Any] = {}

    def ingest(self, session: Session) -> int:
        """Return the number of memories added. Raises LibraryError if the server fails; InputError
        if it is not admitted.
        """
        memory = self._memory or self._open()
        added = 0
        try:
            for unit in self.parts.memory.build(session):
                added += memory.add(unit)
        finally:
            self._log(memory)
        return added

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy; the store of this process is empty. Raises LibraryError."""
        ranked, trace = self.rank(query)
        return self.retrieval(ranked[: self._k], trace)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank as the server does; the trace is the cost of the call."""
        if self._memory is None:
            return (), {}
        _take_costs(self._memory)
        candidates = self._memory.search(query.text, self._k)
        return candidates, {"mcp": _take_costs(self._memory)}

    def forget(self, turns: Sequence[str]) -> int | None:
        """Delete through the server's tool; None if it has none, or names no memories."""
        if self._memory is None:
            return None
        try:
            return self._memory.forget(turns)
        finally:
            self._log(self._memory)

    def size(self) -> Mapping[str, int]:
        """Return the number of memories that the server was given and has not deleted."""
        return {"memories": len(self._memory.stored.memories)} if self._memory else {}

    def close(self) -> None:
        """End the session, and the server if it was started here, and remove its folder. What was
        stored at an address is deleted, as far as the server can.
        """
        memory, self._memory = self._memory, None
        with self._stack:
            if memory is not None and isinstance(self._server.at, Address):
                memory.clear()

    def _log(self, memory: OwnerMemory) -> None:
        costs = _take_costs(memory).items()
        self.events += [{"step": "mcp", "tool": name, **cost} for name, cost in costs]

    def _open(self) -> OwnerMemory:
        admission = admit(self._server, lambda line: tqdm.write(line, file=sys.stderr))
        self.details = admission.as_json()
        connection = self._stack.enter_context(self._server.connected())
        owner = f"memsys-{uuid4().hex}"
        self._memory = OwnerMemory(
            connection, admission.chosen, owner, admission.nothing, self._server.settle_s
        )
        if isinstance(self._server.at, Address):
            self.events.append({"step": "mcp", "owner": owner})
        return self._memory


def _take_costs(memory: OwnerMemory) -> dict[str, dict[str, float]]:
    """Return the costs by tool, and empty them."""
    costs = {
        name: {part: round(number, 3) for part, number in cost.items()}
        for name, cost in memory.costs.items()
    }
    memory.costs.clear()
    return costs
