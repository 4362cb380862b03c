"""Threads, tasks, processes, and a process that is killed between a change and its vector."""

import asyncio
import inspect
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memsys import AsyncMemory, Memory
from memsys.core.errors import InputError
from memsys.stores.faiss_vectors import FaissVectors
from tests.memsys.build import BagOfWords
from tests.memsys.service.made import memory, run, setup, texts
from tests.memsys.service.test_relations import opened, rows, say, stated


def vectors_in(file: str) -> int:
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])


# Each deed in a process of its own, which kills itself as the vector store learns of the change, or
# after the change of the relations.
_KILLED = """
import os, signal, sys
from pathlib import Path
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from tests.memsys.service.made import memory
from tests.memsys.service.test_relations import model, opened, remembered, say

armed = set()

def deadly(kind, before, *names):
    def killing(name):
        def run(self, *given):
            if not before: getattr(kind, name)(self, *given)
            if name in armed: os.kill(os.getpid(), signal.SIGKILL)
            if before: getattr(kind, name)(self, *given)
        return run
    return type("Deadly", (kind,), {name: killing(name) for name in names})

Vectors = deadly(FaissVectors, True, "put", "drop")
Relations = deadly(NetworkxRelations, False, "put_nodes", "put_relations", "clear")

for deed in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        folder = Path(sys.argv[1], deed)
        folder.mkdir()
        if deed in ("add", "update", "delete"):
            store = memory(folder, vectors=Vectors(str(folder / "vectors.sqlite")))
            (first,) = store.add("kiln", user_id="mara").changes
            armed |= {"put", "drop"}
            if deed == "add": store.add("bowl", user_id="mara")
            if deed == "update": store.update(first.id, "bowl")
            if deed == "delete": store.delete(first.id)
        else:
            relations = Relations(str(folder / "relations.sqlite"))
            store = opened(folder, model(facts=remembered), store=relations)
            for number in range(3):
                say(store, f"Mara - owns{number} - kiln")
            armed.add(deed)
            if deed == "clear": store.delete_all(user_id="mara")
            say(store, "Mara - owns3 - kiln")
        os._exit(0)
    print(deed, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
LEFT = {"add": ["kiln", "bowl"], "update": ["bowl"], "delete": []}  # the change itself is kept
MOMENTS = ("put_nodes", "put_relations", "clear")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of memories, each left by a killed process."""
    folder = tmp_path_factory.mktemp("killed")
    ended = run(_KILLED, folder, *LEFT, *MOMENTS)
    expected = [f"{deed} {-signal.SIGKILL}" for deed in (*LEFT, *MOMENTS)]
    assert ended.stdout.splitlines() == expected, ended.stderr
    return folder


@pytest.mark.parametrize("deed", LEFT)
def test_vectors_are_repaired_after_a_kill(killed, deed):
    file, there = str(killed / deed / "vectors.sqlite"), LEFT[deed]
    with memory(killed / deed, vectors=FaissVectors(file)) as store:
        assert texts(store.get_all(user_id="mara")) == there
        for text in there or ["kiln"]:
            found = store.search(text, user_id="mara")
            assert len(found) == len(there)
            first = [(one.memory, one.score) for one in found[:1]]
            assert first == [(text, pytest.approx(1))] * bool(there)
    assert vectors_in(file) == len(there)  # no vector of what is gone


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_loses_no_relation_that_was_acknowledged(killed, moment):
    with opened(killed / moment) as store:
        acknowledged = [f"Mara owns{number} kiln" for number in range(3)]
        assert stated(store)[:3] == ([] if moment == "clear" else acknowledged)
        facts = [f"Mara - owns{number} - kiln" for number in range(3)]
        assert texts(store.get_all(user_id="mara"))[:3] == facts
        say(store, "Mara - sells - kiln")  # the folder can be written
        assert "Mara sells kiln" in stated(store)
        store.delete_all(user_id="mara")  # what the kill interrupted can be repeated
        assert store.get_all(user_id="mara") == []
    assert rows(killed / moment) == (0, 0)


@pytest.mark.parametrize("kept", [True, False])
def test_a_vector_store_that_lost_all_is_filled_again(tmp_path, kept):
    file = str(tmp_path / "vectors.sqlite")
    with memory(tmp_path, vectors=FaissVectors(file) if kept else None) as store:
        store.add("kiln", user_id="mara")
    (tmp_path / "vectors.sqlite").unlink(missing_ok=True)
    with memory(tmp_path, vectors=FaissVectors(file) if kept else None) as store:
        assert texts(store.search("kiln", user_id="mara")) == ["kiln"]


@pytest.mark.parametrize("start", ["vector", "hybrid"])
def test_two_open_stores_see_each_other_s_changes(tmp_path, start):
    with memory(tmp_path, start=start) as one, memory(tmp_path, start=start) as other:
        (added,) = one.add("kiln", user_id="mara").changes
        assert texts(other.search("kiln", user_id="mara")) == ["kiln"]
        other.update(added.id, "bowl")
        assert texts(one.search("kiln", user_id="mara")) == ["bowl"]
        one.reset(all=True)
        assert other.search("kiln", user_id="mara") == []
        other.add("seedlings", user_id="mara")
        assert texts(one.search("kiln", user_id="mara")) == ["seedlings"]


