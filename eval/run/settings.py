"""The settings of a run: those outside the groups with their types, and the check of them all.

Hydra accepts any value for any setting; these checks refuse what a run could not use, before
anything is built. What a setting of a group may be is declared by the class that takes it (see
memsys.core.declared).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString, Transformer
from hydra.errors import HydraException
from hydra.utils import get_object
from omegaconf import DictConfig, OmegaConf

from eval.rendering.errors import no_such_setting
from eval.run.arguments import check_folder, groups_of
from memsys.core.declared import (
    Count,
    CountFrom0,
    PathText,
    Range,
    Share,
    Word,
    check_values,
    fits,
    refusal,
    words_of,
)
from memsys.core.errors import InputError

# The settings of conf/config.yaml.
_SETTINGS: Mapping[str, Any] = {
    "k": Count | None,
    "budget": Count | None,
    "instructions": Word | None,
    "seed": CountFrom0,
    "resamples": Annotated[int, Range(2, 100_000)],
    "questions": Count | None,
    "retrieval.depth": Count | None,
    "resume": str | int | None,  # a name of digits alone is read as a number
    "from": str | int | None,
    "only": str | Sequence[str] | None,
    "concurrency": Count,
    "fresh_queries": bool,
    "failures.stop_after": Count | None,
    "failures.tolerated": Share,
    "estimate": bool,
    "scoring.protocols": Sequence[str],
    "pricing": PathText | None,
    "cache": PathText,
}
_GROUPS = groups_of(())
# Groups without one node of their name.
_OPTIONAL = ("experiment", "debug", "hydra", "metric", "tracker")
_NODES = {*(group for group in _GROUPS if group not in _OPTIONAL), "judge_llm"}
_OF_EXPERIMENTS = ("tables",)  # of memsys tabulate
_SHARED = {"relation_store", "vector_store"}  # checked where a strategy or a graph refers to them
_PASSED_ON = ("_partial_", "_args_")  # Hydra's: a class of which an object is made later
_OF_HYDRA = {  # settings of Hydra's own that it takes, or fails on, as they stand
    "hydra.launcher": "hydra/launcher=NAME",
    "hydra.sweeper": "hydra/sweeper=NAME",
    "hydra.sweeper.params": "NAME=A,B with -m, such as -m k=5,10",
}
_FOLDERS = ("hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir")


def check_settings(config: DictConfig) -> None:
    """Raise InputError naming the first setting of `config` that a run cannot use.

    A setting that is not in conf/config.yaml is refused unless another one refers to it.
    """
    own = dict.fromkeys(name.partition(".")[0] for name in _SETTINGS)
    raw = str(OmegaConf.to_container(config, resolve=False))
    for name in map(str, config):
        if name not in {*own, *_NODES, *_OPTIONAL, *_OF_EXPERIMENTS} and f"${{{name}" not in raw:
            raise InputError(_unknown(name))
    values: Any = OmegaConf.to_container(config, resolve=True)
    for name in sorted(_NODES):
        if not isinstance(values.get(name), Mapping):
            _refuse_option(name, values.get(name))
        if name not in _SHARED and "_target_" not in values[name]:
            raise InputError(f"{name}._target_: missing; name the class of the option")
    for name in own:
        if name not in values:
            raise InputError(f"{name}: missing; use {words_of(_SETTINGS.get(name, Mapping))}")
        _check_setting(name, values[name])
    for name in [*sorted(_NODES - _SHARED), "tracker"]:
        _check_node(values.get(name), name)


def _check_setting(name: str, value: object) -> None:
    """Raise InputError unless `value` is one of the setting `name` of conf/config.yaml, or has one
    of each setting below it.
    """
    if name in _SETTINGS:
        hint = _SETTINGS[name]
        if not fits(value, hint):
            raise InputError(f"{name}: {refusal(value, hint)}")
        is_set = name == "scoring.protocols"
        if isinstance(value, list) and not 0 < len(value) == len(set(value) if is_set else value):
            raise InputError(f"{name}: {value!r:.60}; use one or more different values")
        return
    below = [setting for setting in _SETTINGS if setting.startswith(f"{name}.")]
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: {value!r:.60}; set {' or '.join(f'{key}=...' for key in below)}")
    for part in value:
        if f"{name}.{part}" not in below:
            raise InputError(_unknown(f"{name}.{part}"))
    for setting in below:
        _check_setting(setting, value.get(setting.rpartition(".")[2]))


def _check_node(node: object, place: str) -> None:
    """Check the settings of each class in `node`, a value of the configuration at `place`, against
    what the class declares. A class that cannot be imported is left to Hydra.
    """
    if isinstance(node, list):
        for number, item in enumerate(node):
            _check_node(item, f"{place}[{number}]")
    if not isinstance(node, Mapping):
        return
    for name, value in node.items():
        _check_node(value, f"{place}.{name}")
    for name in _PASSED_ON if place.partition(".")[0] != "strategy" else ():
        if name in node:
            raise InputError(f"{place}.{name}: is of strategies alone; leave it out")
    if "_target_" in node:
        try:
            target = get_object(str(node["_target_"]))
        except Exception:
            return
        given = {name: value for name, value in node.items() if not str(name).startswith("_")}
        if "_args_" not in node:
            check_values(target, given, place, ("parts", "evidence") if "_partial_" in node else ())


def check_overrides(arguments: Sequence[str]) -> None:
    """Raise InputError on an override without a name, on one that gives a group no option, and on
    a value, also of a sweep, that is none of its setting.

    What cannot be parsed is left to Hydra, which names the place.
    """
    parser = OverridesParser.create()
    for argument in arguments:
        if argument.startswith("-") or "=" not in argument:
            continue
        if argument.startswith("="):
            raise InputError(f"{argument}: no setting is named; write NAME=VALUE, such as k=5")
        try:
            override: Override = parser.parse_override(argument)
        except HydraException:
            continue
        name = override.get_key_element().lstrip("+~")
        if name in _OF_HYDRA:
            raise InputError(f"{argument}: write {_OF_HYDRA[name]}")
        for value in [] if override.is_delete() else _values(override):
            if name in _FOLDERS and not value:
                raise InputError(f"{name}: {value!r}; use a folder")
            is_path = name == "hydra.searchpath" and isinstance(value, list)
            for path in map(str, value) if is_path else ():
                if "://" not in path or path.startswith("file://"):
                    check_folder(path.removeprefix("file://"), name)
            if name in _GROUPS and not isinstance(value, str | list if name in _OPTIONAL else str):
                _refuse_option(name, value)
            if name in _SETTINGS and "${" not in str(value):
                _check_setting(name, value)


def _values(override: Override) -> list[Any]:
    """Return the value of an override, or those of its sweep that are known before it starts."""
    if not override.is_sweep_override():
        return [override.value()]
    try:
        values = list(override.sweep_iterator(Transformer.identity))
    except HydraException:  # an interval, or a pattern
        return []
    return [value.text if isinstance(value, QuotedString) else value for value in values]


def _refuse_option(group: str, value: object) -> None:
    of_judge = group == "judge_llm"  # the group llm in another place
    names = _GROUPS.get("llm" if of_judge else group, [])
    options = ", ".join(names)
    if of_judge:
        right = value if value in names else f"NAME, one of {options}"
        raise InputError(f"judge_llm: {value!r:.60}; write llm@judge_llm={right}")
    hint = f"; its options are {options}" if options else ""
    raise InputError(f"{group}: {value!r:.60} is no option of this group{hint}")


def _unknown(name: str) -> str:
    return no_such_setting(name).partition(" (python -m")[0]
