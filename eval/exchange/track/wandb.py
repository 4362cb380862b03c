"""Runs in Weights & Biases: offline in a folder, or on its server."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from eval.exchange.track.finished import FinishedRun
from memsys.core.declared import check_fields
from memsys.core.errors import check_installed

_OFFLINE = "offline"
_LOGIN_S = 30  # to wait for a key to be typed
_LONGEST = 64  # characters of a tag
# Settings under which wandb prints nothing, and sends nothing of the machine.
_QUIET: Mapping[str, Any] = {
    **{"silent": True, "console": "off", "login_timeout": _LOGIN_S},
    **{"host": "", "disable_git": True, "save_code": False, "x_save_requirements": False},
    **dict.fromkeys(("x_disable_meta", "x_disable_machine_info", "x_disable_stats"), True),
}


@dataclass(frozen=True, slots=True)
class WeightsAndBiases:
    """Logs to a `project` of `entity`, a user or team (None: that of the login).

    `mode`: `offline` writes below `dir`, for `wandb sync`; `online` sends it at once.
    `artifacts`: also log the files of the run folder.
    """

    project: str
    entity: str | None
    mode: Literal["offline", "online"]
    dir: str
    artifacts: bool

    def __post_init__(self) -> None:
        """Check the settings, and that wandb is installed; see Tracker."""
        check_fields(self, "tracker")
        check_installed("wandb", "tracker=wandb", "wandb")
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")

    def log(self, run: FinishedRun) -> None:
        """Log `run` in place of what was logged of it before."""
        import wandb  # noqa: PLC0415 - an extra, and a second

        Path(self.dir).mkdir(parents=True, exist_ok=True)
        before = list(Path(self.dir).glob(f"wandb/{_OFFLINE}-run-*-{run.id}"))
        logged = wandb.init(
            id=run.id,
            name=run.name,
            project=self.project,
            entity=self.entity,
            group=run.tags.get("sweep"),
            tags=[run.tags[name][:_LONGEST] for name in ("dataset", "strategy")],
            config={**run.parameters, "run": run.tags},
            mode=self.mode,
            dir=self.dir,
            resume="allow" if self.mode == "online" else None,
            allow_val_change=True,
            reinit="create_new",
            settings=wandb.Settings(**_QUIET),
        )
        unknown = dict.fromkeys(name for name in dict(logged.summary) if name[0] != "_")
        logged.summary.update(unknown | run.metrics)
        if self.artifacts:
            artifact = wandb.Artifact(f"run-{run.id}", type="run")
            for path in run.files:
                artifact.add_file(str(path))
            logged.log_artifact(artifact)
        logged.finish()
        for folder in before:  # `wandb sync` would send the run once more
            if folder.resolve() != Path(logged.settings.sync_dir).resolve():
                shutil.rmtree(folder)
