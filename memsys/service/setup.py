"""The setup of a memory from a configuration: that of a benchmarked run, or of a file with the same
groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memsys.core.errors import InputError, check_number, check_whole
from memsys.core.trusted import addresses, check_addresses, check_config
from memsys.knowledge.facts.extract import ExtractSettings, for_roles
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.facts.procedure import ProcedureSettings
from memsys.knowledge.memory.base import MemoryBuilder, WrittenByModel
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.relations.find import RelationSettings
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.llm.base import LLM, instructed
from memsys.service.configuration import OPTIONS, Groups, Source, composed, read
from memsys.service.settings import (
    RelationSetup,
    SearchWeights,
    Setup,
    StrategySetup,
    SummarySettings,
)
from memsys.service.strategy_ranking import plain
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.strategies.plain import FullContext

_ALL = 10**9  # memories: full_context has no k
_UNUSED = {"_target_": f"{NetworkxRelations.__module__}.{NetworkxRelations.__qualname__}"}


def load_setup(source: Source | None) -> Setup:
    """Return the setup of a run (see find_run), of a YAML file or mapping with groups as in conf/
    (an option's name, or its settings), or of the defaults (None, unless MEMSYS_CONFIG names one).

    It may come from anybody: see memsys.core.trusted for the classes and addresses that it may
    name. Raises InputError if it cannot be used, or if a store of memories cannot rank like the
    run's strategy.
    """
    where, given, foreign = read(source)
    groups = _with_relation_store(Groups.of(given, where))
    called = _check_built(groups, foreign)
    kind, strategy = groups.kind, groups.strategy
    llm = instructed(groups.llm(), groups.settings.get("instructions"))
    facts, update = _writing(groups)
    relations = _relations(groups, llm, update)
    _check_same_reply(facts, relations, where)
    procedure = groups.section(ProcedureSettings, "procedure")
    _ = facts.prompts, update.loaded, procedure.loaded  # shows a wrong one now
    return Setup(
        embedder=groups.embedder(),
        index=groups.build("index"),
        builder=_builder(groups),
        strategy=_ranking(groups),
        context=groups.build("context"),
        budget=groups.budget,
        k=check_whole(f"{where}: k", _ALL if kind is FullContext else groups.k),
        llm=llm,
        infer=llm is not None and kind.writes_memory and strategy.get("infer", True),
        facts=facts,
        update=update,
        relations=relations,
        vectors=groups.store("vector_store", FaissVectors),
        weights=groups.section(SearchWeights, "weights"),
        summary=groups.section(SummarySettings, "summary"),
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


def _ranking(groups: Groups) -> StrategySetup | None:
    """Return the strategy that ranks stored memories; None for the index of vectors. One that ranks
    as a plain store does gives scores of 0 to 1.
    """
    start = groups.kind.start
    if start == "vector":
        return None
    ranked = ranked_by(groups, graph=start is None and not groups.links)
    return ranked if start is None else replace(ranked, make=plain(start))


def _with_relation_store(groups: Groups) -> Groups:
    """Return `groups` with the store of relations that the memory opens as their relation_store, if
    any: that of the strategy, that of a graph whose relations link memories, or the group's own.
    Raises InputError if it is no group.
    """
    config, place = dict(groups.config), ""
    graph, own = config["graph"], config.pop("relation_store")
    if groups.kind.writes_relations:
        config["relation_store"] = groups.strategy.get("store") or own
        place = "strategy.store"
    elif groups.links:
        config["relation_store"] = graph["relation_store"]
        place = "graph.relation_store"
    store = config.get("relation_store", _UNUSED)
    if not isinstance(store, Mapping) or "_target_" not in store:
        raise InputError(
            f"{groups.where}: {place}: {store!r:.40}; leave it out, or give all settings of an "
            "option of conf/relation_store"
        )
    if "relation_store" in graph:
        config["graph"] = {**graph, "relation_store": _UNUSED}
    return replace(groups, config=config)


def _check_built(groups: Groups, foreign: bool) -> tuple[str, ...]:
    """Return the servers that `groups` calls. Raises InputError on a class that is not trusted; if
    they are `foreign`, those of somebody else's run, also on a server that is not, or on a file.
    """
    where = groups.where
    built = {n: one for n, one in groups.config.items() if n in OPTIONS and n != "strategy"}
    for name, group in built.items():
        check_config(group, name, where)
    if foreign:
        check_addresses(built, where)
        files = ("vector_store", "path"), ("relation_store", "path"), ("index", "fusion")
        for name, setting in files:
            if path := built.get(name, {}).get(setting):
                raise InputError(
                    f"{where}: {name}.{setting}: {path!r:.80}: a file outside of the run; name it "
                    "in a YAML file of your own"
                )
    return tuple(
        f"{place}: {server}" + (f", with the key in {key}" if key else "")
        for place, server, key in addresses(built)
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


def _writing(groups: Groups) -> tuple[ExtractSettings, UpdateSettings]:
    """Return how a model writes facts: as in the strategy, else as in mem0, changed by the memory's
    own settings. Raises InputError if the strategy lacks a setting.
    """
    strategy = groups.strategy
    if not groups.kind.writes_memory:
        strategy = composed({"strategy": "mem0"}, groups.where)["strategy"]
    section = groups.section
    facts = section(ExtractSettings, "facts", strategy.get("facts"), "strategy.facts")
    update = section(UpdateSettings, "update", strategy.get("update"), "strategy.update")
    return for_roles(facts), update


def _relations(groups: Groups, llm: LLM | None, update: UpdateSettings) -> RelationSetup | None:
    """Return how relations are written and found, or link memories; None if they are not written.
    Raises InputError on a missing setting, or without a model.
    """
    where, strategy, share = groups.where, groups.strategy, None
    if "relation_store" not in groups.config:
        return None
    if llm is None:
        raise InputError(f"{where}: no model to write relations with; set llm= (openai, local)")
    if groups.links:
        graph = dict(groups.config["graph"])
        share = graph.pop("max_share", None)
        check_number(f"{where}: graph.max_share", share, 0, 1)
        own = {n: v for n, v in graph.items() if n not in ("_target_", "name", "relation_store")}
        search = composed({"strategy": "mem0_graph"}, where)["strategy"]["relations"]
        strategy = {"graph": {**own, "place": "graph"}, "relations": search}
    section = groups.section
    return RelationSetup(
        llm=llm,
        index=groups.build("index"),
        graph=section(RelationGraphSettings, "graph", strategy.get("graph"), "strategy.graph"),
        search=section(
            RelationSettings, "relations", strategy.get("relations"), "strategy.relations"
        ),
        compare=update.compare,
        max_share=share,
        store=groups.store("relation_store", NetworkxRelations),
    )


def _check_same_reply(facts: ExtractSettings, relations: RelationSetup | None, where: str) -> None:
    """Raises InputError if relations should come with the facts, and cannot."""
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
