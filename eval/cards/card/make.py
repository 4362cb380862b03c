"""Score cards of runs, and the data set behind a card, under each of its answer keys."""

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from eval.answers.layout import PLUS
from eval.cards.card.schema import (
    ANSWERS,
    RANKINGS,
    Card,
    CardFile,
    Code,
    Origin,
    Reading,
    Role,
    is_absolute,
)
from eval.cards.card.sources import (
    Answers,
    answers_from,
    answers_of,
    file_entry,
    is_of_rankings,
    rankings_from,
    rankings_of,
    source_of,
)
from eval.cards.scores import Computed, compute, rounded
from eval.datasets.answer_key import KEYS
from eval.datasets.reload import config_of, load_dataset_of
from eval.datasets.types import Dataset, SourceFile
from eval.imports.rescore.recompute import check_files
from eval.records.answer_key_views import ORIGINAL, evidence_name, key_name
from eval.records.environment import git_state, now, versions
from eval.records.head import made_with
from eval.records.run import Run, load_run
from eval.records.schema import Manifest
from eval.summary.closing import IMPORTED
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError, check_choice, problems
from memsys.core.places import RECORDS

_DEFAULT = "locomo"
_MODELS = ("reader", "judge", "embedder", "llm")


def card_of(
    run: str | Path,
    *,
    answers: Path | None = None,
    rankings: Path | None = None,
    origin: Origin | None = None,
    unknown: Sequence[str] = (),
    models: Mapping[str, str] | None = None,
    dataset: str | None = None,
    key_file: str | None = None,
) -> Card:
    """Return the score card of a run; all scores are computed again from its answers.

    `answers`, `rankings`: files that others will verify the card by, where they are not those of
    the run; they must contain the same rows. `models`: names by role that the run does not contain.
    `dataset`, `key_file`: where the files of the data set and of its answer key are, if they are
    elsewhere now. Raises InputError if the run is incomplete, a file differs from the run, or the
    data set is not the run's.
    """
    loaded = load_run(run, answered=False)
    manifest = loaded.manifest
    config = named(settings_of(manifest), dataset, key_file)
    datasets, _ = load_keys(config)
    first = next(iter(datasets.values()))
    check_files(first, manifest, loaded.folder)
    given = _answers(loaded, first)
    ranked = rankings_of(loaded, first) if loaded.rankings else None
    computed = own = compute(datasets, given, ranked)
    if answers is not None or rankings is not None:
        if given is not None and answers is not None:
            given = answers_from(answers, first)
        if rankings is not None:
            ranked = rankings_from(rankings, config, first)
        computed = compute(datasets, given, ranked)
        _check_same({ANSWERS: answers, RANKINGS: rankings}, computed, own, loaded.folder)
    if not computed.means:
        raise InputError(f"{loaded.folder}: has no score; name a run with answers or rankings")
    files = dict(computed.files)
    if not any(is_of_rankings(mean.column.measure) for mean in computed.means):
        files.pop(RANKINGS, None)
    kind = kind_of(manifest)
    fields = {
        "system": manifest["strategy"],
        "kind": kind,
        "made_at": now(),
        "command": _command(manifest),
        "code": _code(versions(), git_state()),
        "run_code": _code(manifest.get("packages"), manifest.get("git")) if kind == "run" else None,
        "config_sha256": manifest["config_sha256"],
        "dataset": published(config),
        "models": _models(manifest, models or {}),
        "origin": origin,
        "unknown": list(unknown),
        "reading": _reading(manifest),
        "rows": computed.rows,
        "files": [*files_of(datasets), *weights_of(manifest), *files.values()],
        "scores": [rounded(mean) for mean in computed.means],
    }
    with problems(loaded.folder):
        return Card.model_validate(fields)


def settings_of(manifest: Manifest) -> dict[str, Any]:
    """Return the configuration that loads the data set of a run, under the run's keys.

    An import names its data set in its command.
    """
    config = dict(manifest["config"].get("dataset") or {})
    key, evidence = key_name(manifest), evidence_name(manifest)
    if "_target_" not in config:
        name = option_of(manifest, "--dataset") or _DEFAULT
        config = config_of(name, key, option_of(manifest, "--key-file"), evidence)
    if "key" in config or "key_file" in config:
        config["key"] = key
    return {
        name: value for name, value in config.items() if name == "key_file" or value is not None
    }


def option_of(manifest: Manifest, name: str) -> str | None:
    """Return the value of the option `name` in the command of a run; None if it has none."""
    words = shlex.split(manifest["command"])
    return words[words.index(name) + 1] if name in words[:-1] else None


