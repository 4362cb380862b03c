"""Strategies as search models of MTEB and PyTerrier, called and scored as by those."""

import re
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import parse
from memsys.core.errors import InputError
from memsys.core.types import UNDATED, Candidate, Memory
from memsys.service.mteb import Search, decreasing

CORPUS: list[dict[str, Any]] = [
    {"id": "d1", "title": "Bees", "text": "Honey bees dance to point at flowers."},
    {"id": "d2", "title": "", "text": "A lighthouse warns ships off the rocks at night."},
    {"id": "d 3", "title": "Tides", "text": "The moon pulls the sea twice a day."},
    {"id": "d4", "title": None, "text": "Clay pots crack in a kiln that cools too fast."},
    {"id": "d5", "text": "Rye bread needs a sour dough and a night of rest."},
    {"id": "d6", "title": "Moths", "text": "Moths circle the lighthouse lamp on warm nights."},
    {"id": "d7", "title": "", "text": ""},
]
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "text": "How do bees show where the flowers are?"},
    {"id": "q2", "text": "What moves the sea?"},
    {"id": "q3", "text": "What is drawn to the lighthouse at night?"},
]
QRELS = {"q1": {"d1": 1}, "q2": {"d 3": 2, "d2": 0}, "q3": {"d6": 1, "d2": 1, "d5": 1}}
POOLS = {"q1": ["d2", "d1", "d4"], "q2": ["d 3", "d2"], "q3": ["d4", "d2", "d6", "d7"]}
TASK: dict[str, Any] = {
    **{"task_metadata": None, "hf_split": "test", "hf_subset": "default"},
    **{"encode_kwargs": {"batch_size": 32}, "num_proc": None},
}


def ranked(model: Search, **options: Any) -> dict[str, list[str]]:
    """The ranking of each query, by score as trec_eval sorts."""
    found = model.search(QUERIES, **{"top_k": 5, **options}, **TASK)
    return {id_: sorted(row, key=lambda one: -np.float32(row[one])) for id_, row in found.items()}


@pytest.mark.parametrize("strategy", ["vector_only", "graph_walk"])
def test_relevant_documents_come_first_among_all_or_the_candidates(strategy, tmp_path):
    model = Search(strategy, cache=tmp_path)
    model.index(CORPUS, **TASK)
    found = ranked(model)
    assert {id_: len(ranking) for id_, ranking in found.items()} == dict.fromkeys(QRELS, 5)
    assert (found["q1"][0], found["q2"][0]) == ("d1", "d 3")
    assert found["q3"][0] in QRELS["q3"]
    pools = {**POOLS, "q3": []}
    found = ranked(model, top_ranked=pools)
    assert {id_: sorted(ranking) for id_, ranking in found.items()} == {
        id_: sorted(ranking) for id_, ranking in pools.items()
    }
    assert found["q1"][0] == "d1"
    assert len(ranked(model, top_ranked=POOLS, top_k=1)["q2"]) == 1


def test_a_later_search_may_go_deeper_and_a_new_corpus_replaces_the_old(tmp_path):
    model = Search("bm25", cache=tmp_path, k=1)
    model.index(CORPUS, **TASK)
    assert len(model.search(QUERIES, top_k=2, **TASK)["q1"]) == 2
    assert len(model.search(QUERIES, top_k=100, **TASK)["q1"]) == len(CORPUS)
    model.index(CORPUS[:2], **TASK)
    ((id_, found),) = model.search(QUERIES[:1], top_k=9, **TASK).items()
    assert (id_, len(found)) == ("q1", 2)
    model.index([], **TASK)
    assert model.search(QUERIES[:1], top_k=9, **TASK) == {"q1": {}}


