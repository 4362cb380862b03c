"""The parts of a memory: those of a run that was benchmarked, or of a file with the same groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsys.embed.base import Embedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.errors import InputError
from memsys.facts.extract import ExtractSettings
from memsys.facts.keeper import UpdateSettings
from memsys.index.rank import IndexSettings, Start
from memsys.llm.base import LLM
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.memory.base import MemoryBuilder, WrittenByModel
from memsys.service.ranking import Weights
from memsys.stores.vectors import VectorStore

CONF = Path(__file__).parents[2] / "conf"
RUNS = Path("results/runs")
# The options of conf/config.yaml, where a file does not say.
_OPTIONS = {
    "embedder": "minilm",
    "index": "default",
    "memory": "turns",
    "strategy": "vector_only",
    "llm": "none",
    "vector_store": "faiss",
}
_NUMBERS = {"k": 10, "budget": 2048}
_STARTS: Mapping[str, Start] = {
    "memsys.strategies.vector_only.VectorOnly": "vector",
    "baselines.bm25.BM25": "lexical",
    "baselines.hybrid_rank.HybridRank": "hybrid",
    "baselines.mem0.Mem0": "vector",
}
_FACTS = "baselines.mem0.Mem0"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a memory is made of. `vectors`: None for an index in this process's memory, which is
    made from the folder; `facts` and `update`: how a model writes facts, None where none does.
    `infer`: what `add` does where it is not told.
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
    weights: Weights = field(default_factory=Weights)


def load_setup(source: str | Path | None) -> Setup:
    """The setup of a run (its folder, or its id under results/runs), of a YAML file with groups as
    in conf/ (an option's name, or its settings), or of the defaults (None).

    A configuration names classes that are then made: load none that you do not trust. Raises
    InputError where it cannot be used, or where the run ranked by what no store of memories has.
    """
    where, given = _read(source)
    groups = {
        name: _group(name, given.get(name, option), where) for name, option in _OPTIONS.items()
    }
    numbers = {name: given.get(name, number) for name, number in _NUMBERS.items()}
    config = _resolved({**numbers, **groups}, where)
    strategy = config["strategy"]
    target = strategy.get("_target_")
    if target not in _STARTS:
        raise InputError(
            f"{where}: strategy {target}: a store of memories ranks by vectors, words or both; "
            "use a run of vector_only, bm25, hybrid_rank or mem0, or set strategy= to one of these"
        )
    builder = _made(config["memory"], "memory", where)
    if builder.name == "observations" or isinstance(builder, WrittenByModel):
        raise InputError(
            f"{where}: memory={builder.name}: messages are kept as they are said (turns, windows), "
            "and a model's facts are kept up to date (a run of strategy=mem0)"
        )
    embedder = _made(config["embedder"], "embedder", where)
    off = Recording("", "off")  # what users say is in no recording
    if isinstance(embedder, EndpointEmbedder):
        embedder.open(off)
    llm = _made(config["llm"], "llm", where).open(off, Meter(), None)
    writes = target == _FACTS and strategy.get("infer", True)
    facts = strategy if target == _FACTS else _fact_defaults()
    store = config["vector_store"]
    kept = not (store["_target_"].endswith(".FaissVectors") and store.get("path") is None)
    weights = given.get("weights") or {}
    try:
        return Setup(
            embedder=embedder,
            index=_made(config["index"], "index", where),
            builder=builder,
            start=_STARTS[target],
            k=_whole(strategy.get("k") or config["k"], where),
            llm=llm,
            infer=bool(writes and llm is not None),
            # Agents have no part in a benchmark's conversations: they have a prompt all the same.
            facts=ExtractSettings(**{"assistant_prompt": "facts_assistant", **facts["facts"]}),
            update=UpdateSettings(**facts["update"]),
            vectors=_made(store, "vector_store", where) if kept else None,
            weights=Weights(**weights),
        )
    except TypeError as error:
        raise InputError(f"{where}: {error}") from error


def _read(source: str | Path | None) -> tuple[str, Mapping[str, Any]]:
    if source is None:
        return "memory", {}
    path = Path(source).expanduser()
    if not path.exists() and (RUNS / path).exists():
        path = RUNS / path
    if path.is_dir():
        path = path / "manifest.json"
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            given = json.loads(text)["config"]
        else:
            from omegaconf import OmegaConf  # noqa: PLC0415 - a tenth of a second

            given = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
        known = {*_OPTIONS, *_NUMBERS, "weights"}
        if not isinstance(given, dict):
            raise TypeError("no groups")
    except OSError as error:
        raise InputError(
            f"{source}: no run and no configuration ({type(error).__name__}); name a run folder, "
            "its id under results/runs, or a YAML file"
        ) from error
    except Exception as error:
        raise InputError(f"{path}: cannot be read as a configuration ({error})") from error
    if path.suffix != ".json" and (unknown := sorted(set(given) - known)):
        raise InputError(f"{path}: {unknown[0]} is no group; there are {', '.join(sorted(known))}")
    return str(source), given


def _group(name: str, value: Any, where: str) -> Any:
    """The settings of a group; of an option's name, those of its file."""
    if isinstance(value, Mapping):
        return value
    import yaml  # noqa: PLC0415

    path = CONF / name / f"{value}.yaml"
    if not isinstance(value, str) or path.parent != CONF / name or not path.is_file():
        known = ", ".join(sorted(file.stem for file in (CONF / name).glob("*.yaml")))
        raise InputError(f"{where}: {name}: {value!r} is none of {known}")
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    found.pop("defaults", None)
    return found


def _fact_defaults() -> Mapping[str, Any]:
    found: Mapping[str, Any] = _group("strategy", "mem0", "memory")
    return found


def _resolved(config: Mapping[str, Any], where: str) -> dict[str, Any]:
    from omegaconf import OmegaConf  # noqa: PLC0415
    from omegaconf.errors import OmegaConfBaseException  # noqa: PLC0415

    # The strategy alone may refer to groups that say nothing here: its own settings are read below.
    try:
        found: Any = OmegaConf.to_container(OmegaConf.create(dict(config)), resolve=True)
    except OmegaConfBaseException as error:
        target = config["strategy"].get("_target_")
        raise InputError(f"{where}: {str(error).splitlines()[0]} (strategy {target})") from error
    return dict(found)


def _made(node: Mapping[str, Any], name: str, where: str) -> Any:
    from hydra.errors import HydraException  # noqa: PLC0415
    from hydra.utils import instantiate  # noqa: PLC0415
    from omegaconf.errors import OmegaConfBaseException  # noqa: PLC0415

    try:
        return instantiate({**node}, _convert_="all")
    except (HydraException, OmegaConfBaseException, TypeError) as error:
        inner: BaseException | None = error
        while inner is not None and not isinstance(inner, InputError):
            inner = inner.__cause__
        raise InputError(str(inner or f"{where}: {name}: {str(error).splitlines()[0]}")) from error


def _whole(k: Any, where: str) -> int:
    if not isinstance(k, int) or k < 1:
        raise InputError(f"{where}: k: {k!r}; use a whole number of 1 or more")
    return k
