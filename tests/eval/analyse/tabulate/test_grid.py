"""Which runs an experiment consists of."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.analyse.tabulate.grid import find_runs, load_grid
from eval.rendering.errors import CONF
from memsys.core.errors import InputError
from tests.eval.factory import record, write_run

EXPERIMENTS = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_a_grid_with_a_reference_in_each_group(name):
    grid = load_grid(name)
    sizes = [sum(job.group == group for job in grid.jobs) for group in {j.group for j in grid.jobs}]
    assert len(set(sizes)) == 1
    assert sizes[0] > 1
    assert grid.command == f"python -m eval.run -m experiment={name}"
    assert len({job.overrides for job in grid.jobs}) == len(grid.jobs)


def test_the_last_parameter_is_compared_within_the_others():
    grid = load_grid("memory_unit")
    assert grid.factor == "memory"
    assert [job.label for job in grid.jobs[:3]] == ["turns", "windows", "observations"]
    assert {job.group for job in grid.jobs[:3]} == {"strategy=vector_only"}
    assert grid.jobs[1].overrides == ("strategy=vector_only", "memory=windows")
    # what was given to the sweep takes the place of the grid's values
    grid = load_grid("memory_unit", ["memory=turns,windows", "strategy=bm25", "k=3"])
    assert [job.overrides for job in grid.jobs] == [
        ("strategy=bm25", "memory=turns", "k=3"),
        ("strategy=bm25", "memory=windows", "k=3"),
    ]
    assert {job.group for job in grid.jobs} == {""}
    # a value may be several settings
    labels = [job.label for job in load_grid("expansion").jobs]
    assert labels[:2] == ["{threshold:2}", "{}"]
    assert "{edge_weight:1,relevance_weight:0}" in labels


def test_wrong_names_are_refused():
    with pytest.raises(InputError, match="experiment=nothing: no such option"):
        load_grid("nothing")
    with pytest.raises(InputError, match="a single run"):
        load_grid("injection", ["context=flat", "strategy=bm25"])


def test_the_newest_complete_run_of_a_job_counts(tmp_path):
    grid = load_grid("injection", ["strategy=bm25"])
    write(tmp_path / "1", "context=flat")
    write(tmp_path / "2", "context=flat hydra.run.dir=elsewhere cache=other")
    write(tmp_path / "3", "context=flat", status="interrupted")
    write(tmp_path / "4", "context=flat k=3")  # another experiment, as it were
    write(tmp_path / "5", "context=layered", experiment="memory_unit")
    write(tmp_path / "6", "context=xml")
    with pytest.raises(InputError, match=r"1 of 3 runs are missing .*context=layered"):
        find_runs(grid, tmp_path)
    write(tmp_path / "7", "context=layered")
    runs = find_runs(grid, tmp_path)
    assert [run.folder.name for run in runs] == ["2", "7", "6"]
    assert [run.label for run in runs] == ["context=flat", "context=layered", "context=xml"]


def write(
    folder: Path, overrides: str, status: str = "complete", experiment: str = "injection"
) -> None:
    """A run of strategy bm25 with one record."""
    command = f"python -m eval.run experiment={experiment} strategy=bm25 {overrides}"
    choices = {"experiment": experiment}
    write_run(folder, [record()], status=status, choices=choices, command=command)
