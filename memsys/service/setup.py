"""The configuration of a memory: that of a benchmarked run, or of a file with the same groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from memsys.context.writers import ContextWriter, Flat
from memsys.core.errors import InputError, check_number, check_whole
from memsys.core.trusted import addresses, check_addresses, check_config
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import IndexSettings, Start
from memsys.knowledge.facts.extract import ExtractSettings, for_roles
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.facts.procedure import ProcedureSettings
from memsys.knowledge.memory.base import MemoryBuilder, WrittenByModel
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.relations.find import RelationSettings
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.llm.base import LLM, instructed
from memsys.service.configuration import (
    OPTIONS,
    SETTINGS,
    Groups,
    Source,
    composed,
    read,
    section,
)
from memsys.service.database import MemoryDatabase
from memsys.service.ranking import Ranker, SearchWeights
from memsys.service.relations import RelationMemory, RelationSetup
from memsys.service.strategy_ranking import StrategyRanker, StrategySetup
from memsys.service.summaries import SummarySettings
from memsys.service.vector_sync import VectorSync
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.vectors import VectorStore
from memsys.strategies.plain import FullContext
from memsys.strategies.store import Parts

_ALL = 10**9  # memories: full_context has no k


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts of a memory. `start`: the ranking by vectors, words or both, unless `strategy`
    ranks. `vectors`: None for an index in this process's memory, rebuilt from the folder; `facts`
    and `update`: how a model writes facts; `relations`: how it writes relations, None if it writes
    none. `context` and `budget`: layout and most o200k tokens of a context, None for any number.
    `infer`: the default of `add`. `calls`: the servers that receive texts, each with the variable
    of its key.
    """

    embedder: Embedder
    index: IndexSettings
    builder: MemoryBuilder
    facts: ExtractSettings
    update: UpdateSettings
    start: Start = "vector"
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

    def ranker(
        self,
        database: MemoryDatabase,
        vectors: VectorSync,
        embedder: CachedEmbedder,
        lock: RLock,
        relations: RelationMemory,
    ) -> Ranker:
        """Return the ranker of stored memories. Raises InputError if a setting of the strategy
        cannot be used.
        """
        by_strategy = None
        if self.strategy is not None:
            linking = relations if self.strategy.graph is None else None
            by_strategy = StrategyRanker(
                self.strategy,
                Parts(
                    memory=self.builder,
                    embedder=embedder,
                    context=self.context,
                    index=self.index,
                    graph=self.strategy.graph or relations.linking([]),
                    llm=self.llm,
                ),
                database,
                lock,
                self.k,
                linking,
            )
        settings = self.index, self.start, self.weights
        return Ranker(database, vectors, *settings, lock, by_strategy)


def load_setup(source: Source | None) -> Setup:
    """Return the setup of a run (see find_run), of a YAML file or mapping with groups as in conf/
    (an option's name, or its settings), or of the defaults (None, unless MEMSYS_CONFIG names one).

    It may come from anybody: see memsys.core.trusted for the classes and addresses that it may
    name. Raises InputError if it cannot be used, or if a store of memories cannot rank like the
    run's strategy.
    """
    where, settings, foreign = read(source)
    groups = Groups.of({k: v for k, v in settings.items() if k not in SETTINGS}, where)
    links = groups.kind.uses_graph and groups.config["graph"].get("relation_store") is not None
    groups = _with_relation_store(groups, links)
    built = {name: group for name, group in groups.config.items() if name in OPTIONS}
    strategy = built.pop("strategy")
    for name, group in built.items():
        check_config(group, name, where)
    if foreign:
        _check_foreign(built, where)
    llm = groups.llm()
    if not foreign:  # somebody else's run gives no instructions
        llm = instructed(llm, settings.get("instructions"))
    kind, relations = groups.kind, None
    try:
        facts, update = _writing(groups, settings)
        if kind.writes_relations or links:
            relations = _relations(groups, links, llm, update)
        setup = Setup(
            embedder=groups.embedder(),
            index=groups.build("index"),
            builder=_builder(groups),
            start=kind.start or "vector",
            strategy=None if kind.start else ranked_by(groups, links),
            context=groups.build("context"),
            budget=groups.budget,
            k=check_whole(f"{where}: k", _ALL if kind is FullContext else groups.k),
            llm=llm,
            infer=llm is not None and kind.writes_memory and strategy.get("infer", True),
            facts=facts,
            update=update,
            relations=relations,
            vectors=groups.store("vector_store", FaissVectors),
            weights=section(SearchWeights, "weights", settings, {}, where),
            summary=section(SummarySettings, "summary", settings, {}, where),
            procedure=section(ProcedureSettings, "procedure", settings, {}, where),
            calls=tuple(
                f"{place}: {server}" + (f", with the key in {key}" if key else "")
                for place, server, key in addresses(built)
            ),
        )
    except KeyError as error:
        raise InputError(
            f"{where}: strategy: {error} is missing; name an option of conf/strategy, or give all "
            "of its settings"
        ) from error
    except TypeError as error:
        raise InputError(f"{where}: {error}") from error
    _check_same_reply(setup, where)
    _ = setup.facts.prompts, setup.update.loaded, setup.procedure.loaded  # shows a wrong one now
    return setup


