"""The data set behind a card, under each of its answer keys, and the files that it is from."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from eval.cards.card.schema import CardFile, is_absolute
from eval.cards.card.sources import file_entry
from eval.datasets.answer_key import KEYS
from eval.datasets.named import config_of
from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Dataset
from eval.records.answer_key_views import ORIGINAL, evidence_name, key_name
from eval.records.schema import Manifest
from memsys.core.errors import InputError

_DEFAULT = "locomo"


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
    found = dict(config)
    if dataset is not None:
        given = config_of(dataset, ORIGINAL, None)
        chosen = ("path",) if given.get("path") == dataset else ("_target_", "path")
        found.pop("path", None)
        found |= {name: given[name] for name in chosen if given.get(name) is not None}
    return found | ({} if key_file is None else {"key_file": key_file})


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
    found, missing = {own: first}, dict[str, str]()
    if first.key.overlay is None:
        return found, missing
    for key in KEYS:
        if key != own:
            try:
                found[key] = _load(json.dumps({**config, "key": key}, sort_keys=True))
            except InputError as error:
                missing[key] = str(error)
    return found, missing


def files_of(datasets: Mapping[str, Dataset]) -> list[CardFile]:
    """Return the files of the data set, its answer keys, its evidence key and its subset.

    The list of errors of the answer key fixes each corrected answer by its hash, in whatever file
    the texts are.
    """
    first = next(iter(datasets.values()))
    found = [file_entry("data", file) for file in first.files]
    if first.key.overlay is not None:
        found.append(file_entry("key", first.key.overlay))
    if first.evidence is not None:
        found.append(file_entry("evidence", first.evidence.overlay))
    if first.subset is not None:
        found.append(file_entry("subset", first.subset.file))
    return found


@lru_cache(maxsize=len(KEYS))  # cards of one data set are mostly verified together
def _load(config: str) -> Dataset:
    return load_dataset_of(json.loads(config))
