"""Reading the layouts of BEIR and LMEB."""

import re
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.beir import Beir
from eval.datasets.types import Dataset, Question
from memsys.core.errors import InputError
from memsys.knowledge.memory.turns import Turns
from tests.eval.datasets.made_beir import DOCUMENTS, QRELS, QUERIES, beir, lines, lmeb, table, write


def load(folder: Path, **options: Any) -> Dataset:
    return Beir(name="beir", path=str(folder), **options).load()


def evidence(data: Dataset) -> dict[str, tuple[str, ...]]:
    return {question.id: question.evidence for question in data.questions}


def test_documents_are_turns_and_relevant_ones_are_evidence(tmp_path):
    data = load(beir(tmp_path))
    (corpus,) = data.conversations
    assert corpus.id == "corpus"
    turns = [turn for session in corpus.sessions for turn in session.turns]
    assert [turn.id for turn in turns] == ["d1", "d2", "d 3", "d4", "d5"]
    assert turns[0].text == "Bees Honey bees dance to point at flowers."
    assert turns[1].text == "A lighthouse warns ships off the rocks."
    cited = {"q1": ("d1",), "q2": ("d 3",), "q3": ()}
    texts = {str(one["_id"]): str(one["text"]) for one in QUERIES}
    assert list(data.questions) == [
        Question(id_, "corpus", 21, "query", texts[id_], None, ids) for id_, ids in cited.items()
    ]
    assert data.types == {21: "query"}
    assert data.repairs == (
        "queries.jsonl: 1 of its queries: each has no relevant document, and so no evidence",
    )
    names = [file.name for file in data.files]
    assert names == ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"]


def test_a_memory_is_title_and_text_of_one_document(tmp_path):
    (corpus,) = load(beir(tmp_path)).conversations
    builder = Turns(name="turns", before=1, after=1, lead=2)
    memories = [memory for session in corpus.sessions for memory in builder.build(session)]
    assert [memory.id for memory in memories] == [one["_id"] for one in DOCUMENTS]
    assert memories[2].content == "Tides The moon pulls the sea twice a day."
    assert all(memory.content == memory.index_text for memory in memories)
    assert all(memory.turns == (memory.id,) for memory in memories)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels/test.tsv", table(QRELS)),
        ("qrels/test.tsv.gz", table(QRELS)),
        ("qrels.tsv", table(QRELS, header=False)),
        ("qrels.tsv", table([(q, "Q0", d, s) for q, d, s in QRELS], header=False)),
        ("qrels.trec", "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"),
    ],
)
def test_every_form_of_qrels(tmp_path, name, text):
    documents = DOCUMENTS
    if name == "qrels.trec":  # whose ids have no blanks
        documents = [{**one, "_id": str(one["_id"]).replace(" ", "")} for one in DOCUMENTS]
    folder = beir(tmp_path, documents)
    (folder / "qrels" / "test.tsv").unlink()
    write(folder / name, text)
    relevant = "d3" if name == "qrels.trec" else "d 3"
    assert evidence(load(folder)) == {"q1": ("d1",), "q2": (relevant,), "q3": ()}


def test_packed_files_and_ids_that_are_numbers(tmp_path):
    beir(tmp_path)
    for name in ("corpus.jsonl", "queries.jsonl"):
        (tmp_path / name).unlink()
    documents = [{"_id": 7, "text": "A separator \u2028 within."}, {"_id": 8, "text": "Sand."}]
    write(tmp_path / "corpus.jsonl.gz", lines(documents).replace("\\u2028", "\u2028"))
    write(tmp_path / "queries.jsonl.gz", lines([{"id": 1, "_id": "x", "text": "Sand?"}]))
    write(tmp_path / "qrels" / "test.tsv", table([(1, 8, 1)]))
    data = load(tmp_path)
    assert evidence(data) == {"1": ("8",)}
    assert [one.id for one in data.conversations[0].sessions] == ["7", "8"]


def test_queries_of_another_split_are_not_asked(tmp_path):
    folder = beir(tmp_path)
    write(folder / "qrels" / "train.tsv", table([("q3", "d2", 1)]))
    data = load(folder)
    assert list(evidence(data)) == ["q1", "q2"]
    assert data.repairs == (
        "queries.jsonl: 1 of its queries: each is judged in another split only: not asked",
    )
    assert evidence(load(folder, split="train")) == {"q3": ("d2",)}
    with pytest.raises(InputError, match=r"no qrels/dev\.tsv.*split to one of test"):
        load(folder, split="dev")


def test_candidates_are_pools_and_subfolders_are_types(tmp_path):
    data = load(lmeb(tmp_path))
    pools = {one.id: [session.id for session in one.sessions] for one in data.conversations}
    assert pools == {"s_1": ["t1", "t2"], "s_2": ["t3"]}
    asked = [(one.id, one.conversation, one.type, one.evidence) for one in data.questions]
    assert asked == [
        ("s_2_q_0", "s_2", "adversarial_queries", ("t3",)),
        ("s_1_q_0", "s_1", "single_hop", ("t1",)),
    ]
    assert 5 not in data.types
    assert data.repairs == ()
    (only,) = load(tmp_path, types=["single_hop"]).questions
    assert only.category == next(id_ for id_, name in data.types.items() if name == "single_hop")


