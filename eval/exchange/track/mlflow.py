"""Runs in MLflow: in a folder of files, or on a server."""

import os
import re
from dataclasses import dataclass
from typing import Any

from eval.exchange.track.finished import FinishedRun
from memsys.core.declared import check_fields
from memsys.core.errors import check_installed

_ID = "memsys_id"  # the tag by which a run is found again
_LONGEST = 5000  # characters of a tag or parameter
_AT_ONCE = 100  # parameters in one request


@dataclass(frozen=True, slots=True)
class MLflow:
    """Logs to the MLflow at `uri`, a folder or the address of a server, under `experiment`.

    `artifacts`: also log the files of the run folder. MLflow has no `@` in names: `recall@10` is
    `recall_at_10`.
    """

    uri: str
    experiment: str
    artifacts: bool

    def __post_init__(self) -> None:
        """Check the settings, and that MLflow is installed; see Tracker."""
        check_fields(self, "tracker")
        check_installed("mlflow", "tracker=mlflow", "mlflow")
        for name in ("MLFLOW_ALLOW_FILE_STORE", "MLFLOW_DISABLE_TELEMETRY"):
            os.environ.setdefault(name, "true")  # since 3.13 it writes no files else

    def log(self, run: FinishedRun) -> None:
        """Log `run` in place of what was logged of it before; tags that the user added stay."""
        from mlflow import MlflowClient  # noqa: PLC0415 - an extra, and a second
        from mlflow.entities import Metric, Param  # noqa: PLC0415 - the same

        client = MlflowClient(self.uri)
        experiment = _experiment_id(client, self.experiment)
        began, ended = (round(seconds * 1000) for seconds in run.seconds)
        before = client.search_runs([experiment], f"tags.{_ID} = '{run.id}'")
        users = before[0].data.tags if before else {}  # with a name and notes, if there are any
        tags = {name: text[:_LONGEST] for name, text in run.tags.items()} | {_ID: run.id}
        logged = client.create_run(experiment, began, {"mlflow.runName": run.name} | users | tags)
        id_ = logged.info.run_id
        texts = [Param(_name(name), str(item)[:_LONGEST]) for name, item in run.parameters.items()]
        for start in range(0, len(texts), _AT_ONCE):
            client.log_batch(id_, params=texts[start : start + _AT_ONCE])
        metrics = [Metric(_name(name), value, ended, 0) for name, value in run.metrics.items()]
        client.log_batch(id_, metrics=metrics)
        for path in run.files if self.artifacts else ():
            client.log_artifact(id_, str(path))
        client.set_terminated(id_, end_time=ended)
        for earlier_run in before:
            client.delete_run(earlier_run.info.run_id)


def _experiment_id(client: Any, name: str) -> str:
    """Return the id of the experiment, which is created if there is none; of two that processes
    have created at the same time, the older one.
    """

    def experiments() -> Any:
        return client.search_experiments(
            filter_string=f"name = '{name}'", order_by=["creation_time"]
        )

    if not experiments():
        try:
            client.create_experiment(name)
        except Exception:
            if not experiments():  # a server refuses a second one
                raise
    return str(experiments()[0].experiment_id)


def _name(name: str) -> str:
    return re.sub(r"[^\w./ :-]", "_", name.replace("@", "_at_"))
