"""Data sets by the name that a command's --dataset gives, or by the configuration in a manifest.

A run folder may come from an untrusted source: see memsys.core.trusted for what it may name.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from eval.datasets.beir import QUERIES
from eval.datasets.files import find_path
from eval.datasets.types import TABLES, Dataset
from memsys.core.errors import InputError
from memsys.core.trusted import check_config

ORIGINAL = "original"
NAMES = "locomo|locomo_plus|realtalk|sample|sample_hard|longmemeval|PATH"
_WITH_KEYS: Mapping[str, Mapping[str, str | None]] = TABLES["names"]
_OTHERS: Mapping[str, str] = TABLES["names_of_one_key"]


def config_of(
    name: str,
    key: str = ORIGINAL,
    key_file: str | None = None,
    evidence: str = ORIGINAL,
    setting: str = "--dataset",
) -> dict[str, Any]:
    """Return the configuration, for load_dataset_of, of the data set `name`: one of NAMES, where
    PATH is a file or folder in LoCoMo's format, or a folder in that of BEIR.

    `key`, `key_file`: the answer key; `evidence`: the evidence key; BEIR, LoCoMo-Plus and
    REALTALK have one of each; `setting`: what gave the name. Raises InputError if there is no
    such file.
    """
    if name in _OTHERS:
        return {"_target_": _OTHERS[name], "name": name}
    options = _WITH_KEYS.get(name)
    if options is None:
        names = ", ".join([*_WITH_KEYS, *_OTHERS])
        remedy = f"give {names}, a file or folder in LoCoMo's format, or a folder in BEIR's"
        path = find_path(name, remedy, setting, kind="file or folder")
        if path.is_dir() and any(path.rglob(f"{QUERIES}*")):
            return {"_target_": "eval.datasets.beir.Beir", "name": path.name, "path": name}
        options = {**_WITH_KEYS["locomo"], "path": name}
    cited = {} if evidence == ORIGINAL else {"evidence": evidence}
    return {**options, "name": Path(name).stem, "key": key, "key_file": key_file, **cited}


def load_dataset_of(config: object, *, original_key: bool = False) -> Dataset:
    """Return the data set of a manifest's `config.dataset`.

    `original_key`: under the data set's unchanged answer key, even if the run was scored by
    another; the file with the errors is then not needed. Raises InputError if the class is not
    trusted, or the data cannot be loaded.
    """
    if not isinstance(config, Mapping) or "_target_" not in config:
        raise InputError("the manifest does not say how the data set was loaded")
    options = dict(config)
    if "key_file" not in options:  # manifests name a key for every data set, also without a choice
        options.pop("key", None)
    elif original_key:
        options |= {"key": "original", "key_file": None}
    source = build_trusted(options, "dataset")
    dataset = source.load() if callable(getattr(source, "load", None)) else None
    if not isinstance(dataset, Dataset):
        raise InputError(f"the manifest's {options['_target_']} is not a data set")
    return dataset


def load_original(manifest: Mapping[str, Any]) -> Dataset:
    """Return a run's data set under the original answer key, if its files are unchanged.

    Raises InputError as load_dataset_of does, and if the files' sha256 differ from the run's.
    """
    dataset = load_dataset_of(manifest["config"].get("dataset"), original_key=True)
    if {file.sha256 for file in dataset.files} != {file["sha256"] for file in manifest["data"]}:
        raise InputError("the data set's files are not those that the run read (sha256 differs)")
    return dataset


def build_trusted(config: Mapping[str, Any], group: str) -> Any:
    """Return the object that `config` describes by `_target_` and plain arguments, as an option of
    conf/`group` would. Raises InputError as check_config does, and for arguments that do not fit.
    """
    check_config(config, group, "the manifest")
    arguments = {key: value for key, value in config.items() if not key.startswith("_")}
    if any(isinstance(value, Mapping) for value in arguments.values()):
        raise InputError(f"the manifest: {group}: cannot be loaded again: use plain values")
    module, _, name = str(config.get("_target_")).rpartition(".")
    try:
        return getattr(import_module(module), name)(**arguments)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"the manifest: {group}: cannot be built ({reason})") from error
