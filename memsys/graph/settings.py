"""The numbers by which a graph is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """How the rules link memories.

    `max_entities`: the rarest entities kept of a memory. `max_share`: an entity in more than this
    share of the memories links nothing worth following and is dropped. `keyword_weight` and
    `name_weight`: what a single common word and a name or quoted phrase weigh beside a phrase.
    `store`: networkx, or csr for large stores (memsys/graph/csr.py).
    """

    max_entities: int
    max_share: float
    keyword_weight: float
    name_weight: float
    store: Literal["networkx", "csr"] = "networkx"

    def __post_init__(self) -> None:
        """Raises InputError on a value outside its range."""
        if self.store not in ("networkx", "csr"):
            raise InputError(f"graph.store: {self.store!r} is none of networkx, csr")
        if self.max_entities < 1:
            raise InputError(f"graph.max_entities: {self.max_entities}; use 1 or more")
        for name in ("max_share", "keyword_weight", "name_weight"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"graph.{name}: {getattr(self, name)} is not in (0, 1]")
