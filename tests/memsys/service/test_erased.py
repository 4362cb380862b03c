"""Texts that were deleted with their history are in no file of a memory's folder."""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.service.memory import Memory
from memsys.service.setup import SummarySettings
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.vectors import VectorStore
from tests.memsys.build import BagOfTokens, BagOfWords
from tests.memsys.knowledge.facts.models import Planned, call, fact, facts
from tests.memsys.left import files_with
from tests.memsys.service.made import memory, said, texts
from tests.memsys.service.test_relations import model, opened, remembered, say, stated

MAY = datetime(2024, 5, 8)
STORES: dict[str, Callable[[Path], VectorStore | None]] = {
    "memory": lambda _: None,
    "faiss": lambda folder: FaissVectors(str(folder / "v.sqlite")),
    "qdrant_edge": lambda folder: QdrantEdgeVectors(str(folder / "shard")),
}


def vector(text: str) -> Any:
    return BagOfWords().embed([text])[0][0]


def by_id(store: Memory, id_: str) -> str:
    """The id of the memory of the message `id_`."""
    (found,) = (one.id for one in store.get_all(user_id="mara") if id_ in one.turns)
    return found


@pytest.mark.parametrize("kind", STORES)
def test_a_message_is_in_no_file(tmp_path, kind):
    with memory(tmp_path, vectors=STORES[kind](tmp_path), embedder=BagOfTokens()) as store:
        both = [said("I fed the zebra", "m1"), said("It likes pears", "m2")]
        store.add(both, user_id="mara", time=MAY)
        store._writer.embedder.document_tokens(["Mara: I fed the zebra"])
        id_ = by_id(store, "m1")
        store.update(id_, "I fed the quagga")
        store.search("quagga", user_id="mara", time=MAY)
        gone = ("zebra", "quagga", vector("I fed the quagga"), vector("Mara: I fed the zebra"))
        for needle in gone:
            assert files_with(tmp_path, needle), "what is searched for has to be found before"
        store.delete(id_)
        assert store.history(id_)[-1].old == "I fed the quagga"
        # also if it was deleted before
        assert store.delete(id_, history=False).event == "DELETE"
        assert store.history(id_) == []
        assert store.delete(id_, history=False) is None
        assert store.compact() == []
        assert not files_with(tmp_path, *gone)
        assert texts(store.search("pears", user_id="mara")) == ["Mara: It likes pears"]
        (record,) = store.get_all(user_id="mara")
        assert record.index_text == record.memory
    assert not files_with(tmp_path, *gone)


@pytest.mark.parametrize("before", [False, True])
def test_the_next_message_is_not_found_by_deleted_words(tmp_path, before):
    with memory(tmp_path, start="lexical") as store:
        lines = ["I fed the zebra", "It likes pears", "Rain", "Sun", "Snow", "Wind", "Hail"]
        store.add([said(text, f"m{n}") for n, text in enumerate(lines, 1)], user_id="mara")

        def score(query: str) -> float:
            found = store.search(query, user_id="mara", top_k=9)
            return next(one.score for one in found if one.record.turns == ("m2",))

        id_ = by_id(store, "m1")
        if before:
            store.delete(id_)
        assert score("zebra") > 0
        store.delete(id_, history=False)
        assert score("zebra") == 0
        assert score("pears") > 0


@pytest.mark.parametrize("ids", [{}, {"agent_id": "guide"}])
def test_what_a_model_wrote_and_read_is_in_no_file(tmp_path, ids):
    written = facts(fact("Mara fed a zebra", "Mara", 1)), facts(fact("Mara has pears", "Mara", 2))
    llm = Planned(written, [(call("ADD"),)], summary=["They fed a zebra.", "Zebra and pears."])
    given = {"llm": llm, "infer": True, "summary": SummarySettings(searchable=True)}
    with memory(tmp_path, **given) as store:
        for message in (said("I fed the zebra", "m1"), said("I have pears", "m2")):
            store.add(message, user_id="mara", time=MAY, **ids)
        store.add(said("Zebra!", "x1"), user_id="theo", time=MAY)
        others = len(store.get_all(user_id="theo"))
        store.delete(by_id(store, "m1"), history=False)
        assert texts(store.get_all(user_id="mara")) == ["Mara has pears"]
        assert len(store.get_all(user_id="theo")) == others
        store.reset(user_id="theo")
        store.compact()
        assert not files_with(tmp_path, "zebra", "Zebra", vector("Mara fed a zebra"))
        assert files_with(tmp_path, "Mara has pears")
        store.add(said("I have more", "m3"), user_id="mara", time=MAY, **ids)
        assert "ebra" not in llm.asked["extract"][-1]


