"""Questions, gold and evidence."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from eval.datasets.checks import TurnIds
from eval.datasets.files import load_sources
from memsys.errors import InputError


def test_questions_carry_type_gold_and_evidence(sample, load):
    first, second = load(sample).questions
    assert (first.id, first.conversation, first.category, first.type) == (
        "conv-1/0",
        "conv-1",
        1,
        "multi_hop",
    )
    assert (first.gold, first.evidence, first.adversarial) == ("a fig tree", ("D1:1",), None)
    assert (second.type, second.gold, second.adversarial) == ("adversarial", None, "a fig tree")


@pytest.mark.parametrize(("answer", "gold"), [(2022, "2022"), (0, "0"), (1.5, "1.5")])
def test_numbers_are_answers(sample, load, answer, gold):
    sample["qa"][0]["answer"] = answer
    assert load(sample).questions[0].gold == gold


def test_type_5_has_no_gold_even_where_an_answer_is_written(sample, load):
    sample["qa"][1]["answer"] = "nothing"
    data = load(sample)
    assert data.questions[1].gold is None
    assert data.questions[1].adversarial == "a fig tree"
    assert data.repairs == (
        "my.json: sample conv-1: qa[1].answer: 'nothing' ignored: type 5 requires to abstain",
    )
    del sample["qa"][1]["adversarial_answer"]
    assert load(sample).questions[1].adversarial is None


@pytest.mark.parametrize("answer", [None, "", " "])
def test_types_1_to_4_need_an_answer(sample, load, answer):
    sample["qa"][0]["answer"] = answer
    with pytest.raises(InputError, match=r"qa\[0\]\.answer: missing or empty; only category 5"):
        load(sample)


@pytest.mark.parametrize("category", [None, 0, 6, "1", 1.0, True])
def test_a_category_that_is_not_1_to_5(sample, load, category):
    sample["qa"][0]["category"] = category
    with pytest.raises(InputError, match=r"qa\[0\]\.category: .*it is one of 1 multi_hop, 2 temp"):
        load(sample)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"question": " "}, r"qa\[0\]\.question: empty; must be a text"),
        ({"question": None}, r"qa\[0\]\.question: missing"),
        ({"answer": True}, r"qa\[0\]\.answer: True must be a text or a number"),
        ({"answer": ["a"]}, r"qa\[0\]\.answer: \['a'\] must be a text"),
        ({"evidence": [3]}, r"qa\[0\]\.evidence: 3 is not a text"),
        ({"evidence": ["D9:9"]}, r"qa\[0\]\.evidence: 'D9:9' is no turn's dia_id"),
        ({"evidence": ["D1:1; D9:9"]}, r"qa\[0\]\.evidence: 'D9:9' is no turn's dia_id"),
        ({"evidence": [""]}, r"qa\[0\]\.evidence: '' is no turn's dia_id"),
    ],
)
def test_a_question_that_is_wrong_names_its_place(sample, load, change, says):
    sample["qa"][0].update(change)
    with pytest.raises(InputError, match=rf"^my.json: sample conv-1: {says}"):
        load(sample)


def test_no_qa_is_an_error(sample, load):
    del sample["qa"]
    with pytest.raises(InputError, match="sample conv-1: qa: missing; must be a list"):
        load(sample)


@pytest.mark.parametrize("evidence", [None, []])
def test_evidence_may_be_absent(sample, load, evidence):
    sample["qa"][0]["evidence"] = evidence
    data = load(sample)
    assert data.questions[0].evidence == ()
    assert data.repairs == ()


@pytest.mark.parametrize(
    ("raw", "turns", "done"),
    [
        (["D1:2; D2:1"], ("D1:2", "D2:1"), "'D1:2; D2:1' read as D1:2, D2:1"),
        (["D1:2 D2:1 D1:1"], ("D1:2", "D2:1", "D1:1"), "read as D1:2, D2:1, D1:1"),
        (["D1:02"], ("D1:2",), "'D1:02' read as D1:2"),
        (["D:2:1"], ("D2:1",), "'D:2:1' read as D2:1"),
        (["D2:1 D2:1"], ("D2:1",), "'D2:1 D2:1' read as D2:1"),
        (["D2:1", "D2:1"], ("D2:1",), "'D2:1' repeated, counted once: D2:1"),
    ],
)
def test_evidence_is_repaired_where_one_turn_can_be_meant(sample, load, raw, turns, done):
    sample["qa"][0]["evidence"] = raw
    data = load(sample)
    assert data.questions[0].evidence == turns
    (line,) = data.repairs
    assert line.startswith("my.json: sample conv-1: qa[0].evidence: ")
    assert line.endswith(done)


def test_a_well_written_file_reports_no_repairs(sample, load):
    assert load(sample).repairs == ()


def test_only_the_published_file_may_name_absent_turns(sample, load, tmp_path, monkeypatch):
    sample["qa"][0]["evidence"] = ["D9:9", "D1:1 D1:99", "D"]
    sample["qa"][1]["evidence"] = ["D1:1"]
    with pytest.raises(InputError, match="'D9:9' is no turn's dia_id"):
        load(sample)
    sha256 = hashlib.sha256((tmp_path / "my.json").read_bytes()).hexdigest()
    published = dataclasses.replace(load_sources()["locomo"], sha256=sha256)
    monkeypatch.setattr("eval.datasets.locomo.load_sources", lambda: {"locomo": published})
    data = load(sample)
    assert data.questions[0].evidence == ("D1:1",)
    assert [line.split("evidence: ")[1] for line in data.repairs] == [
        "'D9:9' dropped: no such turn",
        "'D1:1 D1:99' read as D1:1; D1:99 dropped: no such turn",
        "'D' dropped: no such turn",
    ]


def test_an_id_that_could_be_two_turns_is_not_guessed():
    known = TurnIds(["D1:3", "D1:03", "D2:05", "a b"])
    assert known.find("D1:3") == "D1:3"
    assert known.find("D1:03") == "D1:03"
    assert known.find("D1:003") is None
    assert known.find("D2:5") == "D2:05"
    assert known.resolve("a b") == (["a b"], [])
    assert known.resolve("D2:5，D1:003") == (["D2:05"], ["D1:003"])
