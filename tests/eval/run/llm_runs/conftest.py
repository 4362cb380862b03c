"""Benches: a folder, a cache and a server each."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.served import Bench, Mem0Model, Model, Scripted, talk
from tests.memsys.llm.server import FaultyServer
from tests.shared import made_once

Make = Callable[..., Bench]


@pytest.fixture(autouse=True, scope="package")
def brief_pauses() -> Iterator[None]:
    """The OpenAI client's first pause before it tries again is .02 s, not .5 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
        yield


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


@pytest.fixture(scope="package")
def first(
    tmp_path_factory: pytest.TempPathFactory, small: tuple[str, ...], brief_pauses: None
) -> Iterator[Bench]:
    """A bench whose run is complete, and whose server never failed, read only."""
    folder = tmp_path_factory.mktemp("answered")
    model = Model()
    with FaultyServer(model) as server:
        bench = Bench(folder, folder / "cache", server, model, small)
        bench.start().ok()
        yield bench


@pytest.fixture(scope="package")
def answered(first: Bench) -> Run:
    """A run whose server never failed, read only."""
    return first.run


@pytest.fixture
def parent(first: Bench, tmp_path: Path) -> Iterator[Bench]:
    """A bench that has made the run of `answered`, for a test that goes on from there."""
    folder = shutil.copytree(first.folder, tmp_path / "parent")
    yield replace(first, folder=folder, cache=folder / "cache")
    first.model.recover()


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of strategy=mem0 in which the model took every branch, read only."""

    def make(folder: Path) -> None:
        model = Mem0Model()
        with FaultyServer(model) as server:
            Bench(folder, folder / "cache", server, model, ()).start(*talk(folder)).ok()

    return Run(made_once(tmp_path_factory, "kept", make) / "run")
