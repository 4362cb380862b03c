"""The configuration of a memory: that of a benchmarked run, or of a file with the same groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from memsys.embed.base import Embedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.errors import InputError, check_whole
from memsys.facts.extract import ExtractSettings, for_roles
from memsys.facts.fact_writer import UpdateSettings
from memsys.index.rank import IndexSettings, Start
from memsys.llm.base import LLM
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.memory.base import MemoryBuilder, WrittenByModel
from memsys.memory.observations import Observations
from memsys.places import find_run
from memsys.service.ranking import SearchWeights
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.vectors import VectorStore
from memsys.strategy import Strategy
from memsys.text.files import read_text
from memsys.text.json_text import parse_json
from memsys.text.yaml_text import load_yaml
from memsys.trusted import CONF, addresses, check_addresses, check_config, check_references

_MOVED = Path(__file__).parent / "moved.yaml"
# The options of conf/config.yaml, as defaults.
_OPTIONS = {
    "embedder": "minilm",
    "index": "default",
    "memory": "turns",
    "strategy": "vector_only",
    "llm": "none",
    "vector_store": "faiss",
}
_FAISS = f"{FaissVectors.__module__}.{FaissVectors.__qualname__}"
_FILES = (".yaml", ".yml", ".json")
_NUMBERS = {"k": 10, "budget": 2048}
_CHANGES = ("weights", "facts", "update")  # single settings
_BYTES = 10_000_000  # of a manifest


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts of a memory. `vectors`: None for an index in this process's memory, rebuilt from
    the folder; `facts` and `update`: how a model writes facts, None without a model. `infer`: the
    default of `add`. `calls`: the servers that receive texts, each with the variable of its key.
    """

    embedder: Embedder
    index: IndexSettings
    builder: MemoryBuilder
    start: Start = "vector"
    k: int = 10
    llm: LLM | None = None
    infer: bool = False
    facts: ExtractSettings | None = None
    update: UpdateSettings | None = None
    vectors: VectorStore | None = None
    weights: SearchWeights = field(default_factory=SearchWeights)
    calls: tuple[str, ...] = ()


