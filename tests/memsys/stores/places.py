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


class LocalQdrant(QdrantVectors):
    """The client's own imitation of a server, for want of one: it speaks no HTTP."""

    def __init__(self, **where: str) -> None:
        super().__init__("http://127.0.0.1:6333")
        self.where = where

    def connect(self) -> QdrantClient:
        return QdrantClient(**self.where)


# By name, from a folder to a place in it.
VECTORS: dict[str, Callable[[Path], VectorPlace]] = {
    "faiss_memory": lambda _: VectorPlace(FaissVectors, lasting=False),
    "faiss_file": lambda folder: VectorPlace(
        lambda: FaissVectors(str(folder / "new folder" / "v.sqlite")), lasting=True
    ),
    "qdrant_edge_temporary": lambda _: VectorPlace(QdrantEdgeVectors, lasting=False),
    "qdrant_edge_folder": lambda folder: VectorPlace(
        lambda: QdrantEdgeVectors(str(folder / "new" / "shard")), lasting=True
    ),
    "qdrant_client_memory": lambda _: VectorPlace(
        lambda: LocalQdrant(location=":memory:"), lasting=False
    ),
    # Takes a tenth of a second a write: not for long lives.
    "qdrant_client_folder": lambda folder: VectorPlace(
        lambda: LocalQdrant(path=str(folder / "local")), lasting=True
    ),
}
VECTOR_PLACES = [name for name in VECTORS if name != "qdrant_client_folder"]
LASTING_VECTOR_PLACES = ["faiss_file", "qdrant_edge_folder", "qdrant_client_folder"]


PASSWORD_VARIABLE = "MEMSYS_TEST_BOLT_PASSWORD"  # noqa: S105 - a variable's name


def neo4j_on_arcadedb(url: str) -> RelationPlace:
    """A label of its own: one server does for all tests."""
    label = f"Test{uuid4().hex}"
    return RelationPlace(
        lambda: Neo4jRelations(url, "root", PASSWORD_VARIABLE, DATABASE, label), lasting=True
    )


RELATIONS: dict[str, Callable[[Path], RelationPlace]] = {
    "networkx_memory": lambda _: RelationPlace(NetworkxRelations, lasting=False),
    "networkx_file": lambda folder: RelationPlace(
        lambda: NetworkxRelations(str(folder / "new folder" / "r.sqlite")), lasting=True
    ),
}
# The last wants a server: see the fixture `relation_place`.
RELATION_PLACES = [*RELATIONS, pytest.param("neo4j_on_arcadedb", marks=pytest.mark.slow)]
