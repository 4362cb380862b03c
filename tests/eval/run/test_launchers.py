"""Sweeps whose runs are in other processes, or on other nodes: the same runs, whatever dies."""

import shlex
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.eval.commands import FAULTY, Run, run_main, runs_in
from tests.eval.launching import (
    DONE,
    HANG,
    HEEDFUL,
    RAY,
    by_strategy,
    ended,
    environment,
    hanging_run,
    kill_writer_of,
    started,
    table,
    two_nodes,
    until,
)
from tests.eval.run.conftest import assert_as_clean

joblib = pytest.mark.skipif(
    find_spec("hydra_plugins") is None or find_spec("hydra_plugins.hydra_joblib_launcher") is None,
    reason="pip install -e '.[joblib]' -c requirements.lock",
)
ray = pytest.mark.skipif(not (RAY / "ray").exists(), reason="make ray")
JOBLIB = ("-m", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


def assert_same_runs(there: Path, here: Path, *strategies: str) -> None:
    """The sweeps under the two folders left the same runs, timings aside."""
    found, wanted = by_strategy(there), by_strategy(here)
    assert found.keys() == wanted.keys() == set(strategies)
    for name, run in found.items():
        assert run.untimed == wanted[name].untimed
        assert run.manifest["status"] == "complete"
        mine, its = run.manifest, wanted[name].manifest
        assert mine["config_sha256"] == its["config_sha256"]
        assert mine["warnings"] == its["warnings"]
        assert mine["command"] == its["command"].replace(str(here), str(there))
    assert [found[name].manifest["sweep"]["job"] for name in strategies] == [
        *range(len(strategies))
    ]
    assert len({run.manifest["sweep"]["id"] for run in found.values()}) == 1


def test_a_launcher_that_is_not_installed_is_named_with_the_remedy(start, small):
    end = start("-m", "hydra/launcher=ray_cluster", "strategy=bm25", *small)
    if find_spec("ray") is not None:
        pytest.skip("ray is installed here")
    assert end.code == 2
    assert end.err.endswith("install it: make ray, and start the sweep by .venv-ray/bin/python\n")
    assert end.err.count("\n") == 1


@joblib
@pytest.mark.slow
def test_joblib_makes_the_runs_of_the_basic_launcher_from_a_cold_cache(tmp_path, cache, small):
    """Two processes embed the same texts at once into a file that neither finds. A run that is
    refused and one that breaks do not stop the others.
    """
    own = tmp_path / "own" / "strategy"
    own.mkdir(parents=True)
    (own / "broken.yaml").write_text("defaults: [faulty]\nfault: construct\n")
    (own / "faulty.yaml").write_bytes((Path(FAULTY[1]) / "strategy/faulty.yaml").read_bytes())
    strategies = ("vector_only", "graph_expand")
    choice = (f"--config-dir={own.parent}", *small)
    choice = (*choice, f"strategy={','.join(strategies)},broken,given")
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
        (folder / "fault").touch()
    command = [sys.executable, "-m", "eval.run", *JOBLIB, *choice]
    with started(command, there, environment(there, there / "cache")) as process:
        end = ended(process, there)
    assert end.code == 1, end.err
    assert end.err.count("strategy=given: strategy.path: null stands for memories of LoCoMo") == 1
    assert end.err.count("strategy=broken: RuntimeError: cannot be made (") == 1  # by the worker
    assert "error: a run of the sweep failed: RuntimeError: cannot be made (" in end.err
    assert table(end) == list(strategies)
    assert end.out.count("\nRun folder: ") == 2
    assert end.out.rindex("\nRun folder: ") < end.out.index("\nTypes 1-4, mean with 95% interval:")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAULT", str(here / "fault"))
        assert run_main(here, cache, "-m", *choice).code == 1
    assert_same_runs(there, here, *strategies)


@joblib
@pytest.mark.slow
@pytest.mark.parametrize(
    "how", ["kill", "terminate", pytest.param("ctrl-c", marks=pytest.mark.soak)]
)
def test_joblib_a_broken_sweep_names_what_goes_on(start, tmp_path, cache, small, clean, how):
    (tmp_path / "fault").touch()
    choice = (*FAULTY, *JOBLIB, *HANG, "strategy=faulty", *small)
    command = [sys.executable, "-c", HEEDFUL, *choice]
    with started(command, tmp_path, environment(tmp_path, cache)) as process:
        run = until(lambda: hanging_run(tmp_path), process, tmp_path)
        if how == "kill":
            kill_writer_of(run)
        else:
            process.send_signal(signal.SIGINT if how == "ctrl-c" else signal.SIGTERM)
        end = ended(process, tmp_path)
    (tmp_path / "fault").unlink()
    assert end.code == {"kill": 1, "ctrl-c": 130, "terminate": 143}[how]
    assert run.manifest["status"] == "interrupted"
    assert "Traceback" not in end.err
    assert ("a worker of the sweep died" in end.err) == (how == "kill")
    (line,) = (one for one in end.err.splitlines() if one.startswith("  python -m eval.run"))
    start(*shlex.split(line)[3:]).ok()
    assert_as_clean(run, clean)


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, cache: Path
) -> Iterator[tuple[Path, list[str], dict[str, str]]]:
    """Folder, beginning of a sweep's command, and variables of a cluster of two nodes."""
    folder = tmp_path_factory.mktemp("nodes")
    with two_nodes(folder, environment(folder, cache)) as (address, env):
        command = [str(RAY / "python"), "-m", "eval.run", *FAULTY, "-m"]
        command += ["hydra/launcher=ray_cluster"]
        yield folder, [*command, f"hydra.launcher.ray.init.address={address}"], env


