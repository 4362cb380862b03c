"""A place for each engine, at which a store can be opened again and again."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from qdrant_client import QdrantClient

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.qdrant_vectors import QdrantVectors
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore
from tests.memsys.stores.arcadedb import DATABASE


class VectorPlace(NamedTuple):
    open: Callable[[], VectorStore]
    lasting: bool  # whether what is kept survives close()


class RelationPlace(NamedTuple):
    open: Callable[[], RelationStore]
    lasting: bool


def faiss_memory(folder: Path) -> VectorPlace:
    return VectorPlace(FaissVectors, lasting=False)


def faiss_file(folder: Path) -> VectorPlace:
    return VectorPlace(lambda: FaissVectors(str(folder / "new folder" / "v.sqlite")), lasting=True)


def networkx_memory(folder: Path) -> RelationPlace:
    return RelationPlace(NetworkxRelations, lasting=False)


def networkx_file(folder: Path) -> RelationPlace:
    return RelationPlace(
        lambda: NetworkxRelations(str(folder / "new folder" / "r.sqlite")), lasting=True
    )


def qdrant_edge_temporary(folder: Path) -> VectorPlace:
    return VectorPlace(QdrantEdgeVectors, lasting=False)


def qdrant_edge_folder(folder: Path) -> VectorPlace:
    return VectorPlace(lambda: QdrantEdgeVectors(str(folder / "new" / "shard")), lasting=True)


class LocalQdrant(QdrantVectors):
    """The client's own imitation of a server, for want of one: it speaks no HTTP."""

    def __init__(self, **where: str) -> None:
        super().__init__("http://127.0.0.1:6333")
        self.where = where

    def connect(self) -> QdrantClient:
        return QdrantClient(**self.where)


def qdrant_client_memory(folder: Path) -> VectorPlace:
    return VectorPlace(lambda: LocalQdrant(location=":memory:"), lasting=False)


def qdrant_client_folder(folder: Path) -> VectorPlace:
    return VectorPlace(lambda: LocalQdrant(path=str(folder / "local")), lasting=True)


PASSWORD_VARIABLE = "MEMSYS_TEST_BOLT_PASSWORD"  # noqa: S105 - a variable's name


def neo4j_on_arcadedb(url: str) -> RelationPlace:
    """A label of its own: one server does for all tests."""
    label = f"Test{uuid4().hex}"
    return RelationPlace(
        lambda: Neo4jRelations(url, "root", PASSWORD_VARIABLE, DATABASE, label), lasting=True
    )


VECTOR_PLACES: list[Callable[[Path], VectorPlace]] = [
    faiss_memory,
    faiss_file,
    qdrant_edge_temporary,
    qdrant_edge_folder,
    qdrant_client_memory,
]
LASTING_VECTOR_PLACES: list[Callable[[Path], VectorPlace]] = [
    faiss_file,
    qdrant_edge_folder,
    qdrant_client_folder,  # takes a tenth of a second a write: not for long lives
]
# By name, as the last wants a server: see the fixture `relation_place`.
RELATION_PLACES = [
    "networkx_memory",
    "networkx_file",
    pytest.param("neo4j_on_arcadedb", marks=pytest.mark.slow),
]
LASTING_RELATION_PLACES = RELATION_PLACES[1:]
