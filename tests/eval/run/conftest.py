"""What tests of runs share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.eval.commands import FAULTY, PATIENT, Run, Start, run_once, runs_in

Make = Callable[..., Run]
THIRD = (*FAULTY, "strategy=faulty", *PATIENT, "strategy.fault=third")


def assert_as_clean(run: Run, clean: Run) -> None:
    """A run that was broken off and went on is one that never was, timings aside."""
    assert run.untimed == clean.untimed
    assert run.manifest["status"] == "complete"
    mine, its = run.summary, clean.summary
    for by_type in (mine["by_type"], its["by_type"]):
        for cell in by_type.values():
            for name in [name for name in cell if "_ms_" in name]:
                del cell[name]
    assert mine["by_type"] == its["by_type"]


def prices(folder: Path, output: int = 1000) -> str:
    """The option of a dollar a thousand tokens, so that budgets are whole dollars."""
    models = f"{{gpt-4o-mini: {{input: 1000, output: {output}}}}}"
    path = folder / "prices.yaml"
    path.write_text(f"as_of: 2025-01-01\nsource: a test\nmodels: {models}\n")
    return f"pricing={path}"


@pytest.fixture
def made(completed: Make, small: tuple[str, ...]) -> Make:
    """Make a run over the small data set."""
    return lambda *arguments: completed(*small, *arguments)


@pytest.fixture
def completed(start: Start, tmp_path: Path) -> Make:
    """Make a run in the test's own folder, and return it."""

    def make(*arguments: str) -> Run:
        before = {run.folder for run in runs_in(tmp_path)}
        ended = start(*arguments).ok()
        (folder,) = {run.folder for run in runs_in(tmp_path)} - before
        return Run(folder, ended)

    return make


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[Run], Run]:
    """Copy a shared run to the test's own folder, where it may be changed or resumed."""

    def copied(run: Run) -> Run:
        folder = tmp_path / "results" / "runs" / run.folder.name
        shutil.copytree(run.folder, folder)
        return replace(run, folder=folder)

    return copied


@pytest.fixture(scope="session")
def failed_thirds(
    tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]
) -> Run:
    """A run of which every third question failed."""
    fault = tmp_path_factory.mktemp("faults") / "fault"
    fault.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAULT", str(fault))
        return run_once(tmp_path_factory, cache, "thirds", *THIRD, *small)


@pytest.fixture
def third(failed_thirds: Run, copy: Callable[[Run], Run]) -> Run:
    """Such a run in the test's own folder, of the command (*THIRD, *small)."""
    return copy(failed_thirds)