def test_scores_keep_the_order_without_ties():
    given = [("b", 0.5), ("a", 0.5), ("c", 0.5 - 1e-12), ("d", 0.9), ("e", 0.25), ("f", -1.0)]
    memories = [(Memory(id_, "", "", UNDATED, "", (id_,)), score) for id_, score in given]
    scores = decreasing([Candidate(*one) for one in memories])
    assert list(scores) == ["b", "a", "c", "d", "e", "f"]
    assert all(one > other for one, other in pairwise(map(np.float32, scores.values())))
    assert (scores["b"], scores["e"], scores["f"]) == (0.5, 0.25, -1.0)
    assert scores["d"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("strategy", "options", "message"),
    [
        ("full_context", {}, "selects without an order"),
        ("oracle", {}, "does not rank stored"),
        ("bm25", {"memory": "windows"}, "memory: no such setting; there are budget"),
        ("bm25", {"k": 0}, "k: 0"),
    ],
)
def test_what_cannot_search(strategy, options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        Search(strategy, cache=tmp_path, **options)


def test_the_results_of_mteb_name_the_model(tmp_path, monkeypatch):
    stand_in = ModuleType("mteb.models.model_meta")
    stand_in.ModelMeta = SimpleNamespace(create_empty=dict)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    meta = Search("bm25", cache=tmp_path, k=3).mteb_model_meta
    assert meta == {"name": "memsys/bm25 k=3", "model_type": ["sparse"]}


def test_rows_that_cannot_be_used(tmp_path):
    model = Search("bm25", cache=tmp_path)
    with pytest.raises(InputError, match="document 'd1' occurs twice"):
        model.index([CORPUS[0], CORPUS[0]], **TASK)
    with pytest.raises(InputError, match="document None: needs a text as id"):
        model.index([{"text": "a"}], **TASK)
    model.index(CORPUS, **TASK)
    with pytest.raises(InputError, match="query 'q': needs a text as id and another as text"):
        model.search([{"id": "q", "text": ["a", "b"]}], top_k=3, **TASK)
    with pytest.raises(InputError, match="document 'd9' is not in the corpus"):
        model.search(QUERIES, top_k=3, top_ranked={"q1": ["d1", "d9"]}, **TASK)


# The transformer of docs/exporting.md is executed with a stand-in for PyTerrier.
DOCUMENT = Path(__file__).parents[3] / "docs" / "exporting.md"
_CODE = re.compile(r"<!-- example: pyterrier -->\n```python\n(.*?)```", re.DOTALL)
TOPICS = pd.DataFrame([(one["id"], one["text"]) for one in QUERIES], columns=["qid", "query"])


@pytest.fixture
def retriever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    stand_in = ModuleType("pyterrier")
    stand_in.Transformer = type("Transformer", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyterrier", stand_in)
    (code,) = _CODE.findall(DOCUMENT.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    exec(compile(code, str(DOCUMENT), "exec"), names)  # noqa: S102 - our own document
    corpus = [{"docno": one["id"], "text": one["text"]} for one in CORPUS]
    return names["MemsysRetriever"](corpus, "bm25", num_results=3, cache=tmp_path)


def test_topics_become_rankings(retriever):
    found = retriever.transform(TOPICS)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]
    assert list(found["qid"]) == ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 3
    assert list(found["rank"]) == [0, 1, 2] * 3
    best = found[found["rank"] == 0].set_index("qid")["docno"]
    assert (best["q1"], best["q2"]) == ("d1", "d 3")
    assert all(found.groupby("qid")["score"].is_monotonic_decreasing)


def test_results_of_an_earlier_stage_are_ranked_again(retriever):
    earlier = pd.DataFrame(
        [("q1", QUERIES[0]["text"], one, 0.0, 0) for one in ("d4", "d1", "d2", "d5", "d6")],
        columns=["qid", "query", "docno", "score", "rank"],
    )
    found = retriever.transform(earlier)
    assert found["docno"][0] == "d1"
    assert len(found) == 3
    assert set(found["docno"]) <= {"d4", "d1", "d2", "d5", "d6"}


@pytest.mark.parametrize("pools", [None, POOLS])
def test_mteb_itself_scores_as_the_metrics_here_do(pools, tmp_path):
    pytest.importorskip("mteb", reason="an extra with torch: pip install memsys[mteb]")
    from tests.memsys.service.mteb_task import ndcg_by_mteb  # noqa: PLC0415

    model = Search("hybrid_rank", cache=tmp_path)
    by_mteb = ndcg_by_mteb(model, CORPUS, QUERIES, QRELS, pools, tmp_path)
    model.index(CORPUS, **TASK)
    found = ranked(model, top_ranked=pools, top_k=10)
    ndcg = parse("ndcg@10").metric
    gains = [
        ndcg.score(Judged(ranking, [one for one, n in QRELS[id_].items() if n > 0]), 10)
        for id_, ranking in found.items()
    ]
    assert by_mteb == pytest.approx(np.mean(gains), abs=1e-5)  # it rounds to five digits
