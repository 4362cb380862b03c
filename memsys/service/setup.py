"""The configuration of a memory: that of a benchmarked run, or of a file with the same groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from memsys.core.errors import InputError, check_number, check_whole
from memsys.core.trusted import addresses, check_config, check_references
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.index.rank import IndexSettings, Start
from memsys.knowledge.facts.extract import ExtractSettings, for_roles
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.memory.base import MemoryBuilder, WrittenByModel
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.relations.find import RelationSettings
from memsys.knowledge.relations.relation_graph import RelationGraphSettings
from memsys.llm.base import LLM
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.service.configuration import (
    NUMBERS,
    OPTIONS,
    SETTINGS,
    Source,
    check_foreign,
    composed,
    instantiated,
    read,
    resolved,
    section,
    store_of,
    strategy_class,
    writing_settings,
)
from memsys.service.database import MemoryDatabase
from memsys.service.instructions import instructed
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
    and `update`: how a model writes facts, None without a model; `relations`: how it writes
    relations, None if it writes none. `infer`: the default of `add`. `calls`: the servers that
    receive texts, each with the variable of its key.
    """

    embedder: Embedder
    index: IndexSettings
    builder: MemoryBuilder
    start: Start = "vector"
    strategy: StrategySetup | None = None
    k: int = 10
    llm: LLM | None = None
    infer: bool = False
    facts: ExtractSettings | None = None
    update: UpdateSettings | None = None
    relations: RelationSetup | None = None
    vectors: VectorStore | None = None
    weights: SearchWeights = field(default_factory=SearchWeights)
    summary: SummarySettings = field(default_factory=SummarySettings)
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
                    context=self.strategy.context,
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
    wanted = {**NUMBERS, **OPTIONS, **{k: v for k, v in settings.items() if k not in SETTINGS}}
    config = composed({name: wanted[name] for name in (*NUMBERS, *OPTIONS)}, where)
    check_references(config, where)
    kind = strategy_class(config["strategy"], where)
    config = resolved(config, where)
    strategy = config["strategy"]
    built = {name: config[name] for name in OPTIONS if name != "strategy"}
    # Of graph=relations, which a model writes.
    linking = built["graph"] = {**built["graph"]}
    store = linking.pop("relation_store", None)
    links = store is not None and kind.uses_graph
    if kind.writes_relations:
        store = strategy.get("store") or config["relation_store"]
    if kind.writes_relations or links:
        built["relation_store"] = store
    else:
        del built["relation_store"]
    for name, group in built.items():
        check_config(group, name, where)
    if foreign:
        check_foreign(built, where)
    builder = instantiated(config["memory"], "memory", where)
    if isinstance(builder, Observations | WrittenByModel):
        raise InputError(
            f"{where}: memory={builder.name}: messages are stored verbatim (turns, windows), or as "
            "facts that a model maintains (strategy=mem0)"
        )
    embedder = instantiated(config["embedder"], "embedder", where)
    off = Recording("", "off")  # never record what users say
    if isinstance(embedder, EndpointEmbedder):
        embedder.open(off, Meter())
    model = instantiated(config["llm"], "llm", where)
    if not isinstance(model, ChatSettings | NoModel):
        raise InputError(f"{where}: llm: {type(model).__name__} is no chat model")
    llm: LLM | None = model.open(off, Meter(), None)
    if not foreign:  # somebody else's run gives no instructions
        llm = instructed(llm, settings.get("instructions"))
    writer = strategy if kind.writes_memory else composed({"strategy": "mem0"}, where)["strategy"]
    facts, compared = writing_settings(writer, where)
    k = _ALL if kind is FullContext else strategy.get("k") or config["k"]
    try:
        update = section(UpdateSettings, "update", settings, compared, where)
        setup = Setup(
            embedder=embedder,
            index=instantiated(config["index"], "index", where),
            builder=builder,
            start=kind.start or "vector",
            strategy=None if kind.start else ranked_by(config, links, where),
            k=check_whole(f"{where}: k", k),
            llm=llm,
            infer=llm is not None and kind.writes_memory and strategy.get("infer", True),
            facts=for_roles(section(ExtractSettings, "facts", settings, facts, where)),
            update=update,
            relations=(
                _relations(config, built, links, llm, update, where)
                if kind.writes_relations or links
                else None
            ),
            vectors=store_of(built, "vector_store", FaissVectors, where),
            weights=section(SearchWeights, "weights", settings, {}, where),
            summary=section(SummarySettings, "summary", settings, {}, where),
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
    return setup


def _check_same_reply(setup: Setup, where: str) -> None:
    """Raises InputError if relations should come with the facts, and cannot."""
    facts, relations = setup.facts, setup.relations
    if facts is None or facts.relations != "same_reply":
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


def ranked_by(config: Mapping[str, Any], links: bool, where: str) -> StrategySetup:
    """Return the strategy of `config` with the parts that it alone needs."""
    strategy = config["strategy"]
    check_config(strategy, "strategy", where)
    return StrategySetup(
        make=instantiated({**strategy, "_partial_": True}, "strategy", where),
        graph=None if links else instantiated(config["graph"], "graph", where),
        context=instantiated(config["context"], "context", where),
        where=where,
    )


def _relations(
    config: Mapping[str, Any],
    built: Mapping[str, Any],
    links: bool,
    llm: LLM | None,
    update: UpdateSettings,
    where: str,
) -> RelationSetup:
    """Return how relations are written and found, or link memories (`links`). Raises KeyError on a
    missing setting, InputError without a model.
    """
    if llm is None:
        raise InputError(f"{where}: no model to write relations with; set llm= (openai, local)")
    strategy = composed({"strategy": "mem0_graph"}, where) if links else config
    graph, share = strategy["strategy"]["graph"], None
    if links:
        written = {n: v for n, v in built["graph"].items() if n not in ("_target_", "name")}
        share = written.pop("max_share")
        check_number(f"{where}: graph.max_share", share, 0, 1)
        graph = {**written, "place": "graph"}
    return RelationSetup(
        llm=llm,
        index=instantiated(config["index"], "index", where),
        graph=RelationGraphSettings(**graph),
        search=RelationSettings(**strategy["strategy"]["relations"]),
        compare=update.compare,
        max_share=share,
        store=store_of(built, "relation_store", NetworkxRelations, where),
    )