@pytest.mark.parametrize("before", [False, True])
def test_relations_of_its_messages_are_in_no_file(tmp_path, before):
    relations = NetworkxRelations(str(tmp_path / "r.sqlite")) if before else None
    with opened(tmp_path / "m", model(facts=remembered), store=relations) as store:
        for _ in range(2):
            say(store, "Mara - owns - kiln", "m1")
        say(store, "Mara - likes - badminton", "m2")
        one = by_id(store, "m1")
        if before:
            store.delete(one)
        assert stated(store) == ["Mara likes badminton", "Mara owns kiln"]
        assert store.delete(one, history=False) is not None
        assert stated(store) == ["Mara likes badminton"]
        assert store.compact() == []
        assert not files_with(tmp_path, "kiln", "owns")
        assert files_with(tmp_path, "badminton")
        store.add("a zebra", user_id="mara", infer=False)
        store.add("a pear", user_id="theo", infer=False)
        store.reset(user_id="mara")
        store.compact()
        assert not files_with(tmp_path, "kiln", "badminton", "zebra", "m1\x1f", "m1\\u001f")
        assert texts(store.get_all(user_id="theo")) == ["a pear"]


@pytest.mark.parametrize("other", [{}, {"run_id": "B"}])
def test_relations_of_other_messages_with_the_same_id_remain(tmp_path, other):
    with opened(tmp_path, model(facts=remembered)) as store:
        say(store, "Mara - owns - kiln", "1")
        say(store, "Mara - likes - badminton", "1", user_id="mara", **other)
        (kiln,) = (one for one in store.get_all(user_id="mara") if "kiln" in one.memory)
        assert (kiln.turns, kiln["turns"]) == (("1",), ["1"])
        store.delete(kiln.id, history=False)
        assert stated(store) == ["Mara likes badminton"]
        (found,) = store.search("badminton", user_id="mara").relations
        assert found["turns"] == ["1"]


@pytest.mark.parametrize("before", [False, True])
def test_relations_of_every_message_of_a_memory_also_if_it_was_deleted_before(tmp_path, before):
    """Those of a message without a run too, which changed the memory of a run."""
    read = [[fact("Mara likes badminton", "Mara", 1)], [fact("Mara owns a kiln", "Mara", 1)]]
    update = (call("UPDATE", id=1, content="Mara owns a kiln"),)
    with opened(tmp_path, model(facts=read, operations=[update])) as store:
        say(store, "Mara - likes - badminton", "1", user_id="mara", run_id="A")
        say(store, "Mara - owns - kiln", "2")
        (kiln,) = store.get_all(user_id="mara")
        assert (kiln.run_id, kiln.turns) == ("A", ("1", "2"))
        if before:
            store.delete(kiln.id)
        assert stated(store) == ["Mara likes badminton", "Mara owns kiln"]
        store.delete(kiln.id, history=False)
        assert stated(store) == []


def test_a_store_on_a_server_is_named(tmp_path):
    server = Neo4jRelations("bolt://127.0.0.1:1", password_variable=None)
    with opened(tmp_path, store=server) as store:
        assert store.compact() == ["relation_store"]


def test_a_reader_in_the_way_is_named(store, tmp_path, monkeypatch):
    store.add("a zebra", user_id="mara")
    monkeypatch.setattr("memsys.stores.sqlite._PATIENCE_S", 0)
    store._writer.database.connection.execute("PRAGMA busy_timeout=0")
    other = sqlite3.connect(tmp_path / "memories.sqlite")
    reading = other.execute("SELECT * FROM state")
    assert reading.fetchone()
    with pytest.raises(InputError, match=r"memories\.sqlite: not compacted.*repeat it"):
        store.compact()
    reading.close()
    other.close()
    assert store.compact() == []