def ranked_by(groups: Groups, links: bool = False) -> StrategySetup:
    """Return the strategy of `groups` with the parts that it alone needs. `links`: relations link
    the memories, in place of a graph.
    """
    check_config(groups.strategy, "strategy", groups.where)
    return StrategySetup(
        make=groups.build("strategy", _partial_=True),
        graph=None if links else groups.build("graph"),
        where=groups.where,
    )


def _with_relation_store(groups: Groups, links: bool) -> Groups:
    """Return `groups` with the store of relations that is used as their relation_store, if any:
    that of the strategy, that of the graph if its relations link memories (`links`), or the
    group's own.
    """
    config = dict(groups.config)
    graph = config["graph"] = dict(config["graph"])
    store, own = graph.pop("relation_store", None), config.pop("relation_store")
    if groups.kind.writes_relations:
        store = groups.strategy.get("store") or own
    if groups.kind.writes_relations or links:
        config["relation_store"] = store
    return replace(groups, config=config)


def _check_foreign(built: Mapping[str, Any], where: str) -> None:
    """Raise InputError if `built` names a server that is not trusted, or a file."""
    check_addresses(built, where)
    files = ("vector_store", "path"), ("relation_store", "path"), ("index", "fusion")
    for name, setting in files:
        if path := built.get(name, {}).get(setting):
            raise InputError(
                f"{where}: {name}.{setting}: {path!r:.80}: a file outside of the run; name it in "
                "a YAML file of your own"
            )


def _builder(groups: Groups) -> MemoryBuilder:
    """Return the memory option. Raises InputError if it cannot build memories of messages."""
    builder = groups.build("memory")
    if isinstance(builder, Observations | WrittenByModel) or builder.goes_on:
        raise InputError(
            f"{groups.where}: memory={builder.name}: messages are stored verbatim (turns, windows),"
            " or as facts that a model maintains (strategy=mem0)"
        )
    return builder  # type: ignore[no-any-return]


def _writing(groups: Groups, settings: Mapping[str, Any]) -> tuple[ExtractSettings, UpdateSettings]:
    """Return how a model writes facts: as in the strategy, else as in mem0, changed by `settings`.
    Raises InputError if the strategy lacks a setting.
    """
    where = groups.where
    strategy = groups.strategy
    if not groups.kind.writes_memory:
        strategy = composed({"strategy": "mem0"}, where)["strategy"]
    for name in ("facts", "update"):
        if not isinstance(strategy.get(name), Mapping):
            raise InputError(
                f"{where}: strategy.{name} is missing; name an option of conf/strategy, or give "
                "all of its settings"
            )
    facts = section(ExtractSettings, "facts", settings, strategy["facts"], where)
    update = section(UpdateSettings, "update", settings, strategy["update"], where)
    return for_roles(facts), update


def _relations(
    groups: Groups, links: bool, llm: LLM | None, update: UpdateSettings
) -> RelationSetup:
    """Return how relations are written and found, or link memories (`links`). Raises KeyError on a
    missing setting, InputError without a model.
    """
    where = groups.where
    if llm is None:
        raise InputError(f"{where}: no model to write relations with; set llm= (openai, local)")
    strategy, share = groups.strategy, None
    if links:
        written = groups.config["graph"]
        graph = {n: v for n, v in written.items() if n not in ("_target_", "name")}
        share = graph.pop("max_share")
        check_number(f"{where}: graph.max_share", share, 0, 1)
        search = composed({"strategy": "mem0_graph"}, where)["strategy"]["relations"]
        strategy = {"graph": {**graph, "place": "graph"}, "relations": search}
    return RelationSetup(
        llm=llm,
        index=groups.build("index"),
        graph=RelationGraphSettings(**strategy["graph"]),
        search=RelationSettings(**strategy["relations"]),
        compare=update.compare,
        max_share=share,
        store=groups.store("relation_store", NetworkxRelations),
    )


def _check_same_reply(setup: Setup, where: str) -> None:
    """Raises InputError if relations should come with the facts, and cannot."""
    facts, relations = setup.facts, setup.relations
    if facts.relations != "same_reply":
        return
    if relations is None:
        raise InputError(
            f"{where}: {facts.place}.relations: same_reply: no relations are stored here; use "
            "strategy=mem0_graph, graph=relations, or separate"
        )
    if facts.exchange != relations.graph.exchange:
        raise InputError(
            f"{where}: {facts.place}.exchange: {facts.exchange}; with same_reply, use the "
            f"{relations.graph.exchange} of {relations.graph.place}.exchange"
        )
