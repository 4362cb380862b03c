"""The systems of the leaderboard: files of published answers, and runs of our strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.cards.leaderboard.facts import Facts, SystemFacts
from eval.datasets.types import Dataset
from eval.imports.rescore.imports import read_import, write_import
from eval.records.manifest import load_manifest
from eval.summary.imported import IMPORTED, system_name
from memsys.core.errors import InputError
from memsys.core.places import MANIFEST, RUNS, find_run

DATASET = "locomo"
_ENDINGS = (".jsonl", ".json", ".csv")  # each gzipped or not
STRATEGIES = (
    *("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate"),
    *("no_memory", "oracle", "bm25", "hybrid_rank", "graph_walk", "fusion"),
    "late_interaction_fusion",
)


@dataclass(frozen=True, slots=True)
class Published:
    """Answers of a system: their file, the folder of the run made of it, and what is known of the
    source.
    """

    name: str
    path: Path
    folder: Path
    facts: SystemFacts


def published(answers: Path, dataset: Dataset, facts: Facts, runs: Path) -> list[Published]:
    """Import each file in the folder `answers` into a run folder in `runs`, by name.

    Raises InputError if there is none, or one cannot be imported.
    """
    paths = sorted(answers.iterdir()) if answers.is_dir() else []
    paths = [path for path in paths if path.name.removesuffix(".gz").endswith(_ENDINGS)]
    if not paths:
        kinds = ", ".join(_ENDINGS)
        raise InputError(f"{answers}: no file of answers ({kinds}); name a folder with --answers")
    found: dict[str, Published] = {}
    for path in paths:
        name = system_name(None, path)
        if name in found:
            raise InputError(f"{path}: {found[name].path.name} has the same name; rename one")
        source = read_import(path, None, name, dataset)
        known = facts.of(name, source.file.source.sha256)
        write_import(source, runs / name, {"dataset": dataset.name, "name": name})
        found[name] = Published(name, path, runs / name, known)
    return list(found.values())


def strategies_of(names: Sequence[str]) -> dict[str, Path]:
    """Return the run folders of our strategies: those named, else the newest complete ones under
    results/runs by `command`.

    Raises InputError for two runs of one strategy, or answers of another system.
    """
    if not names:
        return _newest()
    found: dict[str, Path] = {}
    for folder in map(find_run, names):
        manifest = load_manifest(folder)
        if manifest.get("kind") == IMPORTED:
            raise InputError(f"{folder}: has answers of another system; put them in --answers")
        if other := found.get(manifest["strategy"]):
            raise InputError(f"{folder}: {other} is of {manifest['strategy']} as well; name one")
        found[manifest["strategy"]] = folder
    return found


def command(strategy: str) -> str:
    """Return the command of a run of `strategy` with default settings."""
    return f"python -m eval.run dataset={DATASET} strategy={strategy}"


def _newest() -> dict[str, Path]:
    latest: dict[str, tuple[str, Path]] = {}
    for path in sorted(RUNS.glob(f"*/{MANIFEST}")) if RUNS.is_dir() else ():
        try:
            manifest = load_manifest(path.parent)
        except InputError:
            continue  # of an earlier version, or torn
        name = manifest["strategy"]
        default = {*manifest["command"].split()} == {*command(name).split()}
        if manifest["status"] == "complete" and default:
            latest[name] = max(latest.get(name, ("", path)), (manifest["started"], path.parent))
    return {name: latest[name][1] for name in STRATEGIES if name in latest}