def published(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `config` without the folders of this machine: an absolute path becomes its name."""
    return {
        name: Path(value).name if isinstance(value, str) and is_absolute(value) else value
        for name, value in config.items()
    }


def named(config: Mapping[str, Any], dataset: str | None, key_file: str | None) -> dict[str, Any]:
    """Return `config` with the files that the options `--dataset` and `--key-file` name. A path
    is of a file in the format that `config` says.
    """
    settings = dict(config)
    if dataset is not None:
        given = config_of(dataset, ORIGINAL, None)
        fields = ("path",) if given.get("path") == dataset else ("_target_", "path")
        settings.pop("path", None)
        settings |= {name: given[name] for name in fields if given.get(name) is not None}
    return settings | ({} if key_file is None else {"key_file": key_file})


def load_keys(config: Mapping[str, Any]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """Return the data set by answer key, that of `config` first, and why others cannot be loaded.

    A data set without known errors has one key. Raises InputError if the data set itself cannot
    be loaded.
    """
    own = str(config.get("key") or ORIGINAL)
    try:
        first = _load(json.dumps(dict(config), sort_keys=True))
    except InputError as error:
        raise InputError(f"{error} (--dataset says where the data set is)") from error
    datasets, missing = {own: first}, dict[str, str]()
    if first.key.overlay is None:
        return datasets, missing
    for key in KEYS:
        if key != own:
            try:
                datasets[key] = _load(json.dumps({**config, "key": key}, sort_keys=True))
            except InputError as error:
                missing[key] = str(error)
    return datasets, missing


def files_of(datasets: Mapping[str, Dataset]) -> list[CardFile]:
    """Return the files of the data set, its answer keys, its evidence key and its subset.

    The list of errors of the answer key fixes each corrected answer by its hash, in whatever file
    the texts are.
    """
    first = next(iter(datasets.values()))
    listed = [("data", file) for file in first.files]
    listed += [("key", first.key.overlay)] if first.key.overlay else []
    listed += [("evidence", first.evidence.overlay)] if first.evidence else []
    listed += [("subset", first.subset.file)] if first.subset else []
    return [file_entry(role, file) for role, file in listed]


@lru_cache(maxsize=len(KEYS))  # cards of one data set are mostly verified together
def _load(config: str) -> Dataset:
    return load_dataset_of(json.loads(config))


def kind_of(manifest: Manifest) -> Literal["run", "imported"]:
    """Return whether a strategy here or another system answered."""
    return "imported" if manifest.get("kind") == IMPORTED else "run"


def weights_of(manifest: Manifest) -> list[CardFile]:
    """Return the file of weights that the configuration of the run names."""
    used = manifest.get("weights")
    return [file_entry("weights", SourceFile(**used))] if used else []


def _answers(run: Run, dataset: Dataset) -> Answers | None:
    """Return the answers of a run, if an import as those of the imported file; None without any."""
    imported = (run.manifest["config"].get("import") or {}).get("file")
    if run.manifest.get("kind") == IMPORTED and imported is not None:
        file = SourceFile(**imported)
    else:
        file = source_of(run.folder / RECORDS)
    answers = answers_of(run, file, dataset)
    return answers if answers.records else None


def _check_same(
    paths: Mapping[Role, Path | None], given: Computed, own: Computed, folder: Path
) -> None:
    """Raise InputError if a given file has other rows than the run in `folder`, if that has any."""
    for role, path in paths.items():
        if path is None or role not in own.files:
            continue
        if given.files[role].rows_sha256 != own.files[role].rows_sha256:
            raise InputError(f"{path}: contains other {role} than {folder}; name the run's file")


def _command(manifest: Manifest) -> str:
    """Return the command of a run with names of files in place of paths of this machine."""
    words = [_shortened(word) for word in shlex.split(manifest["command"])]
    return without_secrets(shlex.join(words))


def _shortened(word: str) -> str:
    name, equals, value = word.partition("=")
    if is_absolute(word) and equals and not is_absolute(name):
        return f"{name}={Path(value).name}"
    return Path(word).name if is_absolute(word) else word


def _models(manifest: Manifest, given: Mapping[str, str]) -> dict[str, str | None]:
    for role in given:
        check_choice("--model", role, _MODELS)
    judge = manifest.get("judge")
    models = {**manifest["models"], "llm": manifest["llm"]}
    models["judge"] = judge["name"] if judge else None
    models["embedder"] = models.get("embedder") and made_with(manifest).get("embedder")
    return {role: given.get(role, models.get(role)) for role in _MODELS}


def _reading(manifest: Manifest) -> Reading | None:
    """Return how the answers of an import were read; None for another run."""
    imported = manifest["config"].get("import") or {}
    if "columns" not in imported:
        return None
    columns = {name: given.split(PLUS) for name, given in imported["columns"].items()}
    return Reading(rows=option_of(manifest, "--rows"), columns=columns)


def _code(packages: Any, git: Any) -> Code:
    """Return the version of memsys among `packages`, and the commit of `git`, if they are known."""
    return Code(version=(packages or {}).get("memsys"), **(git or {}))
