"""What a memory is made of: its parts and their settings, from the configuration of a benchmarked
run, or of a file with the same groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

from memsys.context.writers import ContextWriter, Flat
from memsys.core.declared import Count, Weight
from memsys.core.errors import InputError, check_choice, check_number, check_whole
from memsys.core.trusted import addresses, check_addresses, check_config
from memsys.core.types import Candidate, Query
from memsys.embed.base import Embedder
from memsys.graph.build import GraphSettings
from memsys.index.rank import IndexSettings, Start
from memsys.knowledge.facts.extract import ExtractSettings, for_roles
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.facts.procedure import ProcedureSettings
from memsys.knowledge.memory.base import MemoriesByModel, MemoryBuilder
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.relations.find import RelationSettings
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.written_graph import WrittenByModel
from memsys.llm.base import LLM, instructed, needed_model
from memsys.service.configuration import Groups, composed
from memsys.service.configuration_source import OPTIONS, Source, read
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore
from memsys.strategies.plain import FullContext
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

_ALL = 10**9  # memories: full_context has no k
_FILES = ("vector_store", "path"), ("relation_store", "path"), ("index", "fusion")  # of others


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


@dataclass(frozen=True, slots=True)
class RelationSetup:
    """How the model writes relations, and how they are found. `max_share`: see link_memories; None
    if the relations are found beside memories, which they do not link. `store`: None for a file in
    the memory's folder.
    """

    graph: RelationGraphSettings
    search: RelationSettings
    max_share: float | None = None
    store: RelationStore | None = None


@dataclass(frozen=True, slots=True)
class StrategySetup:
    """A strategy's class with its settings, and the parts that it needs besides those of every
    memory. `graph`: None if relations link the memories, or if none is used. `where`: the
    configuration's name for error messages.
    """

    make: partial[Any]
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
            return self.make(parts=parts, **own)  # type: ignore[no-any-return]
        except TypeError as error:
            raise InputError(
                f"{self.where}: strategy: {error}; name an option of conf/strategy, or give all of "
                "its settings"
            ) from error


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts of a memory. `strategy`: None for a ranking by the index of vectors, which follows
    each change. `vectors`: None for an index in this process's memory, rebuilt from the folder;
    `facts` and `update`: how a model writes facts, and what new ones, or relations, are compared
    with; `relations`: how it writes relations, None if it writes none. `context` and `budget`:
    layout and most o200k tokens of a context, None for any number. `infer`: the default of `add`.
    `calls`: the servers that receive texts, each with the variable of its key.
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


class Relevance(Strategy):
    """The order of `start`, with scores of 0 to 1."""

    def __init__(self, parts: Parts, k: int | None, start: Start) -> None:
        """Raises InputError on an unknown start."""
        check_choice("strategy.start", start, get_args(Start))
        super().__init__(parts, k)
        self._by = start

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by words, or words and vectors."""
        return self.best(self.store.relevance(query.text, self._by)), {}


