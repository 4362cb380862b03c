"""Finished runs for a tracker: read from their folders alone, and logged."""

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, cast

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval.records.answer_key_views import key_name
from eval.records.files import SUMMARY
from eval.records.manifest import leaves, load_manifest
from eval.records.schema import Manifest, Summary
from eval.rendering.errors import configuration_errors
from eval.summary.closing import with_ends
from memsys.core.addresses import json_without_secrets, without_secrets
from memsys.core.errors import InputError, complain, problems
from memsys.core.files import check_entry, read_bytes
from memsys.core.json_text import parse_json
from memsys.core.places import MANIFEST, RECORDS

_FILES = (MANIFEST, SUMMARY, "summary.csv", "report.md", RECORDS)
_ID_LENGTH = 16
_PASSWORD = re.compile(r"//[^/\s@]+@")  # with the user, in an address
_LONGEST = 300  # characters of a message
Parameter = str | int | float | bool


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """Parameters, metrics and tags of a complete run.

    `id`: the same whenever the run is logged again, also after it was resumed or rescored, and
    another for a later run in a folder of the same name. `parameters`: the configuration by dotted
    name, and the chosen option of each group, without nulls. `metrics`: the numbers of summary.csv
    by `TYPE/COLUMN`, such as `overall/f1` with the ends of its interval, `overall/f1_ci_low` and
    `overall/f1_ci_high`; unknown ones are absent. `seconds`: Unix times of start and end.
    """

    id: str
    name: str
    parameters: dict[str, Parameter]
    metrics: dict[str, float]
    tags: dict[str, str]
    seconds: tuple[float, float]
    files: tuple[Path, ...]


class Tracker(Protocol):
    """What an option of the group `tracker` builds. Its constructor raises InputError if it cannot
    be used, such as without its package.
    """

    def log(self, run: FinishedRun) -> None:
        """Log `run`, or update it if it was logged before."""


def tracker_of(config: DictConfig) -> Tracker | None:
    """Return the tracker of the group `tracker`; None if none is chosen.

    Raises InputError if it cannot be used, such as without its package.
    """
    if OmegaConf.select(config, "tracker") is None:
        return None
    with configuration_errors():
        return cast(Tracker, instantiate(config.tracker))


def log_run(tracker: Tracker, folder: Path) -> bool:
    """Log the run in `folder`, or print a warning with the reason; return whether it was logged."""
    try:
        tracker.log(read(folder))
    except Exception as error:
        reason = _PASSWORD.sub("//", without_secrets(" ".join(str(error).split())))
        complain(
            f"{folder.name} was not logged: {type(error).__name__}: {reason:.{_LONGEST}}; "
            f"to log it: python -m eval track {folder.name} tracker=...",
            "warning",
        )
        return False
    return True


def read(folder: Path) -> FinishedRun:
    """Read the run in `folder`. Raises InputError if it is not complete, or cannot be read."""
    manifest: Manifest = json_without_secrets(load_manifest(folder))
    if manifest["status"] != "complete":
        raise InputError(f"{folder}: the run is {manifest['status']}; resume it to its end first")
    path = folder / SUMMARY
    with problems(path, "; write it again by python -m eval rescore"):
        summary = cast(Summary, parse_json(read_bytes(path, linked=False)))
    began, ended = manifest["started"], manifest["ended"]
    settings = (*manifest["choices"].items(), *leaves(manifest["config"]))
    parameters: dict[str, Parameter] = {
        name: value if isinstance(value, str | int | float) else str(value)
        for name, value in settings
        if value is not None
    }
    times = [datetime.fromisoformat(time).timestamp() for time in (began, ended or began)]
    files = [folder / name for name in _FILES]
    for file in files:
        check_entry(file)  # a link is not uploaded
    return FinishedRun(
        hashlib.sha256(f"{manifest['run_id']} {began}".encode()).hexdigest()[:_ID_LENGTH],
        manifest["run_id"],
        parameters,
        dict(_metrics(manifest, summary)),
        {name: text for name, text in _tags(manifest, summary).items() if text},
        (times[0], times[1]),
        tuple(file for file in files if file.is_file()),
    )


def _metrics(manifest: Manifest, summary: Summary) -> Iterator[tuple[str, float]]:
    for type_, cell in summary["by_type"].items():
        for column, value in with_ends(cell).items() if cell["n"] else ():
            if isinstance(value, int | float) and math.isfinite(value):
                yield f"{type_}/{column}", float(value)
    for part, spent in manifest.get("seconds", {}).items():
        yield f"seconds/{part}", spent


def _tags(manifest: Manifest, summary: Summary) -> dict[str, str]:
    git = manifest.get("git") or {}
    return {
        **{name: manifest[name] for name in ("run_id", "dataset", "strategy", "config_sha256")},
        "data_sha256": " ".join(file["sha256"] for file in manifest["data"]),
        "commit": git.get("commit", "") + "-dirty" * git.get("dirty", False),
        "answer_key": key_name(manifest),
        "sweep": (manifest["sweep"] or {}).get("id", ""),
        "intervals": summary["interval"],
        "command": manifest["command"],
    }
