"""Questions, gold and evidence."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from eval.datasets.checks import Location, TurnIds
from eval.datasets.files import load_sources
from memsys.core.errors import InputError


def test_questions_carry_type_gold_and_evidence(sample, load):
    data = load(sample)
    first, second = data.questions
    assert (first.id, first.conversation) == ("conv-1/0", "conv-1")
    assert (first.category, first.type) == (1, "multi_hop")
    assert (first.gold, first.evidence, first.adversarial) == ("a fig tree", ("D1:1",), None)
    assert (second.type, second.gold, second.adversarial) == ("adversarial", None, "a fig tree")
    assert data.repairs == ()
    for absent in (None, []):
        sample["qa"][0]["evidence"] = absent
        without = load(sample)
        assert (without.questions[0].evidence, without.repairs) == ((), ())


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
    lenient = Location("my.json", "conv-1", lenient=True)
    assert known.cited(["a b", "D2:5，D1:003"], lenient, "evidence") == ("a b", "D2:05")
