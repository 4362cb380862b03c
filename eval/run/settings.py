"""The settings of a run: those outside the groups with their types, and the check of them all.

Hydra accepts any value for any setting; these checks refuse what a run could not use, before
anything is built. What a setting of a group may be is declared by the class that takes it (see
memsys.core.declared).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString, Transformer
from hydra.errors import HydraException
from hydra.utils import get_object
from omegaconf import DictConfig, OmegaConf
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic.fields import FieldInfo

from eval.rendering.errors import no_such_setting
from eval.run.arguments import check_folder
from memsys.core.declared import LARGEST, check_values
from memsys.core.errors import InputError
from memsys.core.places import CONF

_RESAMPLES = 100_000
_OF_RESAMPLES = f"a whole number of 2 or more, at most {_RESAMPLES:,}"
_GROUPS = tuple(sorted({path.parent.name for path in CONF.glob("*/*.yaml")}))
# Groups without one node of their name.
_OPTIONAL = ("experiment", "debug", "hydra", "metric", "tracker")
_OF_EXPERIMENTS = ("tables",)  # of memsys tabulate
_SHARED = {"relation_store", "vector_store"}  # checked where a strategy or a graph refers to them
_PASSED_ON = ("_partial_", "_args_")  # Hydra's: a class of which an object is made later
_FOLDERS = ("hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir")
_UNDERLINED = re.compile(r"(?:^|[\s,:\[{(])([+-]?\d+(?:_\d+)+(?:\.\d*)?)(?=$|[\s,\]})])")


def _whole(least: int, text: str = "") -> Any:
    remedy = f"a whole number of {least} or more{text}"
    return Field(ge=least, le=LARGEST, description=remedy)


Positive = Annotated[StrictInt, _whole(1)]
PositiveOrNone = Annotated[StrictInt | None, _whole(1, ", or null")]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Failures(_Model):
    """See eval.run.failures.FailurePolicy."""

    stop_after: PositiveOrNone
    tolerated: Annotated[float, Field(ge=0, le=1, description="a share, 0 to 1")]


class Recorded(_Model):
    """See eval.records.rankings."""

    depth: Annotated[PositiveOrNone, Field(description="a whole number of 1 or more, or null")]


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError(names)
    return names


class Scoring(_Model):
    """See eval.metrics.protocols."""

    protocols: Annotated[
        list[StrictStr],
        AfterValidator(_distinct),
        Field(min_length=1, description="a list of different protocols, such as [locomo,mem0]"),
    ]


class Settings(_Model):
    """The settings of conf/config.yaml; descriptions say what each of them has to be."""

    k: Annotated[StrictInt | None, _whole(1)]
    budget: Annotated[StrictInt | None, _whole(1)]
    instructions: Annotated[StrictStr | None, Field(min_length=1, description="a text, or null")]
    seed: Annotated[StrictInt, _whole(0)]
    resamples: Annotated[StrictInt, Field(ge=2, le=_RESAMPLES, description=_OF_RESAMPLES)]
    questions: PositiveOrNone
    retrieval: Annotated[Recorded, Field(description="retrieval.depth=...")]
    resume: Annotated[StrictStr | StrictInt | None, Field(description="a run, or null")]
    from_: Annotated[
        StrictStr | StrictInt | None, Field(alias="from", description="a run, or null")
    ]
    only: Annotated[
        StrictStr | Annotated[list[StrictStr], Field(min_length=1)] | None,
        Field(description="ids of questions, such as conv-26/0, failed, or null"),
    ]
    concurrency: Positive
    fresh_queries: Annotated[StrictBool, Field(description="true or false")]
    failures: Annotated[
        Failures, Field(description="failures.stop_after=... or failures.tolerated=...")
    ]
    estimate: Annotated[StrictBool, Field(description="true or false")]
    scoring: Annotated[Scoring, Field(description="scoring.protocols=[...]")]
    pricing: Annotated[
        StrictStr | None, Field(min_length=1, description="a file of prices, or null")
    ]
    cache: Annotated[StrictStr, Field(min_length=1, description="a folder")]


_SETTINGS = {
    "from" if name == "from_" else name: field for name, field in Settings.model_fields.items()
}


def check_settings(config: DictConfig) -> None:
    """Raise InputError naming the first setting of `config` that a run cannot use.

    A setting that is not in conf/config.yaml is refused unless another one refers to it.
    """
    nodes = {*(group for group in _GROUPS if group not in _OPTIONAL), "judge_llm"}
    raw = str(OmegaConf.to_container(config, resolve=False))
    for name in map(str, config):
        known = name in _SETTINGS or name in {*nodes, *_OPTIONAL, *_OF_EXPERIMENTS}
        if not known and f"${{{name}" not in raw:
            raise InputError(_unknown(name))
    values: Any = OmegaConf.to_container(config, resolve=True)
    for name in sorted(nodes):
        if not isinstance(values.get(name), Mapping):
            _refuse_option(name, values.get(name))
        if name not in _SHARED and "_target_" not in values[name]:
            raise InputError(f"{name}._target_: missing; name the class of the option")
    for name, field in _SETTINGS.items():
        if name not in values:
            raise InputError(f"{name}: missing; use {field.description}")
    _check_settings({name: values[name] for name in _SETTINGS})
    for name in [*sorted(nodes - _SHARED), "tracker"]:
        _check_node(values.get(name), name)


def _check_node(node: object, place: str) -> None:
    """Check the settings of each class in `node`, a value of the configuration at `place`, against
    what the class declares. A class that cannot be imported is left to Hydra.
    """
    if isinstance(node, list):
        for number, one in enumerate(node):
            _check_node(one, f"{place}[{number}]")
    if not isinstance(node, Mapping):
        return
    for name, one in node.items():
        _check_node(one, f"{place}.{name}")
    for name in _PASSED_ON if place.partition(".")[0] != "strategy" else ():
        if name in node:
            raise InputError(f"{place}.{name}: is of strategies alone; leave it out")
    if "_target_" in node:
        try:
            target = get_object(str(node["_target_"]))
        except Exception:
            return
        given = {name: one for name, one in node.items() if not str(name).startswith("_")}
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
        if number := _UNDERLINED.search(argument.partition("=")[2]):
            plain = number[1].replace("_", "")
            raise InputError(f"{name}: {number[1]}; write {plain}, or '{number[1]}' for a text")
        if override.is_delete():
            continue
        if override.is_sweep_override() and name not in _GROUPS and "glob(" in argument:
            raise InputError(f"{argument}: glob lists options, and {name} has none; write values")
        _check_of_hydra(override)
        option = str | list if name in _OPTIONAL else str
        for value in _values(override):
            if name in _GROUPS and not isinstance(value, option):
                _refuse_option(name, value)
            if name in _SETTINGS and "${" not in str(value):
                _check_settings({name: value})


def _check_of_hydra(override: Override) -> None:
    """Raise InputError on a setting of Hydra's own with a value that Hydra takes, or fails on, and
    that no run can use.
    """
    name, value = override.get_key_element().lstrip("+~"), override.value()
    if name in _FOLDERS and not str(value or ""):
        raise InputError(f"{name}: {value!r}; use a folder")
    if name in ("hydra.launcher", "hydra.sweeper"):
        raise InputError(f"{name}: {value!r:.60}; write {name.replace('.', '/')}=NAME")
    if name == "hydra.sweeper.params":
        raise InputError(f"{name}: {value!r:.60}; write NAME=A,B with -m, such as -m k=5,10")
    if name == "hydra.searchpath" and isinstance(value, list):
        for folder in (str(one) for one in value):
            if "://" not in folder or folder.startswith("file://"):
                check_folder(folder.removeprefix("file://"), name)


def _values(override: Override) -> list[Any]:
    """Return the value of an override, or those of its sweep that are known before it starts."""
    if not override.is_sweep_override():
        return [override.value()]
    try:
        found = list(override.sweep_iterator(Transformer.identity))
    except HydraException:  # an interval, or a pattern
        return []
    return [one.text if isinstance(one, QuotedString) else one for one in found]


def _check_settings(values: Mapping[str, Any]) -> None:
    """Raise InputError on the first of some settings of conf/config.yaml that is wrong."""
    try:
        Settings.model_validate(values)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            if one["loc"][0] in values:
                place = [str(part) for part in one["loc"]]
                raise InputError(_line(place, _SETTINGS, values)) from None


def _refuse_option(group: str, value: object) -> None:
    of_judge = group == "judge_llm"  # the group llm in another place
    names = sorted(path.stem for path in (CONF / ("llm" if of_judge else group)).glob("*.yaml"))
    options = ", ".join(names)
    if of_judge:
        right = value if value in names else f"NAME, one of {options}"
        raise InputError(f"judge_llm: {value!r:.60}; write llm@judge_llm={right}")
    known = f"; its options are {options}" if options else ""
    raise InputError(f"{group}: {value!r:.60} is no option of this group{known}")


def _line(path: Sequence[str], fields: Mapping[str, FieldInfo], values: Mapping[str, Any]) -> str:
    """Return one line on the setting at `path`, of which the part that is a setting is named."""
    name, rest = path[0], list(path[1:])
    field, value = fields[name], values.get(name)
    inner = next(
        (one for one in (field.annotation, *get_args(field.annotation)) if _has(one)), None
    )
    if inner is not None and rest and isinstance(value, Mapping):
        if rest[0] not in inner.model_fields:
            return _unknown(f"{name}.{rest[0]}")
        return f"{name}.{_line(rest, inner.model_fields, value)}"
    if isinstance(value, int) and value > LARGEST:
        return f"{name}: {value!r:.60} is too large; use at most {LARGEST:,}"
    if inner is not None and rest == []:
        return f"{name}: {value!r:.60}; set {field.description}"
    return f"{name}: {value!r:.60}; use {field.description}"


def _unknown(name: str) -> str:
    return no_such_setting(name).partition(" (python -m")[0]


def _has(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
