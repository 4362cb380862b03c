"""Sessions, turns, times, speakers, observations; questions, gold answers and evidence."""

import dataclasses
import hashlib
from datetime import datetime

import pytest

from eval.datasets.checks import Location, TurnIds
from eval.datasets.files import load_sources
from eval.datasets.sessions import parse_time
from eval.datasets.types import Question
from memsys.core.errors import InputError
from memsys.core.types import Observation


def row(dia_id: str, **more):
    return {"dia_id": dia_id, "speaker": "Ada", "text": "Hello.", **more}


def test_sessions_sort_by_number_whatever_the_order_of_the_file(sample, load):
    talk = sample["conversation"]
    talk["session_10"] = [row("D10:1")]
    talk["session_10_date_time"] = "9:00 am on 1 June, 2023"
    sample["conversation"] = dict(reversed(talk.items()))
    (conversation,) = load(sample).conversations
    assert [s.id for s in conversation.sessions] == ["session_1", "session_2", "session_10"]
    assert [t.id for t in conversation.sessions[0].turns] == ["D1:1", "D1:2"]


@pytest.mark.parametrize(
    ("raw", "time"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9)),
        ("12:30 PM on 1 Jan 2024", datetime(2024, 1, 1, 12, 30)),
        ("2023-05-08 13:56", datetime(2023, 5, 8, 13, 56)),
        ("2023-05-08T13:56:07+08:00", datetime(2023, 5, 8, 13, 56, 7)),
        ("2023-05-08", datetime(2023, 5, 8)),
    ],
)
def test_times_are_naive_and_as_written(raw, time):
    assert parse_time(raw) == time
    assert parse_time(raw).tzinfo is None


def test_captions_are_kept_or_not_and_the_image_query_never(sample, load):
    image = row("D1:3", blip_caption="a photo of figs", query="fig harvest stock photo")
    sample["conversation"]["session_1"].append(image)
    kept, left = load(sample), load(sample, captions=False)
    assert kept.conversations[0].sessions[0].turns[2].caption == "a photo of figs"
    assert left.conversations[0].sessions[0].turns[2].caption is None
    assert kept.conversations[0].sessions[0].turns[0].caption is None
    assert "stock" not in repr(kept)


def test_an_image_s_address_is_kept_whatever_becomes_of_captions(sample, load):
    rows = sample["conversation"]["session_1"]
    rows.append({})
    first, data = "https://a.org/1.jpg", "data:image/png;base64,AA=="
    for given, image in (([first, "x"], first), (data, data), (None, None), ([], None), ("", None)):
        rows[2] = row("D1:3", img_url=given, blip_caption="figs")
        for captions in (True, False):
            turns = load(sample, captions=captions).conversations[0].sessions[0].turns
            assert (turns[2].image, turns[0].image) == (image, None)


def test_speakers_are_the_two_named_or_those_who_speak(sample, load):
    assert load(sample).conversations[0].speakers == ("Ada", "Bo")
    sample["conversation"]["session_2"][0]["speaker"] = "Cy"
    assert load(sample).conversations[0].speakers == ("Ada", "Bo", "Cy")
    del sample["conversation"]["speaker_a"], sample["conversation"]["speaker_b"]
    sample["conversation"]["session_1"].reverse()
    assert load(sample).conversations[0].speakers == ("Bo", "Ada", "Cy")


def test_turn_ids_of_observations_may_be_one_several_or_a_list(sample, load):
    sample["observation"] = {
        "session_1_observation": {
            "Ada": [["Ada has a fig tree.", "D1:1"], ["Both garden.", ["D1:1", "D1:2"]]],
            "Bo": [["Bo's tree died.", "D1:2, D1:1"]],
        },
        "session_2_observation": {"Ada": [["The fig grows.", "D2:1"]], "Bo": []},
    }
    data = load(sample)
    first, second = data.conversations[0].sessions
    assert first.observations == (
        Observation("Ada", "Ada has a fig tree.", ("D1:1",)),
        Observation("Ada", "Both garden.", ("D1:1", "D1:2")),
        Observation("Bo", "Bo's tree died.", ("D1:2", "D1:1")),
    )
    assert second.observations == (Observation("Ada", "The fig grows.", ("D2:1",)),)
    assert data.repairs == (
        "my.json: sample conv-1: observation.session_1_observation.Bo[0]: "
        "'D1:2, D1:1' read as D1:2, D1:1",
    )
    assert load({**sample, "observation": None}).conversations[0].sessions[0].observations == ()


def test_questions_carry_type_gold_and_evidence(sample, load):
    data = load(sample)
    plant = [f"What did {name} plant?" for name in ("Ada", "Bo")]
    assert data.questions == (
        Question("conv-1/0", "conv-1", 1, "multi_hop", plant[0], "a fig tree", ("D1:1",)),
        Question("conv-1/1", "conv-1", 5, "adversarial", plant[1], None, ("D1:1",), "a fig tree"),
    )
    assert data.repairs == ()
    for absent in (None, []):
        sample["qa"][0]["evidence"] = absent
        without = load(sample)
        assert (without.questions[0].evidence, without.repairs) == ((), ())


def test_type_5_has_no_gold_even_where_an_answer_is_written(sample, load):
    sample["qa"][1]["answer"] = "nothing"
    data = load(sample)
    assert (data.questions[1].gold, data.questions[1].adversarial) == (None, "a fig tree")
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
