"""Sessions, turns, times and speakers, and one clear error for each thing that can be wrong."""

from __future__ import annotations

from datetime import datetime

import pytest

from eval.datasets.sessions import parse_time
from memsys.errors import InputError


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


@pytest.mark.parametrize(
    "raw",
    [
        "13:00 pm on 8 May, 2023",
        "0:10 am on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
        "1:56 pm on 8 Mai, 2023",
        "yesterday",
    ],
)
def test_what_is_no_time_is_refused(sample, load, raw):
    sample["conversation"]["session_2_date_time"] = raw
    with pytest.raises(InputError, match=r"session_2_date_time: .* is no time; write it as"):
        load(sample)


def test_a_session_without_its_date_names_file_sample_and_field(sample, load):
    del sample["conversation"]["session_2_date_time"]
    message = r"^my\.json: sample conv-1: session_2_date_time: missing; add it"
    with pytest.raises(InputError, match=message):
        load(sample)


def test_captions_are_kept_or_not_and_the_image_query_never(sample, load):
    image = row("D1:3", blip_caption="a photo of figs", query="fig harvest stock photo")
    sample["conversation"]["session_1"].append(image)
    kept, left = load(sample), load(sample, captions=False)
    assert kept.conversations[0].sessions[0].turns[2].caption == "a photo of figs"
    assert left.conversations[0].sessions[0].turns[2].caption is None
    assert kept.conversations[0].sessions[0].turns[0].caption is None
    assert "stock" not in repr(kept)


@pytest.mark.parametrize(
    ("given", "image"),
    [
        (["https://a.org/1.jpg", "https://a.org/2.jpg"], "https://a.org/1.jpg"),
        ("data:image/png;base64,AA==", "data:image/png;base64,AA=="),
        (None, None),
        ([], None),
        ("", None),
    ],
)
def test_an_image_s_address_is_kept_whatever_becomes_of_captions(sample, load, given, image):
    sample["conversation"]["session_1"].append(row("D1:3", img_url=given, blip_caption="figs"))
    for captions in (True, False):
        turns = load(sample, captions=captions).conversations[0].sessions[0].turns
        assert (turns[2].image, turns[0].image) == (image, None)


def test_an_image_that_is_no_address_names_its_field(sample, load):
    sample["conversation"]["session_1"].append(row("D1:3", img_url=[{"url": "x"}]))
    message = r"sample conv-1: session_1\[2\]\.img_url: must be an address, or a list of addresses"
    with pytest.raises(InputError, match=message):
        load(sample)


def test_speakers_are_the_two_named_or_those_who_speak(sample, load):
    assert load(sample).conversations[0].speakers == ("Ada", "Bo")
    sample["conversation"]["session_2"][0]["speaker"] = "Cy"
    assert load(sample).conversations[0].speakers == ("Ada", "Bo", "Cy")
    del sample["conversation"]["speaker_a"], sample["conversation"]["speaker_b"]
    sample["conversation"]["session_1"].reverse()
    assert load(sample).conversations[0].speakers == ("Bo", "Ada", "Cy")


@pytest.mark.parametrize("field", ["dia_id", "speaker", "text"])
@pytest.mark.parametrize(("value", "state"), [(None, "missing"), ("  ", "empty"), (3, "is a num")])
def test_a_turn_lacking_a_field(sample, load, field, value, state):
    sample["conversation"]["session_1"][1][field] = value
    with pytest.raises(InputError, match=rf"sample conv-1: session_1\[1\]\.{field}: {state}"):
        load(sample)


def test_a_turn_id_used_twice_even_across_sessions(sample, load):
    sample["conversation"]["session_2"][0]["dia_id"] = "D1:1"
    with pytest.raises(InputError, match=r"session_2\[0\]\.dia_id: 'D1:1' is used twice"):
        load(sample)


@pytest.mark.parametrize(
    ("conversation", "says"),
    [
        (None, "conversation: missing; must be an object"),
        ([], "conversation: is a list; must be an object"),
        ({}, "conversation: no turns"),
        ({"session_1": [], "session_1_date_time": "2023-05-08"}, "conversation: no turns"),
        ({"session_1": {}}, "session_1: is an object; must be a list"),
        ({"session_1": ["hello"]}, r"session_1\[0\]: is a text; must be an object"),
        ({"session1": []}, "session1: unknown field; sessions are named session_1"),
        ({"session_1": [], "session_01": []}, "session_01: the same session as session_1"),
        (
            {"session_1": [row("D1:1", blip_caption=["x"])], "session_1_date_time": "2023-05-08"},
            r"session_1\[0\]\.blip_caption: is a list",
        ),
    ],
)
def test_a_conversation_of_another_shape(sample, load, conversation, says):
    sample["conversation"] = conversation
    with pytest.raises(InputError, match=rf"^my.json: sample conv-1: {says}"):
        load(sample)
