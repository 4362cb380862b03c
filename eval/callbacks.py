"""What a sweep prints at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from eval.records import SUMMARY
from eval.tables import by_run, plain


class SweepTable(Callback):
    """Collects the summary of each run of a sweep and prints them side by side.

    A row is named by the overrides in which the runs differ.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[list[str], dict[str, Any]]] = []

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Keep the summary of a run that came to its end."""
        path = Path(config.hydra.runtime.output_dir) / SUMMARY
        if path.exists() and job_return.status.name == "COMPLETED":
            summary = json.loads(path.read_text(encoding="utf-8"))
            self._runs.append((list(config.hydra.overrides.task), summary))

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:  # noqa: ARG002
        """Print the table."""
        if not self._runs:
            return
        common = set.intersection(*(set(overrides) for overrides, _ in self._runs))
        named = [
            (" ".join(o.removeprefix("strategy=") for o in overrides if o not in common), summary)
            for overrides, summary in self._runs
        ]
        rows = [(name or summary["strategy"], summary) for name, summary in named]
        print("\nTypes 1-4, mean with 95% interval:\n" + plain(*by_run(rows)))
