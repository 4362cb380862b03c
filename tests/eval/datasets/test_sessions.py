"""Sessions, turns, times, speakers and the facts that come with a data set."""

from __future__ import annotations

from datetime import datetime

import pytest

from eval.datasets.sessions import parse_time
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


def test_a_date_without_a_session_is_passed_over(sample, load):
    sample["conversation"]["session_3_date_time"] = "not even a time"
    sample["conversation"]["session_4"] = []
    assert len(load(sample).conversations[0].sessions) == 2


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