def test_two_folders_may_share_a_store_of_vectors(tmp_path):
    file = str(tmp_path / "vectors.sqlite")
    with memory(tmp_path / "a", vectors=FaissVectors(file)) as store:
        store.add("kiln", user_id="mara")
    with memory(tmp_path / "b", vectors=FaissVectors(file)) as other:
        other.add("bowl", user_id="mara")
        assert texts(other.search("kiln", user_id="mara")) == ["bowl"]
        other.reset(all=True)
    with memory(tmp_path / "a", vectors=FaissVectors(file)) as store:
        assert texts(store.search("bowl", user_id="mara")) == ["kiln"]
    assert vectors_in(file) == 1
    with memory(tmp_path / "a") as other:  # which does not know of that file
        other.reset(all=True)
    with memory(tmp_path / "a", vectors=FaissVectors(file)) as store:
        assert store.search("kiln", user_id="mara") == []
    assert vectors_in(file) == 0


_WRITES = """
import os, sys
from pathlib import Path
from tests.memsys.service.made import memory
writers = []
for name in "abc":
    writers.append(os.fork())
    if writers[-1] == 0:
        store = memory(Path(sys.argv[1]))
        for i in range(20):
            store.add(f"kiln {name} {i}", user_id="mara")
        os._exit(0)
print(*(os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) for writer in writers))
"""


def test_processes_write_one_folder_at_once(store, tmp_path):
    ended = run(_WRITES, tmp_path)
    assert ended.stdout.split() == ["0", "0", "0"], ended.stderr
    assert len(store.search("kiln", user_id="mara", top_k=99)) == 60
    assert len(store.get_all(user_id="mara")) == 60


def test_threads_share_one_store(tmp_path):
    with memory(tmp_path) as store, ThreadPoolExecutor(8) as pool:

        def work(i: int) -> int:
            owner = f"u{i % 4}"
            (added,) = store.add(f"kiln {i}", user_id=owner).changes
            found = store.search("kiln", user_id=owner, top_k=50)
            assert added.id in {f.record.id for f in found}
            assert all(f.record.owner.user_id == owner for f in found)
            if i % 5 == 0:
                store.delete(added.id)
            return 1

        assert sum(pool.map(work, range(60))) == 60
        left = [len(store.search("kiln", user_id=f"u{u}", top_k=50)) for u in range(4)]
        assert sum(left) == 48
        assert left == [len(store.get_all(user_id=f"u{u}")) for u in range(4)]


def test_threads_write_the_relations_of_one_owner(tmp_path):
    messages = [f"Mara - does{number} - kiln" for number in range(12)]
    with opened(tmp_path) as store, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: say(store, text), messages))
        with closing(sqlite3.connect(tmp_path / "relations.sqlite")) as db:
            stored = db.execute("SELECT name FROM relations ORDER BY name").fetchall()
            (mentions,) = db.execute("SELECT mentions FROM nodes WHERE id = 'kiln'").fetchone()
        assert (len(stored), mentions, len(stated(store))) == (12, 12, 5)


def test_another_embedder_is_refused(tmp_path):
    folder = tmp_path / "new"
    memory(folder).close()
    assert folder.stat().st_mode & 0o077 == 0  # for its owner alone
    with pytest.raises(InputError, match="embedded by bag, not other; set embedder="):
        memory(folder, embedder=BagOfWords("other"))


def test_a_folder_that_is_none_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: not usable as a folder of memories"):
        memory(tmp_path / "file")
    for name, column in (("other", "title"), ("earlier", "event_time")):
        memory(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name / "memories.sqlite")) as db:
            db.execute(f"ALTER TABLE memories DROP COLUMN {column}")
    with memory(tmp_path / "earlier") as store:  # from before there were event times
        store.add("the kiln", user_id="mara")
        assert store.get_all(user_id="mara")[0].event_time is None
    with pytest.raises(InputError, match=r"not usable as a folder of .*no such column: title"):
        memory(tmp_path / "other")


OTHERS = {"from_config", "enable_graph"}  # no operations


def test_every_operation_of_a_memory_can_be_awaited():
    operations = {name for name in vars(Memory) if not name.startswith("_")} - OTHERS
    assert operations == {name for name in vars(AsyncMemory) if not name.startswith("_")} - OTHERS
    for name in operations:
        one, other = getattr(Memory, name), getattr(AsyncMemory, name)
        assert inspect.signature(one) == inspect.signature(other)
        assert inspect.iscoroutinefunction(inspect.unwrap(other, stop=asyncio.iscoroutinefunction))


def test_operations_of_several_tasks_run_at_once_and_end_with_the_block(tmp_path, monkeypatch):
    both = threading.Barrier(2, timeout=60)

    async def run() -> list[Any]:
        async with AsyncMemory(tmp_path, setup()) as store:
            await store.add("the kiln", user_id="mara")
            search = store.memory._searcher._find

            def meeting(asked: Any) -> Any:
                if asked.owner.user_id == "mara":
                    both.wait()
                return search(asked)

            monkeypatch.setattr(store.memory._searcher, "_find", meeting)
            found = await asyncio.gather(*(store.search("kiln", user_id="mara") for _ in range(2)))
            written = await store.context("kiln", user_id="nobody")
            assert written.text == ""
            with pytest.raises(InputError, match="owner: give"):
                await store.search("kiln")
        with pytest.raises(InputError, match="this memory is closed"):
            await store.get("id")
        return found

    assert [texts(one) for one in asyncio.run(run())] == [["the kiln"]] * 2


def test_one_from_a_configuration_may_be_awaited_or_not(tmp_path: Path):
    async def run() -> None:
        first = AsyncMemory.from_config({"strategy": "bm25"}, tmp_path)
        assert await first is first
        await first.close()

    asyncio.run(run())
