"""What a sweep prints at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from eval.records import SUMMARY
from eval.tables import by_run, plain

# Overrides and summary of each run of the sweep under way: Hydra gives no way to its callbacks.
_runs: list[tuple[list[str], dict[str, Any]]] = []


class SweepTable(Callback):
    """Collects the summary of each run of a sweep."""

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Keep the summary of a run that came to its end."""
        path = Path(config.hydra.runtime.output_dir) / SUMMARY
        sweep = config.hydra.mode == RunMode.MULTIRUN
        if sweep and path.exists() and job_return.status.name == "COMPLETED":
            summary = json.loads(path.read_text(encoding="utf-8"))
            _runs.append((list(config.hydra.overrides.task), summary))


def show_sweep() -> None:
    """Print the runs of the sweep side by side, if there were any, and forget them.

    A row is named by the overrides in which the runs differ. Hydra's own `on_multirun_end` would
    not do: it is left out where a run of the sweep failed.
    """
    if not _runs:
        return
    common = set.intersection(*(set(overrides) for overrides, _ in _runs))
    named = [
        (" ".join(o.removeprefix("strategy=") for o in overrides if o not in common), summary)
        for overrides, summary in _runs
    ]
    rows = [(name or summary["strategy"], summary) for name, summary in named]
    print("\nTypes 1-4, mean with 95% interval:\n" + plain(*by_run(rows)))
    _runs.clear()
