"""A process that is killed leaves a store that opens and contains all that was written."""

import subprocess
import sys
from contextlib import closing

import pytest

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore
from tests.memsys.stores.arcadedb import DATABASE
from tests.memsys.stores.made import cosine, node, relation
from tests.memsys.stores.places import PASSWORD_VARIABLE
from tests.memsys.stores.writer import ROWS


def killed_after(writes: int, kind: str, *where: str) -> int:
    """Start the writer, kill -9 it after so many writes; how many it had reported in all."""
    command = [sys.executable, "-m", "tests.memsys.stores.writer", kind, *where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        written = [int(writer.stdout.readline()) for _ in range(writes)]
        writer.kill()
        written += [int(line) for line in writer.stdout if line.endswith("\n")]
    assert writer.returncode == -9
    return len(written)


def check_vectors(store: VectorStore, writes: int) -> None:
    """All of the writes reported; of the one under way, any part."""
    kept = store.ids("ann")
    assert (
        {f"b{n}" for n in range(writes)}
        <= set(kept)
        <= {f"b{n}" for n in range(writes + 1)} | {f"a{n}" for n in range(writes - 3, writes + 1)}
    )
    assert {f"a{writes - 1}"} <= set(kept)
    assert not {f"a{n}" for n in range(writes - 2)} & set(kept)
    near = store.nearest("ann", ROWS[0], len(kept))
    assert {one.id for one in near} == set(kept)
    for one in near:
        n = int(one.id[1:]) + (one.id[0] == "b")
        assert one.cosine == pytest.approx(cosine(ROWS[n % 3], ROWS[0]), abs=1e-6)
    store.put("ann", ["new"], ROWS[:1])  # and it can be gone on with
    assert store.nearest("ann", ROWS[0], 1, among=["new"])[0].cosine == pytest.approx(1, abs=1e-6)


def check_relations(store: RelationStore, writes: int) -> None:
    expected = {str(n): node(str(n), ROWS[n % 3]) for n in range(-1, writes + 1)}
    kept = {one.id: one for one in store.nodes("ann")}
    kept.pop(str(writes), None)  # under way
    expected.pop(str(writes))
    assert kept == {**expected, "-1": node("-1", ROWS[0])}
    relations = store.relations("ann")
    maybe = [relation(str(n - 1), "before", str(n)) for n in (writes - 2, writes - 1, writes)]
    assert maybe[1] in relations
    assert all(one in maybe for one in relations)
    store.put_relations("ann", [relation("0", "after", "1")])  # and it can be gone on with
    assert relation("0", "after", "1") in store.relations("ann", ["0"])


WRITES = [pytest.param(3, marks=pytest.mark.soak), 40]


@pytest.mark.parametrize("writes", WRITES)
@pytest.mark.parametrize(
    ("kind", "store", "check"),
    [
        ("faiss", FaissVectors, check_vectors),
        ("qdrant_edge", QdrantEdgeVectors, check_vectors),
        ("networkx", NetworkxRelations, check_relations),
    ],
)
def test_a_store_outlives_a_kill(kind, store, check, writes, tmp_path):
    path = str(tmp_path / "store")
    written = killed_after(writes, kind, path)
    with closing(store(path)) as opened:
        check(opened, written)


@pytest.mark.slow
def test_relations_in_a_server_outlive_the_kill_of_their_client(bolt_url):
    where = (bolt_url, PASSWORD_VARIABLE, "Killed")
    written = killed_after(20, "neo4j", *where)
    with closing(Neo4jRelations(bolt_url, "root", PASSWORD_VARIABLE, DATABASE, "Killed")) as store:
        check_relations(store, written)