@ray
@pytest.mark.slow
def test_ray_makes_the_runs_of_the_basic_launcher_on_two_nodes(nodes, tmp_path, cache, small):
    _, command, env = nodes
    choice = ("strategy=vector_only,graph_expand,bm25", *small)
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    own = f"hydra.sweep.dir={there}/results/runs"
    with started([*command, *choice, own], there, env) as process:
        end = ended(process, there)
    assert end.code == 0, end.err
    assert table(end) == ["vector_only", "graph_expand", "bm25"]
    own = f"hydra.sweep.dir={here}/results/runs"
    assert run_main(here, cache, *FAULTY, "-m", *choice, own).code == 0
    assert_same_runs(there, here, "vector_only", "graph_expand", "bm25")


@ray
@pytest.mark.slow
def test_ray_gives_a_killed_workers_run_out_again_and_it_goes_on(nodes, small, clean):
    folder, command, env = nodes
    (folder / "fault").touch()
    hang = ("strategy=faulty", "strategy.fault=hang,none", "strategy.at=beech/3")
    with started([*command, *hang, *small], folder, env) as process:
        run = until(lambda: hanging_run(folder), process, folder)
        # A node has one CPU: the other run is the other node's.
        other = until(lambda: undisturbed(folder), process, folder)
        answered = run.records
        (folder / "fault").unlink()
        kill_writer_of(run)
        end = ended(process, folder)
    assert end.code == 0, end.err
    assert len(runs_in(folder)) == 2
    assert table(end) == ["strategy.fault=hang", "strategy.fault=none"]
    assert run.records[:DONE] == answered  # timings too: they were not asked again
    assert_as_clean(run, clean)
    assert other.untimed == clean.untimed
    assert other.manifest["resumed"] == []


def undisturbed(folder: Path) -> Run | None:
    """The run whose fault is none, once it is complete."""
    for run in runs_in(folder):
        if (run.folder / "summary.json").exists():
            assert run.manifest["config"]["strategy"]["fault"] == "none"
            return run if run.manifest["status"] == "complete" else None
    return None