def test_one_type_of_lmeb_alone_reads_the_corpus_above_it(tmp_path):
    data = load(lmeb(tmp_path) / "single_hop")
    assert [(one.id, one.type) for one in data.questions] == [("s_1_q_0", "query")]
    assert [one.id for one in data.conversations] == ["s_1"]
    assert "../corpus.jsonl" in {file.name for file in data.files}


def test_equal_candidates_are_one_pool(tmp_path):
    folder = beir(tmp_path)
    pools = {"q1": ["d1", "d2"], "q2": ["d 3", "d4"], "q3": ["d2", "d1", "d1"]}
    rows = [{"query-id": one, "corpus-ids": ids} for one, ids in pools.items()]
    write(folder / "candidates.jsonl.gz", lines(rows))
    data = load(folder)
    assert [one.id for one in data.conversations] == ["q1", "q2"]
    assert [one.conversation for one in data.questions] == ["q1", "q2", "q1"]
    assert [one.id for one in load(folder, conversations=["q2"]).questions] == ["q2"]
    assert [one.id for one in load(folder, limit=1).questions] == ["q1", "q2"]


def test_relevant_documents_outside_of_the_pool_are_reported(tmp_path):
    rows = [{"scene_id": one["_id"], "candidate_doc_ids": ["d1"]} for one in QUERIES]
    write(beir(tmp_path) / "candidates.jsonl", lines(rows))
    data = load(tmp_path)
    assert evidence(data)["q2"] == ("d 3",)
    assert data.repairs[-1] == (
        "queries.jsonl: 1 of its queries: each has relevant documents that are no candidates: "
        "never found"
    )


def test_types_of_queries_and_ids_of_two_folders(tmp_path):
    typed = [{"_id": "q1", "text": "Bees?", "metadata": {"type": "overall"}}]
    (only,) = load(beir(tmp_path / "a", queries=typed, qrels=QRELS[:1])).questions
    assert only.type == "overall_queries"
    for name in ("x", "y"):
        beir(tmp_path / "b" / name, queries=QUERIES[:1], qrels=QRELS[:1])
    data = load(tmp_path / "b")
    assert evidence(data) == {"x/q1": ("d1",), "y/q1": ("d1",)}
    assert [one.id for one in data.conversations] == ["x/corpus", "y/corpus"]


_POOL = '{{"scene_id": "q1", "candidate_doc_ids": ["{}"]}}'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", "{", r"corpus\.jsonl: line 1: not JSON"),
        ("corpus.jsonl", "[]", "line 1: must be an object"),
        ("corpus.jsonl", "\n", r"corpus\.jsonl: no line; write one"),
        ("corpus.jsonl", '{"text": "a"}', r"line 1: id: missing"),
        ("corpus.jsonl", '{"_id": true}', r"line 1: _id: True is no id"),
        ("corpus.jsonl", '{"_id": "a"}\n\n{"_id": "a"}', r"line 3: _id: 'a' is used twice"),
        ("queries.jsonl", '{"_id": "q1", "text": " "}', r"queries\.jsonl: line 1: text: empty;"),
        ("qrels/test.tsv", table([("q1", "d9", 1)]), r"test\.tsv: line 2: document 'd9' is not in"),
        ("qrels/test.tsv", table([("q9", "d1", 1)]), r"test\.tsv: line 2: query 'q9' is not in"),
        ("qrels/test.tsv", table([("q1", "d1", "nan")]), r"line 2: score 'nan' is no number"),
        ("qrels/test.tsv", table([("q1", "d1", "x")], header=False), r"line 1: score 'x'"),
        ("qrels/test.tsv", "q1\td1\n", r"line 1: 2 fields; write query-id"),
        ("qrels/test.tsv", "q1\td1\t1\nq1\t0\td1\t1\n", r"line 2: 4 fields"),
        ("qrels/test.tsv", table([("q1", "d1", 1), ("q1", "d1", 0)]), r"line 3: .* two scores"),
        ("candidates.jsonl", '{"scene_id": "q1"}', r"candidate_doc_ids: missing; add it"),
        ("candidates.jsonl", _POOL.format("z"), r"candidates\.jsonl: 'q1': document 'z' is not in"),
        ("candidates.jsonl", _POOL.format("d1"), "query 'q2' has no candidates; add a line"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path, name, text, message):
    folder = beir(tmp_path)
    write(folder / name, text)
    with pytest.raises(InputError, match=message) as raised:
        load(folder)
    assert "\n" not in str(raised.value)


def test_what_is_missing_or_cannot_be_used_is_named(tmp_path):
    for missing in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        folder = beir(tmp_path / missing)
        (folder / missing).unlink()
        with pytest.raises(InputError, match=f"no {re.escape(missing)}"):
            load(folder)
    folder = beir(tmp_path / "whole")
    wrong: dict[str, Any] = {"types": ["q"], "conversations": ["c"], "limit": 0}
    for option, value in wrong.items():
        with pytest.raises(InputError, match=rf"dataset\.{option}"):
            load(folder, **{option: value})
    with pytest.raises(InputError, match="no such folder"):
        load(folder / "corpus.jsonl")
    with pytest.raises(InputError, match=r"dataset\.path=FOLDER"):
        Beir(name="beir").load()
    for qrels in ((), [("q1", "d1", 0)]):
        with pytest.raises(InputError, match=r"^empty: no query has a relevant document; put them"):
            load(beir(tmp_path / "empty", qrels=qrels))
