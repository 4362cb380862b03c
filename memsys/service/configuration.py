"""Configurations of a memory: composition from conf/, and instantiation of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, TypeVar

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from memsys.core.declared import check_values
from memsys.core.errors import InputError, check_choice, check_whole
from memsys.core.places import CONF
from memsys.core.trusted import check_config, check_references
from memsys.embed.base import Embedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.llm.base import LLM
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.service.configuration_source import NUMBERS, OPTIONS, SETTINGS, check_names
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.strategies.strategy import Strategy

_CHANGED = {**OPTIONS, "llm": "openai"}  # by settings that name no option
_UNUSED = {"_target_": f"{NetworkxRelations.__module__}.{NetworkxRelations.__qualname__}"}
T = TypeVar("T")


def composed(wanted: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `wanted` with the names of options replaced by their settings, composed by Hydra. The
    settings of a group without a class replace those of the option that its `option` names, else of
    the default one; a group without settings is the default one.
    """
    named, changed = {}, {}
    for name in OPTIONS.keys() & wanted.keys():
        group = wanted[name]
        if not isinstance(group, Mapping):
            named[name] = group
        elif "_target_" not in group:
            changed[name] = dict(group)
            named[name] = changed[name].pop("option", (_CHANGED if group else OPTIONS)[name])
    for name, value in named.items():
        names = sorted(file.stem for file in (CONF / name).glob("*.yaml"))
        check_choice(f"{where}: {name}", value, names)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        options = compose(overrides=[f"+{name}={value}" for name, value in named.items()])
    config: dict[str, Any] = {**wanted, **OmegaConf.to_container(options, resolve=False)}  # type: ignore[dict-item]
    for name, own in changed.items():
        config[name] = _override(config[name], own, f"{where}: {name}")
    return config


