"""Configurations of a memory: reading, composition from conf/, and instantiation of a group."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from memsys.core.declared import check_values
from memsys.core.errors import InputError, check_whole
from memsys.core.files import read_text
from memsys.core.json_text import parse_json
from memsys.core.places import CONF, find_run
from memsys.core.trusted import check_config, check_references
from memsys.core.yaml_text import load_yaml
from memsys.embed.base import Embedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.llm.base import LLM
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.service.arguments import path_of
from memsys.service.mem0_form import translated
from memsys.strategies.strategy import Strategy

# The options of conf/config.yaml, as defaults.
OPTIONS = {
    "embedder": "minilm",
    "index": "default",
    "memory": "turns",
    "graph": "rules",
    "context": "flat",
    "strategy": "vector_only",
    "llm": "none",
    "vector_store": "faiss",
    "relation_store": "networkx",
}
NUMBERS = {"k": 10, "budget": 2048}
# Further settings of a memory, which no option of conf/ has.
SETTINGS = ("weights", "facts", "update", "summary", "procedure", "instructions")
_CHANGED = {**OPTIONS, "llm": "openai"}  # by settings that name no option
VARIABLE = "MEMSYS_CONFIG"  # of the environment: the configuration of Memory()
Source = str | Path | Mapping[str, Any]
_FILES = (".yaml", ".yml", ".json")
_BYTES = 10_000_000  # of a manifest
T = TypeVar("T")


def read(source: Source | None) -> tuple[str, Mapping[str, Any], bool]:
    """Return the name of `source` for error messages, its groups and numbers, and whether they are
    those of a run, which somebody else may have made. None: what MEMSYS_CONFIG names, if it is set.
    """
    source = os.environ.get(VARIABLE) or None if source is None else source
    if source is None:
        return "memory", {}, False
    if isinstance(source, Mapping):
        where, run, settings = "configuration", False, dict(source)
    else:
        path = _path_of(path_of(source, "configuration"))
        where, run, settings = str(path), path.suffix == ".json", _parsed(path)
    if run:  # it has no settings of a memory, unless somebody wrote them into it
        return where, {name: one for name, one in settings.items() if name not in SETTINGS}, True
    settings = translated(settings, where)
    check_names(settings, {*OPTIONS, *NUMBERS, *SETTINGS}, where)
    return where, settings, False


def _path_of(path: Path) -> Path:
    """Return the file of a configuration; InputError for any other file, whose text no error is to
    repeat.
    """
    if not path.exists() and path.suffix not in _FILES:
        path = find_run(path)
    if path.is_dir():
        return path / "manifest.json"
    if path.suffix not in _FILES:
        raise InputError(f"{path}: no configuration; name a run, or a file that ends in .yaml")
    return path


def _parsed(path: Path) -> dict[str, Any]:
    """Return the settings in the file of a configuration, or in the manifest of a run."""
    try:
        if path.suffix == ".json":
            settings = parse_json(read_text(path, _BYTES))["config"]
        else:
            check_references(load_yaml(path), str(path))  # bounded, unlike the next step
            settings = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
        return dict(settings)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path}: cannot be read as a configuration ({type(error).__name__}: {error})"
        ) from error


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
        if value not in names:
            raise InputError(f"{where}: {name}: {value!r} is none of {', '.join(names)}")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        options = compose(overrides=[f"+{name}={value}" for name, value in named.items()])
    found: dict[str, Any] = {**wanted, **OmegaConf.to_container(options, resolve=False)}  # type: ignore[dict-item]
    for name, own in changed.items():
        found[name] = _replaced(found[name], own, f"{where}: {name}")
    return found


def _replaced(base: Mapping[str, Any], own: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the settings `base` with the values of `own`, also within groups of settings. Raises
    InputError on an unknown name.
    """
    check_names(own, [name for name in base if not name.startswith("_")], place)
    found = dict(base)
    for name, value in own.items():
        both = isinstance(base[name], Mapping) and base[name] and isinstance(value, Mapping)
        found[name] = _replaced(base[name], value, f"{place}.{name}") if both else value
    return found


def check_names(given: Iterable[Any], names: Iterable[str], place: str) -> None:
    """Raise InputError on a name that is none of `names`."""
    if unknown := sorted(set(given) - set(names), key=str):
        raise InputError(
            f"{place}: {unknown[0]}: no such setting; there are {', '.join(sorted(names))}"
        )


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
        settings = {name: one for name, one in wanted.items() if name in SETTINGS}
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
        check_names(settings, [one.name for one in fields(kind)], place)  # type: ignore[arg-type]
        check_values(kind, settings, place)
        return kind(**settings)


def _strategy_class(strategy: Mapping[str, Any], where: str) -> type[Strategy]:
    """Return the strategy's class. Raises InputError unless it ranks the stored memories of an
    owner: not if it stores them elsewhere or not at all, or ranks by a benchmark's gold evidence.
    """
    target = str(strategy["_target_"])
    check_config({"_target_": target}, "strategy", where)
    try:
        kind: Any = get_class(target)
    except Exception as error:
        raise InputError(f"{where}: strategy: {error}") from error
    stores = issubclass(kind, Strategy) and (kind.start or kind.ingest is Strategy.ingest)
    if not stores or kind.sees_evidence:
        raise InputError(
            f"{where}: strategy {target}: it does not rank stored memories by a query alone; set "
            "strategy= to another option"
        )
    return kind  # type: ignore[no-any-return]
