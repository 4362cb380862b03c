"""A place for each engine, at which a store can be opened again and again."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore


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


VECTOR_PLACES: list[Callable[[Path], VectorPlace]] = [faiss_memory, faiss_file]
RELATION_PLACES: list[Callable[[Path], RelationPlace]] = [networkx_memory, networkx_file]
