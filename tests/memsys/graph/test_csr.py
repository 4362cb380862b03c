from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from memsys.core.types import Memory
from memsys.graph import csr
from memsys.graph.build import GraphSettings, build_graph
from memsys.graph.csr import CsrStore, PageRank, build_csr
from memsys.graph.store import ENTITY, MEMORY

SETTINGS = GraphSettings(max_entities=4, max_share=0.3, keyword_weight=0.7, name_weight=1.0)
WORDS = "harbour lantern copper orchard violin kettle granite meadow saffron ledger".split()


# None, of a word of other memories, of a phrase of them, of every tenth memory, of one
TITLES = ["", "The harbour", "Copper orchards", "A walk by night", "星际穿越 again", "Lone {}"]


def memories(n: int = 60, seed: int = 0, titles: Sequence[str] = TITLES) -> list[Memory]:
    random = np.random.default_rng(seed)
    return [
        Memory(f"D{i}", text, text, datetime(2024, 1, 1), "Mara", (f"D{i}",), title=title)
        for i in range(n)
        for text in [f"Mara: the {' '.join(random.choice(WORDS, 4))} of Old Selwyn"]
        for title in [titles[i % len(titles)].format(i)]
    ]


def rows(known: list[Memory]) -> dict[str, int]:
    return {memory.id: row for row, memory in enumerate(known)}


EVERYTHING = replace(
    SETTINGS, speaker_weight=0.3, date_weight=0.4, adjacent_weight=0.5, min_association=0.1
)


@pytest.mark.parametrize(
    ("n", "titles", "settings"),
    [
        (60, [""], SETTINGS),
        (60, TITLES, SETTINGS),
        (60, TITLES, EVERYTHING),
        (1, ["A hobby"], SETTINGS),
    ],
)
def test_nodes_edges_weights_and_titles_are_those_of_networkx(n, titles, settings):
    known = memories(n, titles=titles)
    one, other = build_graph(known, settings), build_csr(known, rows(known), settings)
    assert dict(other.start_nodes) == one.start_nodes
    assert len(other.start_nodes) == len(one.start_nodes) > 50 * n // 60
    nodes = [MEMORY + memory.id for memory in known]
    nodes += sorted({e.node for edges in one.store.neighbours(nodes) for e in edges})
    for mine, theirs in zip(
        other.store.neighbours(nodes), one.store.neighbours(nodes), strict=True
    ):
        weights = {edge[:2]: edge.weight for edge in theirs}
        assert {edge[:2]: edge.weight for edge in mine} == pytest.approx(weights, rel=1e-6)
        assert [edge.weight for edge in mine] == sorted((e.weight for e in mine), reverse=True)
    for store in (one.store, other.store):
        mentions = [[e for e in edges if e.kind == "mentions"] for edges in store.neighbours(nodes)]
        assert store.neighbours(nodes, mentions_only=True) == mentions


@pytest.mark.parametrize("entries", [1, 7, 200_000])
def test_its_nodes_and_edges_are_as_many_as_those_of_networkx(entries, monkeypatch):
    monkeypatch.setattr(csr, "_ENTRIES", entries)
    alone = [Memory("alone", "zebra", "zebra", datetime(2024, 1, 1), "Mara", ())]
    known = [*memories(), *alone, *memories(n=75, seed=5)[60:]]
    one, other = build_graph(known, SETTINGS).store, build_csr(known, rows(known), SETTINGS).store
    held, expected = other.size(), one.size()
    assert (held["nodes"], held["edges"]) == (expected["nodes"], expected["edges"])
    assert held["edges"] > held["nodes"] > len(known)


def test_its_bytes_are_those_of_its_arrays_in_a_file(tmp_path):
    known = memories()
    store = build_csr(known, rows(known), SETTINGS).store
    assert isinstance(store, CsrStore)
    with (tmp_path / "graph").open("wb") as file:
        for array in (*store.mentions, *store.mentioned):
            array.tofile(file)
        for key in {e.node for m in known for e in store.neighbours([MEMORY + m.id])[0]}:
            file.write(f'"{key.removeprefix(ENTITY)}"\n'.encode())
    assert store.size()["bytes"] == (tmp_path / "graph").stat().st_size


@pytest.mark.parametrize("texts", [["a"], ["a", "b"], ["of the", "of the", "of the"]])
def test_unknown_nodes_and_a_store_in_which_nothing_is_shared_have_no_edges(texts):
    known = memories(n=20)
    store = build_csr(known, rows(known), SETTINGS).store
    assert store.neighbours([MEMORY + "nobody", ENTITY + "nothing", "neither"]) == [[], [], []]
    known = [Memory(str(i), t, t, datetime(2024, 1, 1), "M", ()) for i, t in enumerate(texts)]
    graph = build_csr(known, rows(known), SETTINGS)
    assert not len(graph.start_nodes)
    assert graph.store.neighbours([MEMORY + "0"]) == [[]]
    held = graph.store.size()
    assert (held["nodes"], held["edges"]) == (0, 0)


def walked(known: list[Memory], start: int, damping: float, steps: int) -> list[float]:
    """The same walk by dense matrices."""
    store = build_csr(known, rows(known), SETTINGS).store
    assert isinstance(store, CsrStore)
    dense = np.zeros((len(known), len(store.mentioned.starts) - 1))
    for row in range(len(known)):
        columns, weights = store.mentions.row(row)
        dense[row, columns] = weights
    to_entities = dense / np.maximum(dense.sum(1, keepdims=True), 1e-12)
    to_memories = dense.T / np.maximum(dense.T.sum(1, keepdims=True), 1e-12)
    restart = np.eye(len(known))[start]
    share = restart
    for _ in range(steps):
        share = (1 - damping) * restart + damping * (share @ to_entities @ to_memories)
    return list(share)


def test_pagerank_is_the_walk_by_dense_matrices_and_stores_only_mentions():
    known = memories()
    store = build_csr(known, rows(known), SETTINGS).store
    assert isinstance(store, CsrStore)
    mentions = sum(len(edges) for edges in store.neighbours([MEMORY + m.id for m in known]))
    held = PageRank(store).size()
    assert (held["nodes"], held["edges"]) == (store.size()["nodes"], mentions)
    entities = len(store.mentioned.starts) - 1
    assert held["bytes"] == 2 * mentions * (8 + 4) + 4 * (len(known) + 1 + entities + 1)
    scores = PageRank(store).scores({7: 3.0}, damping=0.5, steps=20)
    assert scores == pytest.approx(walked(known, 7, 0.5, 20), abs=1e-6)
    assert scores.argmax() == 7
    assert scores.sum() == pytest.approx(1.0)
