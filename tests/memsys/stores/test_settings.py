"""What cannot be used says so in one line, with the setting and the remedy, and no secret."""

import socket
from contextlib import closing

import pytest

from memsys.core.errors import InputError
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.qdrant_vectors import QdrantVectors
from tests.memsys.service.made import run
from tests.memsys.stores.arcadedb import DATABASE
from tests.memsys.stores.conftest import PASSWORD_VARIABLE, LocalQdrant, on_arcadedb
from tests.memsys.stores.made import node, pool

SECRET = "hunter2"  # noqa: S105 - the one to look for
(ROW,) = pool(0, 1)


@pytest.fixture
def closed_port():
    """A port that nobody else gets and nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def message(error) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert SECRET not in text
    return text


@pytest.mark.parametrize("store", [FaissVectors, NetworkxRelations])
def test_a_file_that_is_no_store_or_cannot_be_written(store, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no database, but long enough to look like one" * 100)
    with pytest.raises(InputError, match="name a file") as error:
        store(str(path))
    assert f"store.path={path}" in message(error)
    with pytest.raises(InputError, match="name a file"):
        store(str(path / "store.sqlite"))
    with pytest.raises(InputError, match="name a folder") as error:
        QdrantEdgeVectors(str(path / "shard")).put("ann", ["a"], ROW[None])
    message(error)


ONE_AT_A_TIME = """
import sys
import numpy as np
from memsys.core.errors import InputError
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
first, second = QdrantEdgeVectors(sys.argv[1]), QdrantEdgeVectors(sys.argv[1])
first.put("ann", ["a"], np.ones((1, 2), np.float32))
try:
    second.ids("ann")
except InputError as error:
    print(error)
first.close()
print(second.ids("ann"))
"""


def test_one_qdrant_edge_at_a_time_has_a_folder_open(tmp_path):
    """In a process of its own: of each refusal the engine keeps a trace, which takes 40 MB."""
    refused, output = run(ONE_AT_A_TIME, tmp_path / "shard").stdout.splitlines()
    assert f"vector_store.path={tmp_path / 'shard'}" in refused
    assert "no other store has open" in refused
    assert output == "['a']"


def test_a_folder_that_is_not_of_qdrant_edge(tmp_path):
    (tmp_path / "edge_config.json").write_text("{}")
    with pytest.raises(InputError, match="name another folder") as error:
        QdrantEdgeVectors(str(tmp_path)).ids("ann")
    message(error)


def test_nothing_is_connected_before_it_is_asked(closed_port, monkeypatch):
    for name in ("NEO4J_PASSWORD", "NOT_SET"):
        monkeypatch.delenv(name, raising=False)
    Neo4jRelations(f"bolt://127.0.0.1:{closed_port}").close()
    QdrantVectors(f"http://127.0.0.1:{closed_port}", key_variable="NOT_SET").close()


def test_a_connection_to_qdrant_is_closed_with_the_store():
    store = LocalQdrant(location=":memory:")
    store.put("ann", ["a"], ROW[None])
    store.close()
    with pytest.raises(RuntimeError, match="closed"):
        store.ids("ann")


def test_no_graph_database_there(closed_port, monkeypatch):
    monkeypatch.setenv("NEO4J_PASSWORD", SECRET)
    url = f"bolt://127.0.0.1:{closed_port}"
    with closing(Neo4jRelations(url)) as store, pytest.raises(InputError, match="server") as error:
        store.put_nodes("ann", [node("a", ROW)])
    assert f"relation_store.url={url}" in message(error)


def test_no_qdrant_there(closed_port, monkeypatch):
    monkeypatch.setenv("SOME_KEY", SECRET)
    url = f"http://127.0.0.1:{closed_port}"
    with (
        pytest.warns(UserWarning, match="insecure"),
        closing(QdrantVectors(url, key_variable="SOME_KEY")) as store,
        pytest.raises(InputError, match="start Qdrant there") as error,
    ):
        store.put("ann", ["a"], ROW[None])
    assert f"vector_store.url={url}" in message(error)


def test_the_variable_of_a_password_or_key_is_empty(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "")
    relations = Neo4jRelations("bolt://127.0.0.1", "neo4j", "SOME_KEY")
    vectors = QdrantVectors("http://127.0.0.1", key_variable="SOME_KEY")
    for ask in (relations.nodes, vectors.ids):
        with pytest.raises(InputError, match="has no SOME_KEY") as error:
            ask("ann")
        message(error)


BOLT = [f"bolt://neo4j:{SECRET}@localhost", "http://localhost", "localhost:7687", "bolt://"]
HTTP = [f"http://u:{SECRET}@localhost:6333", "localhost:6333", "bolt://x"]


@pytest.mark.parametrize(
    ("store", "place", "urls"),
    [(Neo4jRelations, "relation_store", BOLT), (QdrantVectors, "vector_store", HTTP)],
)
def test_addresses_of_servers(store, place, urls):
    for url in urls:
        with pytest.raises(InputError, match=rf"{place}\.url") as error:
            store(url)
        message(error)


def test_names_that_go_into_statements():
    names = [("label", name) for name in ("A B", "x) DETACH DELETE n //", "`x`", "")]
    for setting, name in (*names, ("similarity", "f(x)")):
        with pytest.raises(InputError, match=setting):
            Neo4jRelations("bolt://localhost", **{setting: name})


def test_a_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setattr("memsys.core.errors.find_spec", lambda name: None)
    for store, where, extra in (
        (Neo4jRelations, ["bolt://localhost"], "neo4j"),
        (QdrantVectors, ["http://localhost"], "qdrant"),
        (QdrantEdgeVectors, [], "qdrant"),
    ):
        with pytest.raises(InputError, match=rf"pip install -e '\.\[{extra}\]'") as error:
            store(*where)
        message(error)


@pytest.mark.slow
def test_a_server_that_refuses(bolt_url, monkeypatch):
    monkeypatch.setenv("WRONG", SECRET)
    cosine = "vector.similarity.cosine"
    with closing(on_arcadedb(bolt_url, "Refused")) as right:
        right.put_nodes("ann", [node("a", ROW)])
    for variable, database, similarity, words in (
        ("WRONG", DATABASE, cosine, "Authentication failed"),
        (PASSWORD_VARIABLE, "nowhere", cosine, "nowhere"),
        (PASSWORD_VARIABLE, DATABASE, "no.such.function", "no.such.function"),
    ):
        wrong = Neo4jRelations(bolt_url, "root", variable, database, "Refused", similarity)
        with closing(wrong), pytest.raises(InputError, match=words) as error:
            wrong.similar("ann", ROW, 0, 1)
        assert f"relation_store.url={bolt_url}" in message(error)
