"""Bytes are those of real files: each test writes one and looks at its size."""

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict
from datetime import datetime

from memsys.core.types import Memory
from memsys.knowledge.relations.relation_graph import RelationGraph
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.size import line, lines, singles, together
from tests.memsys.build import memory
from tests.memsys.knowledge.relations.models import settings
from tests.memsys.stores.made import keys, node, pool, relation

OWNER = "0123456789abcdef0123456789abcdef"


def test_memories_are_the_lines_of_a_file_from_which_they_come_back(tmp_path):
    kept = [
        memory("D1:1", 'She said "so"\n\tand left', index_text="before\nafter", event="2024-03"),
        memory("上海", "陶艺课在上海，🐈", speaker="小玛", turns=("a", "b"), importance=1 / 3),
    ]
    file = tmp_path / "memories.jsonl"
    file.write_text("".join(line(one) for one in kept), encoding="utf-8")
    assert lines(kept) == file.stat().st_size
    rows = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    back = [
        Memory(**row | {"time": datetime.fromisoformat(row["time"]), "turns": tuple(row["turns"])})
        for row in rows
    ]
    assert back == kept
    assert [row.keys() for row in rows] == [(every := asdict(kept[0]).keys()), every - {"event"}]


def test_the_lines_of_many_rows_add_up_and_half_a_surrogate_pair_does_no_harm():
    rows = [[number, "陶", {"a": number / 7}] for number in range(2_345)]
    assert lines(rows) == sum(len(line(row).encode()) for row in rows)
    assert lines([]) == 0
    assert lines([memory("a", "x\ud83d")]) == lines([memory("a", "x陶")])


def test_vectors_are_of_four_bytes_a_number_and_sums_are_by_unit():
    rows = pool(1, 200, 64)
    assert singles(rows) == singles([rows]) == 200 * 64 * 4
    assert together({"a": 1, "b": 2}, {"b": 3, "c": 0}) == {"a": 1, "b": 5, "c": 0}


def test_a_graph_of_relations_is_near_the_file_of_the_relation_store(tmp_path, bag_of_words):
    file, ids = tmp_path / "relations.sqlite", [f"somebody {i}" for i in range(200)]
    with closing(NetworkxRelations(str(file))) as store:
        rows = pool(2, 200, 384)
        store.put_nodes(OWNER, [node(i, row) for i, row in zip(ids, rows, strict=True)])
        linked = [keys([ids[i % 200], ids[i * 7 % 200]])[i % 12] for i in range(300)]
        store.put_relations(OWNER, [relation(*key) for key in dict.fromkeys(linked)])
        size = RelationGraph(store, OWNER, bag_of_words, settings()).size()
        other = RelationGraph(store, "nobody", bag_of_words, settings()).size()
    assert other == {"tokens": 0, "nodes": 0, "edges": 0, "bytes": 0}
    assert (size["nodes"], size["edges"]) == (200, len(set(linked)))
    with closing(sqlite3.connect(file)) as db:
        (vectors,) = db.execute("SELECT sum(length(vector)) FROM nodes").fetchone()
    assert vectors == 200 * 384 * 4 < size["bytes"]
    assert size["bytes"] < file.stat().st_size < 1.5 * size["bytes"]
