"""Settings of the rule-based graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """Settings of the rules that link memories.

    `max_entities`: number of entities per memory, rarest first. `max_share`: an entity in more than
    this share of the memories is too common to link and is dropped. `keyword_weight` and
    `name_weight`: weight of a single common word, and of a name or quoted phrase; a phrase has 1.
    `store`: networkx, or csr for large stores (memsys/graph/csr.py).
    """

    max_entities: int
    max_share: float
    keyword_weight: float
    name_weight: float
    store: Literal["networkx", "csr"] = "networkx"

    def __post_init__(self) -> None:
        """Raise InputError on a value outside its range."""
        if self.store not in ("networkx", "csr"):
            raise InputError(f"graph.store: {self.store!r} is none of networkx, csr")
        if self.max_entities < 1:
            raise InputError(f"graph.max_entities: {self.max_entities}; use 1 or more")
        for name in ("max_share", "keyword_weight", "name_weight"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"graph.{name}: {getattr(self, name)} is not in (0, 1]")
