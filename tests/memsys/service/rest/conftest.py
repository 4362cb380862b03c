"""A server that the tests of a process share, without memories at the beginning of each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memsys.service.rest.serving import Served, serving


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="package")
def running(folder: Path) -> Iterator[Served]:
    with serving(folder) as server:
        yield server


@pytest.fixture
def server(running: Served) -> Served:
    assert running.ask("POST", "/reset", {"all": True}).status == 200
    return running
