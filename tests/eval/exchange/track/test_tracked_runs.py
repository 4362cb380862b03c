"""What a tracker is given by a run and by `python -m eval track`, and that it never makes a run
fail.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.exchange.track.__main__ import main
from eval.exchange.track.finished import FinishedRun, read
from memsys.core.errors import InputError
from tests.eval.commands import PATIENT, runs_in
from tests.eval.exchange.track.trackers import Remembers
from tests.eval.factory import record, write_run

CONF = ("--config-dir", str(Path(__file__).parent / "conf"))


@pytest.fixture
def logged() -> Iterator[list[FinishedRun]]:
    Remembers.logged.clear()
    yield Remembers.logged
    Remembers.logged.clear()


def test_a_run_is_its_parameters_scores_and_tags(keyed):
    run = keyed["plain"]
    found = read(run.folder)
    assert found.name == run.folder.name
    parameters = {"strategy": "bm25", "strategy.k": 2, "scoring.protocols": "['locomo']"}
    assert parameters.items() <= found.parameters.items()
    assert None not in found.parameters.values()
    for name, cell in run.summary["by_type"].items():
        ends = ("f1", "f1_ci_low", "f1_ci_high")
        f1 = [found.metrics[f"{name}/{end}"] for end in ends]
        assert f1 == [cell["f1"], *cell["f1_ci"]]
    assert "overall/judge" not in found.metrics  # nobody judged
    assert found.metrics["seconds/total"] == run.manifest["seconds"]["total"]
    manifest = run.manifest
    tags = {"dataset": "small", "intervals": run.summary["interval"]}
    tags |= {"data_sha256": manifest["data"][0]["sha256"]}
    assert (tags | {"config_sha256": manifest["config_sha256"]}).items() <= found.tags.items()
    if manifest["git"]:
        assert found.tags["commit"].startswith(manifest["git"]["commit"])
    assert {"records.jsonl", "summary.json", "report.md"} < {path.name for path in found.files}
    assert found.seconds[0] <= found.seconds[1]


def test_no_secret_is_in_it_and_a_later_run_of_the_same_name_is_another(
    keyed, tmp_path, monkeypatch
):
    folder = shutil.copytree(keyed["plain"].folder, tmp_path / keyed["plain"].folder.name)
    assert read(folder).id == read(keyed["plain"].folder).id
    later = keyed["plain"].manifest | {"started": "2031-01-01T00:00:00+00:00"}
    later["command"] += " +note=a-very-secret-value"
    (folder / "manifest.json").write_text(json.dumps(later), encoding="utf-8")
    monkeypatch.setenv("SOME_API_KEY", "a-very-secret-value")
    found = read(folder)
    assert found.id != read(keyed["plain"].folder).id
    assert found.tags["command"].endswith("+note=$SOME_API_KEY")


def test_a_run_that_has_not_ended_and_a_damaged_summary_are_named(tmp_path):
    folder = write_run(tmp_path / "begun", [record()], status="interrupted")
    with pytest.raises(InputError, match="the run is interrupted; resume it"):
        read(folder)
    folder = write_run(tmp_path / "ended", [record()])
    (folder / "summary.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"summary.json: .*eval rescore"):
        read(folder)


def test_each_run_of_a_sweep_is_logged_and_its_configuration_has_no_tracker(
    start, tmp_path, small, keyed, logged
):
    start("-m", *CONF, "tracker=remembers", "strategy=bm25,no_memory", *small).ok()
    runs = runs_in(tmp_path)
    assert runs[0].manifest["config_sha256"] == keyed["plain"].manifest["config_sha256"]
    assert "tracker" not in runs[0].manifest["config"]
    first, second = logged
    names = [(run.name, run.tags["strategy"]) for run in logged]
    assert names == [(runs[0].folder.name, "bm25"), (runs[1].folder.name, "no_memory")]
    assert first.tags["sweep"] == second.tags["sweep"]
    assert first.id != second.id


def test_a_run_that_was_resumed_is_the_same_run(start, fault, small, logged):
    faulty = Path(__file__).parents[2] / "faulty_conf"
    chosen = (f"hydra.searchpath=[file://{faulty}]", "strategy=faulty", "strategy.fault=third")
    chosen += (*small, *PATIENT)
    assert start(*CONF, "tracker=remembers", *chosen).code == 0
    fault.unlink()
    assert start(*CONF, "tracker=remembers", *chosen, "resume=last").code == 0
    failed, again = logged
    assert failed.id == again.id
    assert failed.metrics["overall/errors"] > again.metrics["overall/errors"] == 0


def test_a_tracker_that_fails_is_a_warning(start, tmp_path, small):
    ended = start(*CONF, "tracker=fails", "strategy=bm25", *small)
    assert ended.code == 0
    (run,) = runs_in(tmp_path)
    assert run.manifest["status"] == "complete"
    (line,) = [one for one in ended.err.splitlines() if one.startswith("warning: ")]
    assert "ConnectionError: https://tracker.org/" in line
    assert f"python -m eval track {run.folder.name} tracker=" in line
    assert "hunter2" not in ended.err


def test_a_tracker_that_is_not_installed_is_named_before_the_run(start, tmp_path, small):
    ended = start(*CONF, "tracker=not_installed", "strategy=bm25", *small)
    assert (ended.code, ended.err) == (2, "error: tracker=not_installed: not installed\n")
    assert not runs_in(tmp_path)


def test_the_command_wants_runs_and_a_tracker_that_is_known(keyed, said):
    message = said(main, keyed["plain"].folder, code=2)
    assert "name a RUN and a tracker: python -m eval track last tracker=" in message
    assert "name a RUN and a tracker" in said(main, "tracker=mlflow", code=2)
    assert "nosuch" in said(main, keyed["plain"].folder, "tracker=nosuch", code=2)


def test_the_command_logs_runs_and_names_those_that_cannot_be(keyed, tmp_path, capsys, said):
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    broken = shutil.copytree(keyed["plain"].folder, tmp_path / "broken")
    (broken / "summary.json").unlink()
    folder, store = str(keyed["plain"].folder), f"tracker.uri={tmp_path / 'mlruns'}"
    assert said(main, folder, "tracker=mlflow", store) == "1 of 1 runs logged\n"
    assert main([str(broken), folder, "tracker=mlflow", store]) == 1
    output = capsys.readouterr()
    assert output.out == "1 of 2 runs logged\n"
    assert "warning: broken was not logged" in output.err
