"""No memory at all: what the reader knows by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memsys.strategy import Strategy
from memsys.types import Candidate, Query, Session


class NoMemory(Strategy):
    """Forgets every session."""

    def ingest(self, session: Session) -> int:  # noqa: ARG002
        """Nothing is remembered."""
        return 0

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:  # noqa: ARG002
        """Nothing is found."""
        return [], {}
