from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.memsys.stores.arcadedb import served
from tests.memsys.stores.places import (
    PASSWORD_VARIABLE,
    RELATIONS,
    RelationPlace,
    neo4j_on_arcadedb,
)
from tests.shared import made_once


@pytest.fixture(scope="session")
def bolt_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A graph database on a free port of this machine, which takes ten seconds to start."""
    folder = made_once(tmp_path_factory, "arcadedb", lambda _: None)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(PASSWORD_VARIABLE, "of-the-tests")
        with served(folder, "of-the-tests") as url:
            yield url


@pytest.fixture
def relation_place(request: pytest.FixtureRequest) -> Callable[[str, Path], RelationPlace]:
    """From its name to a fresh place; the server is started only where one is wanted."""

    def make(name: str, folder: Path) -> RelationPlace:
        if name == "neo4j_on_arcadedb":
            return neo4j_on_arcadedb(request.getfixturevalue("bolt_url"))
        return RELATIONS[name](folder)

    return make
