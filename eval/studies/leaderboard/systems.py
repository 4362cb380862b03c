"""The systems of the leaderboard: files of published answers, and runs of our strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.datasets.types import Dataset
from eval.records.manifest import load_manifest
from eval.records.run import Run, load_run
from eval.rescore.imports import read_import, write_import
from eval.studies.leaderboard.facts import Facts, SystemFacts
from eval.summary.imported import IMPORTED, system_name
from memsys.errors import InputError
from memsys.places import MANIFEST, RUNS

DATASET = "locomo"
ANSWERS = "*.jsonl.gz"
STRATEGIES = (
    *("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate"),
    *("no_memory", "oracle", "bm25", "hybrid_rank", "graph_walk", "fusion"),
    "late_interaction_fusion",
)


@dataclass(frozen=True, slots=True)
class Published:
    """Answers of a system: their file, the run made of it, and what is known of the source."""

    name: str
    path: Path
    run: Run
    facts: SystemFacts


def published(folder: Path, dataset: Dataset, facts: Facts, runs: Path) -> list[Published]:
    """Import each file of answers in `folder` into a run folder in `runs`, by name.

    Raises InputError if there is none, or one cannot be imported.
    """
    paths = sorted(folder.glob(ANSWERS)) if folder.is_dir() else []
    if not paths:
        raise InputError(f"{folder}: no {ANSWERS} files; name a folder of answers with --answers")
    found = []
    for path in paths:
        name = system_name(None, path)
        source = read_import(path, "auto", name, dataset)
        known = facts.of(name, source.file.source.sha256)
        write_import(source, runs / name, {"dataset": dataset.name, "name": name})
        found.append(Published(name, path, load_run(runs / name, label=name), known))
    return found


def strategy_runs(names: Sequence[str]) -> tuple[list[Run], list[str]]:
    """Return the runs of our strategies, one each, and the strategies without a run: those named,
    else the newest complete one under results/runs of each of STRATEGIES by `command`.

    Raises InputError for two runs of one strategy, or answers of another system.
    """
    runs = [load_run(name) for name in names] or [load_run(folder) for folder in _newest()]
    strategies = [run.strategy for run in runs]
    for run in runs:
        if run.manifest.get("kind") == IMPORTED:
            raise InputError(f"{run.label}: has answers of another system; put them in --answers")
        if strategies.count(run.strategy) > 1:
            raise InputError(f"{run.label}: another run is of {run.strategy} as well; name one")
    missing = [] if names else [one for one in STRATEGIES if one not in strategies]
    return runs, missing


def command(strategy: str) -> str:
    """Return the command of a run of `strategy` with default settings."""
    return f"python -m eval.run dataset={DATASET} strategy={strategy}"


def _newest() -> list[Path]:
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
    return [latest[name][1] for name in STRATEGIES if name in latest]
