"""The manifest of a run: everything needed to repeat it, and nothing secret."""

import copy
import hashlib
import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NotRequired, cast

from pydantic import ConfigDict, Field, NonNegativeFloat, TypeAdapter, with_config
from typing_extensions import TypedDict

from eval.datasets.types import Dataset
from eval.metrics.protocols import protocol_names
from eval.records.answer_key_views import evidence_name
from eval.records.environment import git_state, machine, now, versions
from eval.records.files import validate
from eval.records.rankings import manifest_fields
from eval.records.schema import MANIFEST as MANIFEST_SCHEMA
from eval.records.schema import MANIFEST_DEFAULTS, SCHEMA_VERSION, FileEntry, Manifest
from memsys.core.errors import InputError, problems
from memsys.core.files import is_there, read_bytes
from memsys.core.json_text import parse_json
from memsys.core.places import MANIFEST

# Settings that cannot change a result: a run may be resumed, and its calls replayed, under others.
OPERATIONAL = frozenset(
    {"resume", "cache", "concurrency", "estimate", "pricing", "tables", "failures", "tracker"}
    | {"fresh_queries"}
)
_MOST = 1 << 28  # bytes of a manifest: it lists the conversations
_BUDGET = "llm.budget_usd"
NO_MODELS: Mapping[str, Any] = {"llm": None, "prompts": {}, "judge": None, "pricing": None}
OPERATIONAL_OF_MODELS = frozenset(
    {"cache", "budget_usd", "timeout_s", "retries", "concurrency", "requests_per_minute"}
)
_FILES = {  # fields on what was read besides the configuration: words on a change
    "data": "the data files have",
    "weights": "the file of index.fusion has",
    "memories": "the files of memories have",
    "subset": "the subset's file has",
    "evidence": "the known wrong citations have",
    "key": "the known errors of the answer key have",
}
_OF_SWEEPS = ("-m", "--multirun", "hydra/launcher=", "hydra.launcher.")


class _Price(TypedDict):
    input: NonNegativeFloat
    output: NonNegativeFloat


class _Prices(TypedDict):
    as_of: str
    models: dict[str, _Price]


class _Judge(TypedDict):
    name: str
    score: NotRequired[str]


class _Git(TypedDict):
    commit: str


class _Weights(TypedDict):
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Sweep(TypedDict):
    id: str
    job: int


class _Subset(TypedDict):
    name: str
    file: FileEntry
    questions: int
    of: int


@with_config(ConfigDict(defer_build=True))
class _Parts(TypedDict, total=False):
    """Fields within fields of a manifest that commands read."""

    pricing: _Prices | None
    judge: _Judge | None
    sweep: _Sweep | None
    subset: _Subset | None
    git: _Git | None
    weights: _Weights


_PARTS = TypeAdapter(_Parts)


