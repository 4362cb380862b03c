"""A place for each engine, at which a store can be opened again and again."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from qdrant_client import QdrantClient

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.qdrant_vectors import QdrantVectors
from tests.memsys.stores.arcadedb import DATABASE, served
from tests.shared import made_once


class Place(NamedTuple):
    open: Callable[[], Any]  # a store of vectors or of relations
    lasting: bool  # whether what is kept survives close()


class LocalQdrant(QdrantVectors):
    """The client's own imitation of a server, for want of one: it speaks no HTTP."""

    def __init__(self, **where: str) -> None:
        super().__init__("http://127.0.0.1:6333")
        self.where = where

    def connect(self) -> QdrantClient:
        return QdrantClient(**self.where)


# By name, from a folder to a place in it.
VECTORS: dict[str, Callable[[Path], Place]] = {
    "faiss_memory": lambda _: Place(FaissVectors, lasting=False),
    "faiss_file": lambda folder: Place(
        lambda: FaissVectors(str(folder / "new folder" / "v.sqlite")), lasting=True
    ),
    "qdrant_edge_temporary": lambda _: Place(QdrantEdgeVectors, lasting=False),
    "qdrant_edge_folder": lambda folder: Place(
        lambda: QdrantEdgeVectors(str(folder / "new" / "shard")), lasting=True
    ),
    "qdrant_client_memory": lambda _: Place(
        lambda: LocalQdrant(location=":memory:"), lasting=False
    ),
    # Takes a tenth of a second a write: not for long lives.
    "qdrant_client_folder": lambda folder: Place(
        lambda: LocalQdrant(path=str(folder / "local")), lasting=True
    ),
}
VECTOR_PLACES = [name for name in VECTORS if name != "qdrant_client_folder"]
LASTING_VECTOR_PLACES = ["faiss_file", "qdrant_edge_folder", "qdrant_client_folder"]
RELATIONS: dict[str, Callable[[Path], Place]] = {
    "networkx_memory": lambda _: Place(NetworkxRelations, lasting=False),
    "networkx_file": lambda folder: Place(
        lambda: NetworkxRelations(str(folder / "new folder" / "r.sqlite")), lasting=True
    ),
}
# The last wants a server: see the fixture `relation_place`.
RELATION_PLACES = [*RELATIONS, pytest.param("neo4j_on_arcadedb", marks=pytest.mark.slow)]
PASSWORD_VARIABLE = "MEMSYS_TEST_BOLT_PASSWORD"  # noqa: S105 - a variable's name


def on_arcadedb(url: str, label: str) -> Neo4jRelations:
    return Neo4jRelations(url, "root", PASSWORD_VARIABLE, DATABASE, label)


@pytest.fixture
def store(place: Place) -> Iterator[Any]:
    with closing(place.open()) as opened:
        yield opened


@pytest.fixture(scope="session")
def bolt_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A graph database on a free port of this machine, which takes ten seconds to start."""
    folder = made_once(tmp_path_factory, "arcadedb", lambda _: None)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(PASSWORD_VARIABLE, "of-the-tests")
        with served(folder, "of-the-tests") as url:
            yield url


@pytest.fixture
def relation_place(request: pytest.FixtureRequest) -> Callable[[str, Path], Place]:
    """From its name to a fresh place; the server is started only where one is wanted."""

    def make(name: str, folder: Path) -> Place:
        if name in RELATIONS:
            return RELATIONS[name](folder)
        label = f"Test{uuid4().hex}"  # of its own: one server does for all tests
        url = request.getfixturevalue("bolt_url")
        return Place(lambda: on_arcadedb(url, label), lasting=True)

    return make
