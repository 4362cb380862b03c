"""Benches: a folder, a cache and a server each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.keeping import talk
from tests.eval.run.llm_runs.served import Bench, Model, Scripted
from tests.memsys.llm.server import FaultyServer

Make = Callable[..., Bench]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def make(tmp_path: Path, small: tuple[str, ...]) -> Iterator[Make]:
    """A bench under `name`; `delay_s` is how long its model takes to answer."""
    with ExitStack() as stack:

        def made(name: str = "bench", delay_s: float = 0.0) -> Bench:
            (tmp_path / name).mkdir()
            model = Model()
            server = stack.enter_context(FaultyServer(model, delay_s))
            return Bench(tmp_path / name, tmp_path / name / "cache", server, model, small)

        yield made


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    """Options for a conversation in which a model that keeps facts takes every branch."""
    return talk(tmp_path)


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Scripted]:
    """A bench in the test's own folder, whose server follows the script that it is given."""
    with ExitStack() as stack:

        def made(model: Model) -> Bench:
            server = stack.enter_context(FaultyServer(model))
            return Bench(tmp_path, tmp_path / "cache", server, model, ())

        yield made


@pytest.fixture
def bench(make: Make) -> Bench:
    return make()


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory, small: tuple[str, ...]) -> Run:
    """A run whose server never failed, read only."""
    folder = tmp_path_factory.mktemp("answered")
    model = Model()
    with FaultyServer(model) as server:
        bench = Bench(folder, folder / "cache", server, model, small)
        ended = bench.start()
    assert ended.code == 0, ended.err
    return Run(bench.run.folder, ended)
