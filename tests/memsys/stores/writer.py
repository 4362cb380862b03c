"""Writes until it is killed, and reports each write after the store has taken it.

`python -m tests.memsys.stores.writer KIND WHERE`
"""

import sys
from itertools import count

import numpy as np

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore
from tests.memsys.stores.arcadedb import DATABASE
from tests.memsys.stores.made import node, pool, relation

ROWS = pool(0, 3)
SHARED = "shared"
VECTORS = {"faiss": FaissVectors, "qdrant_edge": QdrantEdgeVectors}


def write_vectors(store: VectorStore) -> None:
    """Write n: two ids put, one of write n - 2 dropped."""
    for n in count():
        store.put("ann", [f"a{n}", f"b{n}"], np.stack([ROWS[n % 3], ROWS[(n + 1) % 3]]))
        store.drop("ann", [f"a{n - 2}"])
        print(n, flush=True)


def write_relations(store: RelationStore) -> None:
    """Write n: a node, a relation to it from the one before, the relation of n - 2 dropped."""
    store.put_nodes("ann", [node("-1", ROWS[0])])
    for n in count():
        store.put_nodes("ann", [node(str(n), ROWS[n % 3])])
        store.put_relations("ann", [relation(str(n - 1), "before", str(n))])
        store.drop_relations("ann", [(str(n - 3), "before", str(n - 2))])
        print(n, flush=True)


def share_relations(store: RelationStore, name: str, writes: int) -> None:
    """Write n: one more mention of the shared node, and a node with a relation from it."""
    for n in range(writes):
        with store.writing():
            stored = store.nodes("ann", [SHARED])
            mentions = stored[0].mentions if stored else 0
            new = node(f"{name}{n}", ROWS[n % 3])
            store.put_nodes("ann", [node(SHARED, ROWS[0], mentions + 1), new])
            store.put_relations("ann", [relation(SHARED, "knows", new.id)])
        print(n, flush=True)


def main() -> None:
    kind, *where = sys.argv[1:]
    if kind in VECTORS:
        write_vectors(VECTORS[kind](*where))
    elif kind == "networkx":
        write_relations(NetworkxRelations(*where))
    elif kind == "networkx_shared":
        path, name, writes = where
        share_relations(NetworkxRelations(path), name, int(writes))
    else:
        url, variable, label = where
        write_relations(Neo4jRelations(url, "root", variable, DATABASE, label))


if __name__ == "__main__":
    main()
