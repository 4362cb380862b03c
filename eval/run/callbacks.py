"""What a sweep hands on to its jobs, and what it prints at its end."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from eval.records.jsonl import SUMMARY
from eval.rendering.tables import answered, by_run, plain
from eval.run import hydra_help as naming
from eval.run import sweep

# Here, since a worker of another launcher imports this module with the callbacks that it is sent,
# and it needs the names before it makes a run's folder.
naming.register()


class SweepTable(Callback):
    """Tells each job which sweep it belongs to. Launchers send it to the processes of their jobs as
    it is after `on_multirun_start`.
    """

    def __init__(self) -> None:
        self._sweep: sweep.Sweep | None = None

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """The sweep begins, in the process of the command."""
        self._sweep = sweep.begin(Path(config.hydra.sweep.dir))

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """A job begins, in whichever process; single runs are of no sweep."""
        if self._sweep is not None:
            sweep.enter(self._sweep, config.hydra.job.num)


def show_sweep() -> None:
    """Print the complete runs of the sweep side by side, if there are any, then how to go on with
    the others, and forget the sweep.

    A row is named by the arguments in which the runs differ. Hydra's own `on_multirun_end` would
    not do: it is left out where a run of the sweep failed.
    """
    runs = sweep.runs()
    done = [
        (shlex.split(manifest["command"]), json.loads(path.read_text(encoding="utf-8")))
        for folder, manifest in runs
        if manifest["status"] == "complete" and (path := folder / SUMMARY).exists()
    ]
    if done:
        common = set.intersection(*(set(arguments) for arguments, _ in done))
        rows = [
            (
                " ".join(a.removeprefix("strategy=") for a in arguments if a not in common)
                or summary["strategy"],
                summary,
            )
            for arguments, summary in done
        ]
        counted = " or ".join(sorted({answered(summary) for _, summary in rows}, reverse=True))
        title = counted[0].upper() + counted[1:]
        print(f"\n{title}, mean with 95% interval:\n" + plain(*by_run(rows)))
    for folder, manifest in runs:
        if manifest["status"] != "complete":
            print(
                f"not finished: {folder.name}; go on with:\n"
                f"  {sweep.resume_command(folder, manifest)}",
                file=sys.stderr,
            )
    sweep.end()
