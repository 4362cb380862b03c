"""A run's data set, loaded again from the configuration in its manifest.

A run folder may come from an untrusted source: of its manifest only objects of classes that a
trusted module defines are built, with plain values as arguments.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from eval.datasets.types import Dataset
from memsys.errors import InputError

_PACKAGE = "eval.datasets."
TRUSTED = "MEMSYS_DATASETS"  # environment variable: further modules, separated by commas


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
    modules = [name for name in os.environ.get(TRUSTED, "").split(",") if name]
    source = build_trusted(options, _PACKAGE, modules)
    if not callable(getattr(source, "load", None)):
        raise InputError(f"the manifest's {options['_target_']} is not a data set")
    try:
        dataset = source.load()
    except TypeError as error:
        raise InputError(f"the manifest's data set cannot be loaded ({error})") from error
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


def build_trusted(config: Mapping[str, Any], package: str, modules: list[str]) -> Any:
    """Return the object that `config` describes by `_target_` and plain arguments.

    Its class must be defined in a module of `package` (with a final dot) or in one of `modules`.
    Raises InputError for any other target, and for arguments that do not fit the class.
    """
    target = str(config.get("_target_", ""))
    module, _, name = target.rpartition(".")
    arguments = {key: value for key, value in config.items() if not key.startswith("_")}
    trusted = module.startswith(package) or module in modules
    if not trusted or any(isinstance(value, Mapping) for value in arguments.values()):
        raise InputError(
            f"the manifest's {target or 'settings'} cannot be loaded again: only classes of "
            f"{package.rstrip('.')} are, with plain values (docs/extend.md)"
        )
    try:
        cls = getattr(importlib.import_module(module), name, None)
    except ImportError:
        cls = None
    if not isinstance(cls, type) or cls.__module__ != module:
        raise InputError(f"the manifest's {target} is not known here")
    try:
        return cls(**arguments)
    except TypeError as error:
        raise InputError(f"the manifest's {target} cannot be built ({error})") from error
