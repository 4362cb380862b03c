"""Runs in a real file store of MLflow."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from eval.exchange.track.finished import read
from eval.exchange.track.mlflow import MLflow

if find_spec("mlflow") is None:
    pytest.skip("the extra mlflow is not installed", allow_module_level=True)


def client_of(folder: Path) -> Any:
    from mlflow import MlflowClient  # noqa: PLC0415 - 40 MB, of the process that needs them

    return MlflowClient(str(folder))


def stored(folder: Path) -> list[Any]:
    """The runs of the experiment memsys in the file store."""
    client = client_of(folder)
    (found,) = client.search_experiments(filter_string="name = 'memsys'")
    return list(client.search_runs([found.experiment_id]))


def texts(folder: Path) -> str:
    files = (path for path in folder.rglob("*") if path.is_file())
    return "".join(path.read_text(encoding="utf-8") for path in files)


def test_a_run_can_be_read_again(keyed, tmp_path):
    """No word of a conversation is stored unless asked for."""
    run = keyed["plain"]
    MLflow(str(tmp_path / "mlruns"), "memsys", artifacts=False).log(read(run.folder))
    (found,) = stored(tmp_path / "mlruns")
    cell = run.summary["by_type"]["overall"]
    assert (found.info.status, found.info.run_name) == ("FINISHED", run.folder.name)
    metrics = {"overall/f1": cell["f1"], "overall/recall_at_10": cell["recall@10"]}
    assert metrics.items() <= found.data.metrics.items()
    assert found.data.params["strategy.k"] == "2"
    assert found.data.tags["config_sha256"] == run.manifest["config_sha256"]
    question = run.records[0]["question"]
    assert question not in texts(tmp_path / "mlruns")
    MLflow(str(tmp_path / "with"), "memsys", artifacts=True).log(read(run.folder))
    assert question in texts(tmp_path / "with")


def test_a_run_that_is_logged_again_replaces_itself(keyed, tmp_path):
    folder = shutil.copytree(keyed["plain"].folder, tmp_path / "run")
    tracker = MLflow(str(tmp_path / "mlruns"), "memsys", artifacts=False)
    tracker.log(read(folder))
    (first,) = stored(tmp_path / "mlruns")
    client = client_of(tmp_path / "mlruns")
    client.set_tag(first.info.run_id, "mlflow.note.content", "worth a look")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    summary["by_type"]["overall"] |= {"f1": 0.001, "bleu1": None, "bleu1_ci": None}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    tracker.log(read(folder))
    (again,) = stored(tmp_path / "mlruns")
    assert again.data.metrics["overall/f1"] == 0.001
    assert "overall/bleu1" not in again.data.metrics
    assert again.data.tags["mlflow.note.content"] == "worth a look"
