"""Data sets that a command's --dataset names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.datasets.files import find_file
from memsys.errors import InputError

ORIGINAL = "original"
NAMES = "locomo|sample|longmemeval|PATH"
_LOCOMO, _LONGMEMEVAL = "eval.datasets.locomo.LoCoMo", "eval.datasets.longmemeval.LongMemEval"
_KNOWN: Mapping[str, Mapping[str, str | None]] = {
    "locomo": {"_target_": _LOCOMO, "path": None},
    "sample": {"_target_": _LOCOMO, "path": "data/sample"},
    "longmemeval": {"_target_": _LONGMEMEVAL, "path": None},
}


def config_of(
    name: str, key: str, key_file: str | None, evidence: str = ORIGINAL
) -> dict[str, Any]:
    """Return the configuration, for load_dataset_of, of the data set `name`: one of NAMES, where
    PATH is a file or folder in LoCoMo's format.

    `key`, `key_file`: the answer key; `evidence`: the evidence key. Raises InputError if there is
    no such file.
    """
    if name not in _KNOWN and find_file(name) is None:
        raise InputError(
            f"--dataset {name:.200}: no such file; give {', '.join(_KNOWN)} or a JSON file"
        )
    chosen = _KNOWN.get(name, {"_target_": _LOCOMO, "path": name})
    cited = {} if evidence == ORIGINAL else {"evidence": evidence}
    return {**chosen, "name": Path(name).stem, "key": key, "key_file": key_file, **cited}
