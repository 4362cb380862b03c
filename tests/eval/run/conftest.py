"""What tests of runs share."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.eval.commands import FAULTY, PATIENT, Run, Start, run_once, runs_in, untimed_cells
from tests.shared import no_key

__all__ = ["no_key"]  # a fixture

Make = Callable[..., Run]
ALL = [f"{name}/{i}" for name in ("ash", "beech", "cedar") for i in range(7)]
THIRD = (*FAULTY, "strategy=faulty", *PATIENT, "strategy.fault=third")


def assert_as_clean(run: Run, clean: Run) -> None:
    """A run that was broken off and went on is one that never was, timings aside."""
    assert run.untimed == clean.untimed
    assert run.manifest["status"] == "complete"
    assert untimed_cells(run) == untimed_cells(clean)


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


class Broken:
    """A run of the faulty strategy, and the same command again when the fault has gone."""

    def __init__(self, start: Start, folder: Path, fault: Path, *arguments: str) -> None:
        self._start, self._fault = start, fault
        self._command = (*FAULTY, "strategy=faulty", *PATIENT, *arguments)
        self.ended = start(*self._command)
        (self.run,) = runs_in(folder)
        self.errors = {r["id"]: r["error"] for r in self.run.records if r["status"] != "ok"}

    def resume(self) -> Run:
        self._fault.unlink()
        self._start(*self._command, f"resume={self.run.folder.name}").ok()
        assert [r["status"] for r in self.run.records] == ["ok"] * 21
        assert self.run.summary["errors"] == 0
        return self.run


@pytest.fixture
def broken(
    start: Start, tmp_path: Path, fault: Path, small: tuple[str, ...]
) -> Callable[..., Broken]:
    """Start a run over the small data set under a fault."""
    return lambda *arguments: Broken(start, tmp_path, fault, *small, *arguments)


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
