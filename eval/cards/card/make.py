"""Score cards of runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from eval.answers.layout import PLUS
from eval.cards.card import answers as answer_files
from eval.cards.card import rankings as ranking_files
from eval.cards.card.answers import Answers, file_entry
from eval.cards.card.data import files_of, load_keys, named, option_of, published, settings_of
from eval.cards.card.rankings import Rankings, is_of_rankings
from eval.cards.card.schema import Card, CardFile, Code, Origin, Reading, is_absolute
from eval.cards.card.scores import Computed, compute
from eval.datasets.types import Dataset, SourceFile
from eval.records.head import made_with
from eval.records.manifest import git_state, now
from eval.records.run import Run, load_run
from eval.records.schema import FileEntry, Manifest
from eval.summary.imported import IMPORTED
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError, first_problem
from memsys.core.places import RECORDS

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
    _check_data(manifest, first, loaded.folder)
    given = _answers(loaded, answers, first)
    ranked = _rankings(loaded, rankings, config, first)
    computed = compute(datasets, given, ranked)
    if not computed.scores:
        raise InputError(f"{loaded.folder}: has no score; name a run with answers or rankings")
    files = [*files_of(datasets), *weights_of(manifest)]
    if given is not None:
        files.append(given.card_file(first.questions))
    if ranked is not None and _has_rankings(computed):
        files.append(ranked.card_file(computed.counted))
        _check_same(loaded, rankings, ranked, computed, first)
    fields = {
        "system": manifest["strategy"],
        "kind": kind_of(manifest),
        "made_at": now(),
        "command": _command(manifest),
        "code": _code(_version(), git_state()),
        "run_code": _run_code(manifest),
        "config_sha256": manifest["config_sha256"],
        "dataset": published(config),
        "models": _models(manifest, models or {}),
        "origin": origin,
        "unknown": list(unknown),
        "reading": _reading(manifest),
        "rows": rows_of(first, computed, given),
        "files": files,
        "scores": [number.rounded() for number in computed.scores],
    }
    try:
        return Card.model_validate(fields)
    except ValidationError as error:
        raise InputError(f"{loaded.folder}: {first_problem(error)}") from error


def rows_of(dataset: Dataset, computed: Computed, answers: Answers | None) -> dict[str, int]:
    """Return the counts of a card."""
    counts = {"questions": len(dataset.questions), "matched": computed.matched}
    counts |= {"conversations": computed.conversations, "errors": computed.errors}
    return counts | (dict(answers.read) if answers is not None else {})


def kind_of(manifest: Manifest) -> Literal["run", "imported"]:
    """Return whether a strategy here or another system answered."""
    return "imported" if manifest.get("kind") == IMPORTED else "run"


def weights_of(manifest: Manifest) -> list[CardFile]:
    """Return the file of weights that the configuration of the run names."""
    used = manifest.get("weights")
    return [file_entry("weights", _source(used))] if used else []


def _answers(run: Run, path: Path | None, dataset: Dataset) -> Answers | None:
    """Return the answers of a run, as those of the file that others have; None without any."""
    imported = (run.manifest["config"].get("import") or {}).get("file")
    if run.manifest.get("kind") == IMPORTED and imported is not None:
        file = _source(imported)
    else:
        file = answer_files.source_of(run.folder / RECORDS)
    found = answer_files.of_run(run, file)
    if not found.rows:
        return None
    if path is None:
        return found
    given = answer_files.read_any(path, dataset)
    if given.sha256(dataset.questions) != found.sha256(dataset.questions):
        raise InputError(f"{path}: contains other answers than {run.folder}; name the run's file")
    return given


def _rankings(
    run: Run, path: Path | None, config: Mapping[str, Any], dataset: Dataset
) -> Rankings | None:
    if path is not None:
        return ranking_files.read_any(path, config, dataset)
    return ranking_files.of_run(run, dataset) if run.rankings else None


def _has_rankings(computed: Computed) -> bool:
    return any(is_of_rankings(number.measure) for number in computed.scores)


def _check_same(
    run: Run, path: Path | None, given: Rankings, computed: Computed, dataset: Dataset
) -> None:
    """Raise InputError unless the given rankings are those that the run has, if it has any."""
    if path is None or not run.rankings:
        return
    own = ranking_files.of_run(run, dataset).card_file(computed.counted)
    if own.rows_sha256 != given.card_file(computed.counted).rows_sha256:
        raise InputError(f"{path}: contains other rankings than {run.folder}; name the run's file")


def _check_data(manifest: Manifest, dataset: Dataset, folder: Path) -> None:
    if {file["sha256"] for file in manifest["data"]} != {file.sha256 for file in dataset.files}:
        names = ", ".join(file["name"] for file in manifest["data"])
        raise InputError(
            f"{folder}: was run on {names}, which has changed or is elsewhere; name it by --dataset"
        )


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
    if strange := sorted(given.keys() - set(_MODELS)):
        raise InputError(f"--model {strange[0]}=...: no such role; use {', '.join(_MODELS)}")
    judge = manifest.get("judge")
    known = {**manifest["models"], "llm": manifest["llm"]}
    known["judge"] = judge["name"] if judge else None
    known["embedder"] = known.get("embedder") and made_with(manifest).get("embedder")
    return {role: given.get(role, known.get(role)) for role in _MODELS}


def _reading(manifest: Manifest) -> Reading | None:
    """Return how the answers of an import were read; None for another run."""
    imported = manifest["config"].get("import") or {}
    if "columns" not in imported:
        return None
    columns = {name: given.split(PLUS) for name, given in imported["columns"].items()}
    return Reading(rows=option_of(manifest, "--rows"), columns=columns)


def _run_code(manifest: Manifest) -> Code | None:
    if manifest.get("kind") == IMPORTED:
        return None
    return _code((manifest.get("packages") or {}).get("memsys"), manifest.get("git"))


def _code(number: str | None, state: Mapping[str, Any] | None) -> Code:
    return Code(version=number, **(state or {}))


def _version() -> str | None:
    try:
        return version("memsys")
    except PackageNotFoundError:
        return None


def _source(entry: FileEntry | Mapping[str, Any]) -> SourceFile:
    return SourceFile(entry["name"], entry["bytes"], entry["sha256"])
