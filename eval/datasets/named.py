"""Data sets that a command's --dataset names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.datasets.beir import QUERIES
from eval.datasets.files import find_file
from memsys.core.errors import InputError

ORIGINAL = "original"
NAMES = "locomo|locomo_plus|realtalk|sample|sample_hard|longmemeval|PATH"
_LOCOMO = "eval.datasets.locomo.LoCoMo"
_WITH_KEYS: Mapping[str, Mapping[str, str | None]] = {
    "locomo": {"_target_": _LOCOMO, "path": None},
    "sample": {"_target_": _LOCOMO, "path": "data/sample"},
    "sample_hard": {"_target_": _LOCOMO, "path": "data/sample_hard"},
    "longmemeval": {
        "_target_": "eval.datasets.longmemeval.LongMemEval",
        "path": None,
        "session_ids": "neutral",
    },
}
_OTHERS: Mapping[str, str] = {
    "locomo_plus": "eval.datasets.locomo_plus.LoCoMoPlus",
    "realtalk": "eval.datasets.realtalk.RealTalk",
}


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
        path = find_file(name)
        if path is None:
            raise InputError(
                f"{setting} {name:.200}: no such file; give {', '.join([*_WITH_KEYS, *_OTHERS])}, "
                "a file or folder in LoCoMo's format, or a folder in BEIR's"
            )
        if path.is_dir() and any(path.rglob(f"{QUERIES}*")):
            return {"_target_": "eval.datasets.beir.Beir", "name": path.name, "path": name}
        options = {"_target_": _LOCOMO, "path": name}
    cited = {} if evidence == ORIGINAL else {"evidence": evidence}
    return {**options, "name": Path(name).stem, "key": key, "key_file": key_file, **cited}
