"""Folders, data and runs that the tests of floor 3 share."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eval.metrics import registry
from eval.run import progress
from tests.eval.commands import FAULTY, PROJECT, Run, Said, Start, run_main, run_once, small_sample
from tests.eval.composing import quick_composition
from tests.shared import made_once

# Of commands.small_sample: type 1 gets another gold, type 4 none; what is wrong of type 2 is the
# evidence alone.
ERRORS = [
    ("ash", 0, "HALLUCINATION", "flute", "nine bees"),
    ("ash", 5, "AMBIGUOUS", "nine", None),
    ("beech", 1, "WRONG_CITATION", "2 May 2023", "2 May 2023"),
]


@pytest.fixture(scope="package", autouse=True)
def quick() -> Iterator[None]:
    """Most of the time of a small run would go into its configuration."""
    with quick_composition():
        yield


@pytest.fixture(scope="session", autouse=True)
def quiet_progress() -> Iterator[None]:
    """No line of progress within the first hour: the tests' machine may be slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "FIRST_S", 3600.0)
        yield


@pytest.fixture(autouse=True)
def no_metric_of_another_test() -> Iterator[None]:
    """A run's own metrics stay configured in its process until the next run."""
    yield
    registry._CONFIGURED.clear()
    registry._ordered.cache_clear()


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are as wide as in a pipe, also after a test that asks for --wide."""
    monkeypatch.setenv("COLUMNS", "")
    monkeypatch.delenv("COLUMNS")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of vectors for all tests; it starts from the checkout's own, if there is one."""
    return made_once(tmp_path_factory, "cache", _copy_vectors)


def _copy_vectors(folder: Path) -> None:
    for path in (PROJECT / ".cache").glob("minilm-*.sqlite"):
        uri = f"file:{path}?mode=ro"
        with (
            closing(sqlite3.connect(uri, uri=True)) as old,
            closing(sqlite3.connect(folder / path.name)) as new,
        ):
            old.backup(new)  # a plain copy could tear what somebody is writing


@pytest.fixture
def start(tmp_path: Path, cache: Path) -> Start:
    """Start a command in the test's own folder; returns when it has ended."""
    return lambda *arguments: run_main(tmp_path, cache, *arguments)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Call the `main` of a command: what it prints, which is of stderr if `code` is 2."""

    def call(main: Callable[[list[str]], int], *arguments: object, code: int = 0) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == code
        printed = capsys.readouterr()
        return printed.err if code == 2 else printed.out

    return call


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Said:
    """Call the `main` of a command: the one line that refuses it, with nothing else printed."""

    def call(main: Callable[[list[str]], int], *arguments: object) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 2
        printed = capsys.readouterr()
        (line,) = printed.err.splitlines()
        assert (printed.out, line[:7]) == ("", "error: ")
        return line

    return call


@pytest.fixture
def fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Faults of tests/eval/faulty.py are on until this file is unlinked."""
    path = tmp_path / "fault"
    path.touch()
    monkeypatch.setenv("FAULT", str(path))
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Options for a data set of 3 conversations (6 turns, 7 questions each), k=2."""

    def make(folder: Path) -> None:
        samples = [small_sample(name) for name in ("ash", "beech", "cedar")]
        (folder / "small.json").write_text(json.dumps(samples))

    path = made_once(tmp_path_factory, "small", make) / "small.json"
    return (f"dataset.path={path}", "dataset.name=small", "k=2")


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Run:
    """A run of the faulty strategy whose fault never came."""
    return run_once(tmp_path_factory, cache, "clean", *FAULTY, "strategy=faulty", *small)


@pytest.fixture(scope="session")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Path:

    def make(folder: Path) -> None:
        names = ("sample_id", "qa_index", "error_type", "golden_answer", "correct_answer")
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in ERRORS]
        (folder / "errors.jsonl").write_text("\n".join(lines), encoding="utf-8")

    return made_once(tmp_path_factory, "key", make) / "errors.jsonl"


@pytest.fixture(scope="session")
def keyed(
    tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...], errors: Path
) -> dict[str, Run]:
    """bm25 under each key; `plain` is a run that knows of no errors."""
    of_key = {
        key: () if key == "plain" else (f"dataset.key={key}", f"dataset.key_file={errors}")
        for key in ("plain", "original", "corrected", "excluded")
    }
    return {
        key: run_once(tmp_path_factory, cache, f"key-{key}", "strategy=bm25", *small, *settings)
        for key, settings in of_key.items()
    }