def _override(base: Mapping[str, Any], own: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the settings `base` with the values of `own`, also within groups of settings. Raises
    InputError on an unknown name.
    """
    check_names(own, [name for name in base if not name.startswith("_")], place)
    settings = dict(base)
    for name, value in own.items():
        both = isinstance(base[name], Mapping) and base[name] and isinstance(value, Mapping)
        settings[name] = _override(base[name], value, f"{place}.{name}") if both else value
    return settings


def resolved(config: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `config` with its references replaced by the values that they name."""
    try:
        return dict(OmegaConf.to_container(OmegaConf.create(dict(config)), resolve=True))  # type: ignore[arg-type]
    except OmegaConfBaseException as error:
        raise InputError(f"{where}: {str(error).splitlines()[0]}") from error


@dataclass(frozen=True, slots=True)
class Groups:
    """A configuration, named `where` in error messages: its composed groups and numbers, the class
    of its strategy, and the further `settings` of a memory.
    """

    where: str
    config: Mapping[str, Any]
    kind: type[Strategy]
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, wanted: Mapping[str, Any], where: str) -> Groups:
        """Compose `wanted`: options of conf/ by name, or settings; what is missing is the default.
        Raises InputError if one is unknown, refers to anything outside of the configuration, or if
        the strategy does not rank stored memories.
        """
        whole = {**NUMBERS, **OPTIONS, **wanted}
        config = composed({name: whole[name] for name in (*NUMBERS, *OPTIONS)}, where)
        check_references(config, where)
        kind = _strategy_class(config["strategy"], where)
        settings = {name: value for name, value in wanted.items() if name in SETTINGS}
        return cls(where, resolved(config, where), kind, settings)

    @property
    def links(self) -> bool:
        """Whether relations that a model writes link the memories, in place of a graph by rules."""
        return self.kind.uses_graph and "relation_store" in self.config["graph"]

    @property
    def strategy(self) -> Mapping[str, Any]:
        """The settings of the strategy."""
        return self.config["strategy"]  # type: ignore[no-any-return]

    @property
    def k(self) -> int:
        """The number of results: the strategy's own, else that of the configuration."""
        return check_whole(f"{self.where}: k", self.strategy.get("k") or self.config["k"])

    def with_relation_store(self) -> Groups:
        """Return these groups with the store of relations that the memory opens as relation_store,
        if any: that of the strategy, that of a graph whose relations link memories, or the group's
        own. Raises InputError if it is no group.
        """
        config, place = dict(self.config), ""
        graph, own = config["graph"], config.pop("relation_store")
        if self.kind.writes_relations:
            config["relation_store"] = self.strategy.get("store") or own
            place = "strategy.store"
        elif self.links:
            config["relation_store"] = graph["relation_store"]
            place = "graph.relation_store"
        store = config.get("relation_store", _UNUSED)
        if not isinstance(store, Mapping) or "_target_" not in store:
            raise InputError(
                f"{self.where}: {place}: {store!r:.40}; leave it out, or give all settings of an "
                "option of conf/relation_store"
            )
        if "relation_store" in graph:
            config["graph"] = {**graph, "relation_store": _UNUSED}
        return replace(self, config=config)

    def build(self, name: str, **more: Any) -> Any:
        """Return the object of the group `name`, with the settings `more`. Raises InputError with
        the innermost cause.
        """
        try:
            return instantiate({**self.config[name], **more}, _convert_="all")
        except (HydraException, OmegaConfBaseException, TypeError) as error:
            inner: BaseException | None = error
            while inner is not None and not isinstance(inner, InputError):
                inner = inner.__cause__
            raise InputError(
                str(inner or f"{self.where}: {name}: {str(error).splitlines()[0]}")
            ) from error

    def embedder(self) -> Embedder:
        """Return the embedder; what it asks a server is not recorded, as it is what users say."""
        embedder: Embedder = self.build("embedder")
        if isinstance(embedder, EndpointEmbedder):
            embedder.open(Recording("", "off"), Meter())
        return embedder

    def llm(self) -> LLM | None:
        """Return the model, whose calls are not recorded; None without one."""
        model = self.build("llm")
        if not isinstance(model, ChatSettings | NoModel):
            raise InputError(f"{self.where}: llm: {type(model).__name__} is no chat model")
        return model.open(Recording("", "off"), Meter(), None)

    def store(self, name: str, usual: type) -> Any:
        """Return the store of the group `name`; None for one of the class `usual` without a path,
        which the memory opens in its folder.
        """
        config = self.config[name]
        is_usual = config.get("_target_") == f"{usual.__module__}.{usual.__qualname__}"
        return None if is_usual and config.get("path") is None else self.build(name)

    def section(self, kind: type[T], name: str, base: object = MappingProxyType({})) -> T:
        """Return the settings of the dataclass `kind`: those of `base`, changed by the section
        `name` of the memory's settings. Raises InputError on an unknown or missing one.
        """
        own, place = self.settings.get(name) or {}, f"{self.where}: {name}"
        if not (isinstance(base, Mapping) and isinstance(own, Mapping)):
            raise InputError(f"{place}: give names with values, or name an option of conf/strategy")
        settings = {**base, **own}
        check_names(settings, [field.name for field in fields(kind)], place)  # type: ignore[arg-type]
        check_values(kind, settings, place)
        return kind(**settings)


def _strategy_class(strategy: Mapping[str, Any], where: str) -> type[Strategy]:
    """Return the strategy's class. Raises InputError unless it ranks the stored memories of an
    owner: not if it stores them elsewhere or not at all, or ranks by a benchmark's gold evidence.
    """
    target = str(strategy["_target_"])
    check_config({"_target_": target}, "strategy", where)
    kind: Any = get_class(target)
    stores = issubclass(kind, Strategy) and (kind.start or kind.ingest is Strategy.ingest)
    if not stores or kind.sees_evidence:
        raise InputError(
            f"{where}: strategy {target}: it does not rank stored memories by a query alone; set "
            "strategy= to another option"
        )
    return kind  # type: ignore[no-any-return]