def load_setup(source: Source | None) -> Setup:
    """Return the setup of a run (see find_run), of a YAML file or mapping with groups as in conf/
    (an option's name, or its settings), or of the defaults (None, unless MEMSYS_CONFIG names one).

    It may come from anybody: see memsys.core.trusted for the classes and addresses that it may
    name. Raises InputError if it cannot be used, or if a store of memories cannot rank like the
    run's strategy.
    """
    where, given, foreign = read(source)
    groups = Groups.of(given, where).with_relation_store()
    called = _check_built(groups, foreign)
    kind, strategy, section = groups.kind, groups.strategy, groups.section
    ranked, start = None, kind.start
    if start != "vector":
        ranked = ranked_by(groups, graph=start is None and not groups.links)
        if start is not None:  # scores of 0 to 1, as a plain store gives
            ranked = replace(ranked, make=partial(Relevance, k=None, start=start))
    builder = groups.build("memory")
    if isinstance(builder, Observations | MemoriesByModel) or builder.goes_on:
        raise InputError(
            f"{where}: memory={builder.name}: messages are stored verbatim (turns, windows), or as "
            "facts that a model maintains (strategy=mem0)"
        )
    llm = instructed(groups.llm(), groups.settings.get("instructions"))
    writing = strategy if kind.writes_memory else composed({"strategy": "mem0"}, where)["strategy"]
    facts = for_roles(section(ExtractSettings, "facts", writing.get("facts")))
    update = section(UpdateSettings, "update", writing.get("update"))
    procedure = section(ProcedureSettings, "procedure")
    relations = _relations(groups, llm)
    exchange = relations.graph.exchange if relations else None
    if facts.relations == "same_reply" and facts.exchange != exchange:
        raise InputError(
            f"{where}: {facts.place}.relations: same_reply: needs strategy=mem0_graph or "
            "graph=relations, with the same exchange for both; or use separate"
        )
    budget = strategy.get("budget", groups.config["budget"])
    if budget is not None:
        check_whole(f"{where}: budget", budget)
    _ = facts.prompts, update.loaded, procedure.loaded  # shows a wrong one now
    return Setup(
        embedder=groups.embedder(),
        index=groups.build("index"),
        builder=builder,
        strategy=ranked,
        context=groups.build("context"),
        budget=budget,
        k=_ALL if kind is FullContext else groups.k,
        llm=llm,
        infer=llm is not None and kind.writes_memory and strategy.get("infer", True),
        facts=facts,
        update=update,
        relations=relations,
        vectors=groups.store("vector_store", FaissVectors),
        weights=section(SearchWeights, "weights"),
        summary=section(SummarySettings, "summary"),
        procedure=procedure,
        calls=called,
    )


def ranked_by(groups: Groups, graph: bool = True) -> StrategySetup:
    """Return the strategy of `groups` with the parts that it alone needs. `graph`: whether the one
    of `groups` is such a part.
    """
    check_config(groups.strategy, "strategy", groups.where)
    return StrategySetup(
        make=groups.build("strategy", _partial_=True),
        graph=groups.build("graph") if graph else None,
        where=groups.where,
    )


def _check_built(groups: Groups, foreign: bool) -> tuple[str, ...]:
    """Return the servers that `groups` calls. Raises InputError on a class that is not trusted; if
    they are `foreign`, those of somebody else's run, also on a server that is not, or on a file.
    """
    where = groups.where
    built = {n: group for n, group in groups.config.items() if n in OPTIONS and n != "strategy"}
    for name, group in built.items():
        check_config(group, name, where)
    if foreign:
        check_addresses(built, where)
    for name, setting in _FILES if foreign else ():
        if path := built.get(name, {}).get(setting):
            raise InputError(
                f"{where}: {name}.{setting}: {path!r:.80}: a file outside of the run; name it in a "
                "YAML file of your own"
            )
    keys = ((f"{place}: {server}", key) for place, server, key in addresses(built))
    return tuple(server + (f", with the key in {key}" if key else "") for server, key in keys)


def _relations(groups: Groups, llm: LLM | None) -> RelationSetup | None:
    """Return how relations are written and found, or link memories; None if they are not written.
    Raises InputError on a missing setting, or without a model.
    """
    strategy, share = groups.strategy, None
    if "relation_store" not in groups.config:
        return None
    needed_model(llm, str(groups.where), "write relations with", "set llm= (openai, local)")
    if groups.links:
        graph = dict(groups.config["graph"])
        share = graph.pop("max_share", None)
        check_number(f"{groups.where}: graph.max_share", share, 0, 1)
        own = {n: v for n, v in graph.items() if n not in ("_target_", "name", "relation_store")}
        search = composed({"strategy": "mem0_graph"}, groups.where)["strategy"]["relations"]
        strategy = {"graph": {**own, "place": "graph"}, "relations": search}
    return RelationSetup(
        graph=groups.section(RelationGraphSettings, "graph", strategy.get("graph")),
        search=groups.section(RelationSettings, "relations", strategy.get("relations")),
        max_share=share,
        store=groups.store("relation_store", NetworkxRelations),
    )
