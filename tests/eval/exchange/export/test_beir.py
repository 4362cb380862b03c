"""A run exported in the layout of BEIR, with the pools of LMEB."""

import csv
from pathlib import Path

import pytest

from eval.datasets.reload import load_dataset_of
from eval.exchange.export import collection
from eval.exchange.export.__main__ import main
from eval.records.run import load_run
from tests.eval.datasets import made_beir
from tests.eval.exchange.export import ranked
from tests.eval.exchange.export.ranked import read_lines as lines
from tests.eval.exchange.export.test_trec import read


def config(folder: Path) -> dict[str, str]:
    return {"_target_": "eval.datasets.beir.Beir", "name": "beir", "path": str(folder)}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return ranked.write(tmp_path / "run", ranked.SAMPLE)


def test_files_have_the_fields_of_beir_and_pools_are_conversations(run):
    assert main([str(run), "--to", "beir"]) == 0
    folder = run / "beir"
    corpus, queries = lines(folder / "corpus.jsonl"), lines(folder / "queries.jsonl")
    assert set(corpus[0]) == {"_id", "title", "text", "metadata"}
    assert corpus[0]["metadata"]["session"] == "harbour:D1"
    records = load_run(run).records
    assert [(one["_id"], one["text"], one["metadata"]["type"]) for one in queries] == [
        (record["id"], record["question"], record["type"]) for record in records.values()
    ]
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as file:
        qrels = list(csv.DictReader(file, delimiter="\t"))
    assert [(one["query-id"], one["corpus-id"], one["score"]) for one in qrels] == [
        (record["id"], f"{record['conversation']}:{turn}", "1")
        for record in records.values()
        for turn in record["evidence"]
    ]
    assert {one["corpus-id"] for one in qrels} <= {one["_id"] for one in corpus}

    dataset = load_dataset_of(ranked.SAMPLE)
    turns = {
        one.id: [f"{one.id}:{turn.id}" for session in one.sessions for turn in session.turns]
        for one in dataset.conversations
    }
    pools = {one["query_id"]: one for one in lines(folder / "candidates.jsonl")}
    assert list(pools) == [question.id for question in dataset.questions]
    for question in dataset.questions:
        pool = pools[question.id]
        assert pool["candidate_doc_ids"] == turns[question.conversation]
        assert pool["scene_id"] == question.id


def test_sessions_are_documents_of_a_run_without_rankings_too(run):
    for name in ("rankings.jsonl", "memories.jsonl"):
        (run / name).unlink()
    assert main([str(run), "--to", "beir", "--unit", "session"]) == 0
    corpus = lines(run / "beir" / "corpus.jsonl")
    dataset = load_dataset_of(ranked.SAMPLE)
    sessions = [one for conversation in dataset.conversations for one in conversation.sessions]
    assert [one["text"].count("\n") + 1 for one in corpus] == [len(one.turns) for one in sessions]
    assert corpus[0]["_id"] == "harbour:D1"
    assert corpus[0]["metadata"]["speaker"] == "Nadia, Tomasz"
    assert (run / "beir" / "qrels" / "test.tsv").is_file()


def test_a_pooled_store_needs_no_pools_unless_owners_are_filtered(tmp_path):
    pooled = {**ranked.SAMPLE, "pooled": True}
    run = ranked.write(tmp_path / "all", pooled)
    assert main([str(run), "--to", "beir"]) == 0
    assert not (run / "beir" / "candidates.jsonl").exists()
    qrels = (run / "beir" / "qrels" / "test.tsv").read_text(encoding="utf-8").split("\n")
    assert qrels[1] == "harbour/0\tharbour:D5:1\t1"

    own = ranked.write(tmp_path / "own", {**pooled, "owner_filter": True})
    alone = ranked.write(tmp_path / "alone", ranked.SAMPLE)
    for run in (own, alone):
        assert main([str(run), "--to", "beir"]) == 0
    files = [lines(run / "beir" / "candidates.jsonl") for run in (own, alone)]
    assert files[0] == files[1]


def test_a_benchmark_comes_back_with_its_own_ids(tmp_path, said):
    first = ranked.write(tmp_path / "first", ranked.SAMPLE)
    assert main([str(first), "--to", "beir"]) == 0
    again = ranked.write(tmp_path / "again", config(first / "beir"))
    for to in ("beir", "trec"):
        assert main([str(again), "--to", to]) == 0
    folders = [run / "beir" for run in (first, again)]
    texts = [{one["_id"]: one["text"] for one in lines(at / "corpus.jsonl")} for at in folders]
    assert texts[0] == texts[1]
    for name in ("qrels/test.tsv", "candidates.jsonl"):
        found = [sorted((at / name).read_text(encoding="utf-8").split("\n")) for at in folders]
        assert found[0] == found[1]
    assert {one["id"] for one in lines(again / "trec" / "corpus.jsonl")} == texts[0].keys()
    ranked_ids = {line.document for line in read(again / "trec" / "run.trec")}
    assert ranked_ids <= texts[0].keys()
    message = said(main, again, "--to", "beir", "--unit", "session", "--force", code=2)
    assert "its documents belong to no sessions; use --unit turn" in message


def test_corpora_that_share_an_id_are_not_mixed(tmp_path, said):
    for name, text in (("android", "Hold the power key."), ("wordpress", "Clear the cache.")):
        made_beir.beir(
            tmp_path / "many" / name,
            documents=[{"_id": "1", "text": text}],
            queries=[{"_id": f"{name}-1", "text": "How?"}],
            qrels=[(f"{name}-1", "1", 1)],
        )
    run = ranked.write(tmp_path / "run", config(tmp_path / "many"))
    for to in ("beir", "trec"):
        message = said(main, run, "--to", to, code=2)
        assert "two documents have the id 1; run and export each corpus alone" in message
        assert not (run / to).exists()


def test_a_pool_may_be_called_pooled(tmp_path):
    folder = made_beir.lmeb(tmp_path / "lmeb")
    for name, old, new in (
        ("candidates.jsonl", '"s_1"', '"pooled"'),
        ("single_hop/queries.jsonl", "s_1_q_0", "pooled"),
        ("single_hop/qrels.tsv", "s_1_q_0", "pooled"),
    ):
        (folder / name).write_text((folder / name).read_text().replace(old, new))
    run = ranked.write(tmp_path / "run", config(folder))
    assert main([str(run), "--to", "beir"]) == 0
    assert {one["_id"] for one in lines(run / "beir" / "corpus.jsonl")} == {"t1", "t2", "t3"}


def test_ids_with_blanks_come_back_as_they_are(tmp_path):
    ids = ("d 3", "100%", "a%20b", "x:y", "\u00e9\u3000z")
    folder = made_beir.beir(
        tmp_path / "first",
        documents=[{"_id": id_, "text": f"Text {place}"} for place, id_ in enumerate(ids)],
        queries=[{"_id": f"q {id_}", "text": "Which?"} for id_ in ids],
        qrels=[(f"q {id_}", id_, 1) for id_ in ids],
    )
    run = ranked.write(tmp_path / "run", config(folder))
    assert main([str(run), "--to", "beir"]) == 0
    one, two = (load_dataset_of(config(path)) for path in (folder, run / "beir"))
    assert [(q.id, q.evidence) for q in one.questions] == [
        (q.id, q.evidence) for q in two.questions
    ]
    assert [(id_,) for id_ in ids] == [question.evidence for question in two.questions]


def test_ids_that_fit_no_field_are_encoded():
    assert [collection.as_field(id_) for id_ in ("a\tb", " a b ", "a\nb")] == [
        "a%09b",
        "%20a b%20",
        "a%0Ab",
    ]