def digest(value: object) -> str:
    """Return the sha256, in hex, of `value` as canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def describe(
    run_id: str,
    config: Mapping[str, Any],
    choices: Mapping[str, str],
    dataset: Dataset,
    models: Mapping[str, Any],
    overrides: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
) -> Manifest:
    """Return the manifest of a run that is about to start.

    `config` is the resolved configuration; its OPERATIONAL settings are left out, and
    `dataset.key` becomes the answer key that the data set was loaded with. `choices` name the
    `strategy`; models that they do not name are null. `models`: see Built.described. `overrides`
    and `arguments` (None: those of this process): see command.

    Raises InputError on a number that JSON does not have.
    """
    kept = _without_operational(config)
    kept["dataset"] = {**kept.get("dataset", {}), "key": dataset.key.name}
    if not kept.get("metric"):  # none of the user's
        choices = {group: option for group, option in choices.items() if group != "metric"}
    for name, value in leaves(kept):
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{name}: {value} is no number to run with; use another")
    described = {
        "run_id": run_id,
        "schema_version": SCHEMA_VERSION,
        "status": "running",
        "command": command(sys.argv[1:] if arguments is None else arguments, overrides),
        "strategy": choices["strategy"],
        "dataset": dataset.name,
        "choices": dict(choices),
        "config": kept,
        "config_sha256": digest({"config": kept, "choices": dict(choices)}),
        "data": [asdict(file) for file in dataset.files],
        "key": asdict(dataset.key) | {"wrong": list(dataset.key.wrong)},
        "questions": len(dataset.questions),
        "subset": None if dataset.subset is None else asdict(dataset.subset),
        **({} if dataset.evidence is None else {"evidence": asdict(dataset.evidence)}),
        "repairs": list(dataset.repairs),
        "git": git_state(),
        "packages": dict(versions()),
        "scoring": protocol_names(config["scoring"]),
        **models,
        "models": {name: _option(choices, name) for name in ("embedder", "reader", "judge")},
        **manifest_fields(
            (config.get("retrieval") or {}).get("depth"),
            dataset.conversations,
            by_owner=bool((config.get("dataset") or {}).get("owner_filter")),
        ),
        "seed": config["seed"],
        "machine": machine(),
        "started": now(),
        "ended": None,
        "resumed": [],
        "warnings": [],
    }
    return cast(Manifest, described)


def _without_operational(config: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in config.items() if name not in OPERATIONAL}
    for group in ("llm", "judge_llm"):
        if group in kept:
            own = kept[group]
            kept[group] = {name: own[name] for name in own if name not in OPERATIONAL_OF_MODELS}
    return kept


def _option(choices: Mapping[str, str], name: str) -> str | None:
    option = choices.get(name)
    return None if option == "none" else option


def command(arguments: Sequence[str], overrides: Sequence[str]) -> str:
    """Return the command that repeats this one run, quoted for a shell.

    `arguments` of a sweep list the values of all its runs; `overrides` contain those of this run,
    with the values that an experiment adds. Options of the sweep itself are left out.
    """
    by_name = {override.partition("=")[0]: override for override in overrides}
    single = [argument for argument in arguments if not argument.lstrip("+").startswith(_OF_SWEEPS)]
    values = [by_name.get(argument.partition("=")[0], argument) for argument in single]
    added = [override for override in overrides if override not in values]
    return shlex.join(["python", "-m", "eval.run", *values, *added])


def resume_command(manifest: Manifest, *more: str) -> str:
    """Return the command that resumes the run, with the arguments `more`, quoted for a shell.

    If its budget stopped the run, a higher one replaces it.
    """
    arguments = shlex.split(manifest["command"])
    if enough := manifest.get("budget_usd"):
        arguments = [arg for arg in arguments if not arg.lstrip("+").startswith(f"{_BUDGET}=")]
        arguments.append(f"{_BUDGET}={enough:.2g}")
    return shlex.join([*arguments, *more, f"resume={manifest['run_id']}"])


def check_same_run(old: Manifest, new: Manifest) -> None:
    """Raise InputError unless the run of the manifest `old` may be resumed as `new`."""
    where = f"resume={old['run_id']}"
    if old["config_sha256"] != new["config_sha256"]:
        before, after = dict(leaves(old["config"])), dict(leaves(new["config"]))
        fields = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        raise InputError(
            f"{where}: the configuration differs in {', '.join(fields) or 'a choice'}; "
            f"repeat the run's own command ({old['command']}) or start a new run"
        )
    for name, words in _FILES.items():
        if old.get(name) != new.get(name):
            raise InputError(f"{where}: {words} changed since; start a new run")


def leaves(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a nested configuration with its dotted path."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def load_manifest(folder: Path) -> Manifest:
    """Read and validate the manifest of a run folder.

    Raises InputError naming the invalid or edited field, or the version of memsys that wrote it, if
    that is another.
    """
    path = folder / MANIFEST
    if not is_there(path):
        raise InputError(f"{folder}: holds no run ({MANIFEST} is missing); name a run folder")
    data = read_bytes(path, _MOST, linked=False)
    with problems(f"{path}: cannot be read", "; restore it from a copy, or run it again"):
        text = data.decode()
        manifest = parse_json(text)
    if not isinstance(manifest, dict) or "config_sha256" not in manifest:
        raise InputError(f"{path}: not the manifest of a run")
    if manifest.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise InputError(
            f"{folder}: written by another version of memsys (schema "
            f"{manifest['schema_version']!r:.60}, now {SCHEMA_VERSION}); run it again"
        )
    for schema in (MANIFEST_SCHEMA, _PARTS):
        validate(schema, text, str(path))
    loaded = cast(Manifest, copy.deepcopy(dict(MANIFEST_DEFAULTS)) | manifest)
    config, choices = loaded["config"], loaded["choices"]
    if digest({"config": config, "choices": choices}) != loaded["config_sha256"]:
        raise InputError(
            f"{path}: config or choices were edited, as config_sha256 does not fit them; restore "
            "them, or run it again"
        )
    settings = dict(leaves(config))
    for name, value, configured in (
        ("seed", loaded["seed"], settings.get("seed")),
        ("strategy", loaded["strategy"], choices.get("strategy")),
        ("scoring", loaded["scoring"], settings.get("scoring.protocols")),
        ("key.name", loaded["key"]["name"], settings.get("dataset.key")),
        ("evidence.name", evidence_name(loaded), settings.get("dataset.evidence")),
    ):
        if configured is not None and value != configured:
            raise InputError(
                f"{path}: {name}: {value!r:.60} was edited, as the configuration says "
                f"{configured!r:.60}; restore it, or run it again"
            )
    return loaded
