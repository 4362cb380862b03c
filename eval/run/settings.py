"""The settings of a run outside the groups: their types, and the check of all of conf/config.yaml.

Hydra accepts any value for any setting; these checks refuse what a run could not use, before
anything is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic.fields import FieldInfo

from eval.rendering.errors import no_such_setting
from memsys.errors import InputError
from memsys.places import CONF

_LARGEST = 2**31 - 1
_GROUPS = tuple(sorted({path.parent.name for path in CONF.glob("*/*.yaml")}))
# Groups without one node of their name.
_OPTIONAL = ("experiment", "debug", "hydra", "metric", "tracker")
_OF_EXPERIMENTS = ("tables",)  # of eval.tabulate


def _whole(least: int, text: str = "") -> Any:
    remedy = f"a whole number of {least} or more{text}"
    return Field(ge=least, le=_LARGEST, description=remedy)


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


class Scoring(_Model):
    """See eval.metrics.protocols."""

    protocols: Annotated[
        list[StrictStr],
        Field(min_length=1, description="a list of protocols, such as [locomo,mem0]"),
    ]


class Settings(_Model):
    """The settings of conf/config.yaml; descriptions say what each of them has to be."""

    k: Annotated[StrictInt | None, _whole(1)]
    budget: Annotated[StrictInt | None, _whole(1)]
    seed: Annotated[StrictInt, _whole(0)]
    resamples: Annotated[StrictInt, _whole(2)]
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
    failures: Annotated[
        Failures, Field(description="failures.stop_after=... or failures.tolerated=...")
    ]
    estimate: Annotated[StrictBool, Field(description="true or false")]
    scoring: Annotated[Scoring, Field(description="scoring.protocols=[...]")]
    pricing: Annotated[
        StrictStr | None, Field(min_length=1, description="a file of prices, or null")
    ]
    cache: Annotated[StrictStr, Field(min_length=1, description="a folder")]


def check_settings(config: DictConfig) -> None:
    """Raise InputError naming the first setting of `config` that a run cannot use.

    A setting that is not in conf/config.yaml is refused unless another one refers to it.
    """
    settings = {
        "from" if name == "from_" else name: field for name, field in Settings.model_fields.items()
    }
    nodes = {*(group for group in _GROUPS if group not in _OPTIONAL), "judge_llm"}
    raw = str(OmegaConf.to_container(config, resolve=False))
    for name in map(str, config):
        known = name in settings or name in {*nodes, *_OPTIONAL, *_OF_EXPERIMENTS}
        if not known and f"${{{name}" not in raw:
            raise InputError(_unknown(name))
    values: Any = OmegaConf.to_container(config, resolve=True)
    for name in sorted(nodes):
        if not isinstance(values.get(name), Mapping):
            _refuse_option(name, values.get(name))
    for name, field in settings.items():
        if name not in values:
            raise InputError(f"{name}: missing; use {field.description}")
    try:
        Settings.model_validate({name: values[name] for name in settings})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(_line([str(part) for part in first["loc"]], settings, values)) from None


def check_overrides(arguments: Sequence[str]) -> None:
    """Raise InputError on an override without a name, and on one that gives a group no option.

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
        value = override.value()
        chosen = name in _GROUPS and not (override.is_sweep_override() or override.is_delete())
        if chosen and not isinstance(value, str | list):
            _refuse_option(name, value)


def _refuse_option(group: str, value: object) -> None:
    options = ", ".join(sorted(path.stem for path in (CONF / group).glob("*.yaml")))
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
    if isinstance(value, int) and value > _LARGEST:
        return f"{name}: {value!r:.60} is too large; use at most {_LARGEST:,}"
    if inner is not None and rest == []:
        return f"{name}: {value!r:.60}; set {field.description}"
    return f"{name}: {value!r:.60}; use {field.description}"


def _unknown(name: str) -> str:
    return no_such_setting(name).partition(" (python -m")[0]


def _has(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
