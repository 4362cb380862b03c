"""Runs over retrieval benchmarks: rankings without answers."""

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.analyse.retrieval.__main__ import main as retrieval
from eval.exchange.export.__main__ import main as export
from eval.pages.report.__main__ import main as report
from eval.records.run import load_run
from tests.eval.commands import Run
from tests.eval.datasets.made_beir import beir, lmeb

FOUND = ("recall@10", "ndcg@10", "mrr")


def counts(run: Run) -> dict[str, int]:
    return {name: cell["n"] for name, cell in run.summary["by_type"].items() if cell["n"]}


def test_a_run_ranks_documents_and_answers_nothing_and_is_compared(
    tmp_path, completed, said, refused
):
    path = beir(tmp_path / "beir")
    options = ("dataset=beir", f"dataset.path={path}", "reader=none", "k=2")
    made = completed(*options, "strategy=bm25")
    assert made.manifest["stores"] == {"corpus": {"turns": 5}}
    files = [one["name"] for one in made.manifest["data"]]
    assert files == ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"]
    for record in made.records:
        assert (record["status"], record["answer"], record["gold"]) == ("ok", None, None)
        assert (record["category"], record["type"]) == (21, "query")
    first, _, unjudged = made.records
    assert [first["scores"][name] for name in FOUND] == [1, 1, 1]
    assert [unjudged["scores"][name] for name in FOUND] == [None, None, None]
    assert counts(made) == {"query": 3, "overall": 3}
    contexts = (made.folder / "contexts.jsonl").read_text(encoding="utf-8")
    assert "Bees Honey bees dance to point at flowers.\\n" in contexts
    assert "[1 January" not in contexts

    run = load_run(made.folder)
    ranked = run.rankings["q1"]
    assert ranked.sessions is None
    assert set(ranked.turns.ids) == {"d1", "d2", "d 3", "d4", "d5"}
    assert ranked.turns.complete

    assert "ndcg@10" in said(retrieval, made.folder).lower()
    assert "session" in refused(retrieval, made.folder, "--unit", "session")
    said(report, made.folder, "--out", tmp_path / "report.html")
    again = completed(*options, "strategy=hybrid_rank")
    output = said(compare, made.folder, again.folder, "--score", "ndcg@10")
    assert "ndcg@10" in output.lower()


@pytest.mark.parametrize("strategy", ["hybrid_rank", "graph_walk"])
def test_each_pool_is_a_store_of_its_own(tmp_path, completed, strategy):
    path = lmeb(tmp_path / "lmeb")
    options = ("dataset=beir", f"dataset.path={path}", "reader=none")
    made = completed(*options, f"strategy={strategy}")
    rankings = load_run(made.folder).rankings
    stores = {"s_1_q_0": {"t1", "t2"}, "s_2_q_0": {"t3"}}
    assert {id_: {one for one, _ in r.memories} for id_, r in rankings.items()} == stores
    assert counts(made) == {"adversarial_queries": 1, "single_hop": 1, "overall": 2}


def test_an_exported_run_read_back_has_the_same_scores(tmp_path, made, completed):
    first = made("strategy=vector_only", "reader=none")
    assert export([str(first.folder), "--to", "beir", "--out", str(tmp_path / "out")]) == 0
    path = f"dataset.path={tmp_path / 'out'}"
    second = completed("dataset=beir", path, "strategy=vector_only", "reader=none")
    before, after = (
        {one["id"]: [one["scores"][name] for name in FOUND] for one in run.records}
        for run in (first, second)
    )
    assert before == after
    assert len(second.manifest["stores"]) == len(first.manifest["stores"])
