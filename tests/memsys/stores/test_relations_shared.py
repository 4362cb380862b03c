"""Several processes write the same owner of one relation file, and lose nothing of each other."""

import subprocess
import sys
from contextlib import closing

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Vectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import RelationStore
from tests.memsys.stores.made import node, pool, relation
from tests.memsys.stores.writer import ROWS, SHARED

WRITES = 25


def start(path: str, name: str, writes: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.memsys.stores.writer"]
    return subprocess.Popen(
        [*command, "networkx_shared", path, name, str(writes)], stdout=subprocess.PIPE, text=True
    )


def check(store: RelationStore, written: dict[str, int], unsure: int = 0) -> None:
    """Every write of each writer is there, and each counted one mention of the shared node."""
    (shared,) = store.nodes("ann", [SHARED])
    total = sum(written.values())
    assert total <= shared.mentions <= total + unsure
    ids = {one.id for one in store.nodes("ann")}
    targets = {one.target for one in store.relations("ann", [SHARED])}
    for name, count in written.items():
        assert {f"{name}{n}" for n in range(count)} <= ids & targets
    assert len(store.relations("ann")) == len(ids) - 1 == shared.mentions


def test_processes_that_write_one_owner_lose_nothing(tmp_path):
    path = str(tmp_path / "shared.sqlite")
    with closing(NetworkxRelations(path)) as store:
        assert store.nodes("ann") == []  # read before the others write
        writers = {name: start(path, name, WRITES) for name in ("p", "q", "r")}
        for writer in writers.values():
            writer.communicate(timeout=60)
            assert writer.returncode == 0
        check(store, dict.fromkeys(writers, WRITES))
        found = store.similar("ann", ROWS[0], 0.99, 200)
        assert {near.node.id for near in found} >= {f"p{n}" for n in range(WRITES) if n % 3 == 0}
    with closing(NetworkxRelations(path)) as store:
        check(store, dict.fromkeys(writers, WRITES))


def test_a_killed_writer_loses_nothing_acknowledged_and_stops_no_other(tmp_path):
    path = str(tmp_path / "shared.sqlite")
    killed, other = start(path, "p", 100_000), start(path, "q", WRITES)
    assert killed.stdout
    acknowledged = [int(killed.stdout.readline()) for _ in range(WRITES)]
    killed.kill()
    acknowledged += [int(line) for line in killed.stdout]  # also what is read ahead
    killed.communicate(timeout=60)
    other.communicate(timeout=60)
    assert other.returncode == 0
    with closing(NetworkxRelations(path)) as store:
        check(store, {"p": len(acknowledged), "q": WRITES}, unsure=1)


@pytest.fixture
def two(tmp_path):
    path = str(tmp_path / "two.sqlite")
    with closing(NetworkxRelations(path)) as one, closing(NetworkxRelations(path)) as other:
        yield one, other


def test_a_store_sees_what_another_has_changed(two):
    one, other = two
    rows = pool(0, 2)
    one.put_nodes("ann", [node("a", rows[0]), node("b", rows[1])])
    assert [found.id for found in other.nodes("ann")] == ["a", "b"]
    other.put_relations("ann", [relation("a", "knows", "b")])
    other.put_nodes("bob", [node("c", rows[0])])
    assert one.relations("ann") == [relation("a", "knows", "b")]
    assert [found.node.id for found in one.similar("bob", rows[0], 0.9, 5)] == ["c"]
    one.drop_relations("ann", [("a", "knows", "b")])
    assert other.relations("ann") == []
    one.clear("ann")
    assert other.nodes("ann") == []
    assert other.similar("ann", rows[0], -1, 5) == []
    other.put_nodes("ann", [node("d", rows[0])])
    assert [found.id for found in one.nodes("ann")] == ["d"]
    other.drop_nodes("ann", ["d"])  # the last one
    assert one.nodes("ann") == []


def fail_after_changes(one: RelationStore, other: RelationStore, rows: Vectors) -> None:
    with one.writing():
        one.put_nodes("ann", [node("a", rows[1], mentions=7), node("b", rows[1])])
        one.put_relations("ann", [relation("a", "knows", "b")])
        assert len(one.nodes("ann")) == 2
        assert len(other.nodes("ann")) == 1  # not before the end
        raise ZeroDivisionError


def test_a_failed_transaction_changes_nothing(two):
    one, other = two
    rows = pool(0, 2)
    one.put_nodes("ann", [node("a", rows[0])])
    with pytest.raises(ZeroDivisionError):
        fail_after_changes(one, other, rows)
    for store in two:
        assert store.nodes("ann") == [node("a", rows[0])]
        assert store.relations("ann") == []
        assert [found.node.id for found in store.similar("ann", rows[1], 0.999, 5)] == []


def test_a_failed_transaction_in_memory_changes_nothing_either():
    rows = pool(0, 2)
    with closing(NetworkxRelations()) as store:
        store.put_nodes("ann", [node("a", rows[0])])
        with pytest.raises(InputError, match="'nobody'"), store.writing():  # noqa: PT012
            store.put_nodes("ann", [node("b", rows[1])])
            store.put_relations("ann", [relation("a", "knows", "nobody")])
        assert store.nodes("ann") == [node("a", rows[0])]
        assert store.similar("ann", rows[1], 0.999, 5) == []


def test_a_cleared_owner_leaves_no_name_in_the_file(two, tmp_path):
    one, _ = two
    one.put_nodes("somebody", [node("a", pool(0, 1)[0])])
    one.clear("somebody")
    one.put_nodes("ann", [node("a", pool(0, 1)[0])])
    rows = one._db.execute("SELECT owner FROM owners").fetchall()
    assert [row["owner"] for row in rows] == ["ann"]
