"""What a memory is made of, and the settings of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memsys.context.writers import ContextWriter, Flat
from memsys.core.declared import Count, Weight, check_fields
from memsys.core.errors import InputError
from memsys.embed.base import Embedder
from memsys.graph.build import GraphSettings
from memsys.index.rank import IndexSettings
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_writer import Compare, UpdateSettings
from memsys.knowledge.facts.procedure import ProcedureSettings
from memsys.knowledge.memory.base import MemoryBuilder
from memsys.knowledge.relations.find import RelationSettings
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.written_graph import WrittenByModel
from memsys.llm.base import LLM
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWeights:
    """Weights of the terms of a score: relevance, access frequency (log-scaled, cap 100), recency
    exp(-decay * days since the last access, or since the memory's time) and importance. Each term
    is 0 to 1, except relevance: a cosine may be negative, and auto has no upper end.
    Only the `pool` most relevant are weighted.

    The formulas are those of strategy=graph_score without its graph (memsys.graph.score).
    """

    relevance: Weight = 1.0
    access: Weight = 0.0
    recency: Weight = 0.0
    importance: Weight = 0.0
    decay_per_day: Weight = 0.01
    pool: Count = 50

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        check_fields(self, "weights")

    @property
    def plain(self) -> bool:
        """Whether relevance is the only term."""
        return not (self.access or self.recency or self.importance)


@dataclass(frozen=True, kw_only=True)
class SummarySettings:
    """Settings of the summary. `background`: `add` returns before the summary is refreshed, and the
    owner's next `add` waits for it. `searchable`: the summary is a memory of the owner, of the kind
    "summary", which is replaced at each refresh.
    """

    background: bool = False
    searchable: bool = False

    def __post_init__(self) -> None:
        """Raises InputError on a value that is not true or false."""
        check_fields(self, "summary")


@dataclass(frozen=True, slots=True)
class RelationSetup:
    """How a model writes relations, and how they are found. `compare`: new ones with all that match
    the ids given, or only with those of exactly these ids. `max_share`: see link_memories; None if
    the relations are found beside memories, which they do not link. `store`: None for a file in the
    memory's folder.
    """

    llm: LLM
    index: IndexSettings
    graph: RelationGraphSettings
    search: RelationSettings
    compare: Compare = "filter"
    max_share: float | None = None
    store: RelationStore | None = None


@dataclass(frozen=True, slots=True)
class StrategySetup:
    """A strategy's class with its settings, and the parts that it needs besides those of every
    memory. `graph`: None if relations link the memories, or if none is used. `where`: the
    configuration's name for error messages.
    """

    make: partial[Strategy]
    graph: GraphSettings | WrittenByModel | None
    where: str

    def open(self, parts: Parts, k: int) -> Strategy:
        """Return the strategy for `k` results, or as many as it reserves for an expansion; its pool
        is at least as large. It has no budget, which is that of a context. Raises InputError if a
        setting is missing or cannot be used.
        """
        settings = self.make.keywords
        own: dict[str, Any] = {"budget": None} if "budget" in settings else {}
        if "k" in settings:
            own["k"] = k = max(k, settings.get("expansion", {}).get("reserved", 0))
        if "pool" in settings:
            own["pool"] = max(settings["pool"], k)
        try:
            return self.make(parts=parts, **own)
        except TypeError as error:
            raise InputError(
                f"{self.where}: strategy: {error}; name an option of conf/strategy, or give all of "
                "its settings"
            ) from error


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts of a memory. `strategy`: None for a ranking by the index of vectors, which follows
    each change. `vectors`: None for an index in this process's memory, rebuilt from the folder;
    `facts` and `update`: how a model writes facts; `relations`: how it writes relations, None if it
    writes none. `context` and `budget`: layout and most o200k tokens of a context, None for any
    number. `infer`: the default of `add`. `calls`: the servers that receive texts, each with the
    variable of its key.
    """

    embedder: Embedder
    index: IndexSettings
    builder: MemoryBuilder
    facts: ExtractSettings
    update: UpdateSettings
    strategy: StrategySetup | None = None
    context: ContextWriter = field(default_factory=lambda: Flat("flat"))
    budget: int | None = 2048
    k: int = 10
    llm: LLM | None = None
    infer: bool = False
    relations: RelationSetup | None = None
    vectors: VectorStore | None = None
    weights: SearchWeights = field(default_factory=SearchWeights)
    summary: SummarySettings = field(default_factory=SummarySettings)
    procedure: ProcedureSettings = field(default_factory=ProcedureSettings)
    calls: tuple[str, ...] = ()