def load_setup(source: str | Path | None) -> Setup:
    """Return the setup of a run (see find_run), of a YAML file with groups as in conf/ (an option's
    name, or its settings), or of the defaults (None).

    It may come from anybody: see memsys.trusted for the classes and addresses that it may name.
    Raises InputError if it cannot be used, or if a plain store of memories cannot rank like the
    run's strategy.
    """
    where, settings, foreign = _read(source)
    wanted = {**_NUMBERS, **_OPTIONS, **{k: v for k, v in settings.items() if k not in _CHANGES}}
    config = _composed({name: wanted[name] for name in (*_NUMBERS, *_OPTIONS)}, where)
    check_references(config, where)
    kind = _strategy_class(config["strategy"], where)
    config = _resolved(config, where)
    built = {name: config[name] for name in _OPTIONS if name != "strategy"}
    for name, group in built.items():
        check_config(group, name, where)
    if foreign:
        check_addresses(built, where)
        if path := built["vector_store"].get("path"):
            raise InputError(
                f"{where}: vector_store.path: {path!r:.80}: a file outside of the run; name it in "
                "a YAML file of your own"
            )
    strategy = config["strategy"]
    builder = _instantiated(config["memory"], "memory", where)
    if isinstance(builder, Observations | WrittenByModel):
        raise InputError(
            f"{where}: memory={builder.name}: messages are stored verbatim (turns, windows), or as "
            "facts that a model keeps up to date (a run of strategy=mem0)"
        )
    embedder = _instantiated(config["embedder"], "embedder", where)
    off = Recording("", "off")  # never record what users say
    if isinstance(embedder, EndpointEmbedder):
        embedder.open(off, Meter())
    model = _instantiated(config["llm"], "llm", where)
    if not isinstance(model, ChatSettings | NoModel):
        raise InputError(f"{where}: llm: {type(model).__name__} is no chat model")
    llm = model.open(off, Meter(), None)
    facts = strategy if kind.writes_memory else _composed({"strategy": "mem0"}, where)["strategy"]
    store = config["vector_store"]
    shared = store.get("_target_") != _FAISS or store.get("path") is not None
    try:
        return Setup(
            embedder=embedder,
            index=_instantiated(config["index"], "index", where),
            builder=builder,
            start=kind.start or "vector",
            k=check_whole(f"{where}: k", strategy.get("k") or config["k"]),
            llm=llm,
            infer=llm is not None and kind.writes_memory and strategy.get("infer", True),
            facts=for_roles(ExtractSettings(**facts["facts"] | (settings.get("facts") or {}))),
            update=UpdateSettings(**facts["update"] | (settings.get("update") or {})),
            vectors=_instantiated(store, "vector_store", where) if shared else None,
            weights=SearchWeights(**(settings.get("weights") or {})),
            calls=tuple(
                f"{place}: {server}" + (f", with the key in {key}" if key else "")
                for place, server, key in addresses(built)
            ),
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{where}: {error}") from error


def _read(source: str | Path | None) -> tuple[str, Mapping[str, Any], bool]:
    """Return the name of `source` for error messages, its groups and numbers, and whether they are
    those of a run, which somebody else may have made.
    """
    if source is None:
        return "memory", {}, False
    path = Path(source).expanduser()
    if not path.exists() and path.suffix not in _FILES:
        try:
            path = find_run(path)
        except InputError as error:
            raise InputError(f"{error}, or a YAML file") from error
    if path.is_dir():
        path = path / "manifest.json"
    run = path.suffix == ".json"
    try:
        if run:
            settings = parse_json(_present_names(read_text(path, _BYTES)))["config"]
        else:
            check_references(load_yaml(path), str(path))  # bounded, unlike the next step
            settings = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
        if not isinstance(settings, dict):
            raise TypeError("no groups")
    except InputError:
        raise
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: cannot be read as a configuration ({reason})") from error
    names = {*_OPTIONS, *_NUMBERS, *_CHANGES}
    if not run and (unknown := sorted(set(settings) - names, key=str)):
        raise InputError(f"{path}: {unknown[0]} is no group; there are {', '.join(sorted(names))}")
    return str(source), settings, run


def _present_names(manifest: str) -> str:
    """Return the text of a manifest with the present names of what version 0.1 named otherwise."""
    for old, new in OmegaConf.load(_MOVED).items():
        manifest = manifest.replace(str(old), str(new))
    return manifest


def _composed(wanted: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `wanted` with the names of options replaced by their settings, composed by Hydra."""
    named = {n: v for n, v in wanted.items() if n in _OPTIONS and not isinstance(v, Mapping)}
    if not named:
        return dict(wanted)
    for name, value in named.items():
        options = sorted(file.stem for file in (CONF / name).glob("*.yaml"))
        if value not in options:
            raise InputError(f"{where}: {name}: {value!r} is none of {', '.join(options)}")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose(overrides=[f"+{name}={value}" for name, value in named.items()])
    return {**wanted, **OmegaConf.to_container(composed, resolve=False)}  # type: ignore[dict-item]


def _strategy_class(strategy: Mapping[str, Any], where: str) -> type[Strategy]:
    """Return the strategy's class. Raises InputError unless a store of memories can rank like it:
    nothing but a subclass of Strategy with a `start` is accepted.
    """
    target = str(strategy.get("_target_"))
    check_config({"_target_": target}, "strategy", where)
    try:
        kind = get_class(target)
    except Exception as error:
        raise InputError(f"{where}: strategy: {error}") from error
    if not issubclass(kind, Strategy) or kind.start is None:
        raise InputError(
            f"{where}: strategy {target}: a store of memories ranks by vectors, words or both; "
            "use a run of vector_only, bm25, hybrid_rank or mem0, or set strategy= to one of these"
        )
    return kind


def _resolved(config: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        return dict(OmegaConf.to_container(OmegaConf.create(dict(config)), resolve=True))  # type: ignore[arg-type]
    except OmegaConfBaseException as error:
        raise InputError(f"{where}: {str(error).splitlines()[0]}") from error


def _instantiated(node: Mapping[str, Any], name: str, where: str) -> Any:
    """Return the object of a group. Raises InputError with the innermost cause."""
    try:
        return instantiate({**node}, _convert_="all")
    except (HydraException, OmegaConfBaseException, TypeError) as error:
        inner: BaseException | None = error
        while inner is not None and not isinstance(inner, InputError):
            inner = inner.__cause__
        raise InputError(str(inner or f"{where}: {name}: {str(error).splitlines()[0]}")) from error
