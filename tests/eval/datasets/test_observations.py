"""The facts that come with a data set."""

from __future__ import annotations

import pytest

from memsys.errors import InputError
from memsys.types import Observation


def test_turn_ids_may_be_one_several_or_a_list(sample, load):
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


def test_none_is_fine(sample, load):
    assert load(sample).conversations[0].sessions[0].observations == ()


@pytest.mark.parametrize(
    ("observation", "says"),
    [
        ([], "observation: is a list; must be an object"),
        ({"session_3_observation": {}}, "observation.session_3_observation: belongs to no session"),
        ({"session_1": {}}, "observation.session_1: belongs to no session"),
        ({"session_1_observation": []}, "observation.session_1_observation: is a list"),
        ({"session_1_observation": {"Ada": "x"}}, r".*observation\.Ada: is a text; must be a list"),
        ({"session_1_observation": {"Ada": ["x"]}}, r".*Ada\[0\]: must be a text and its turns"),
        ({"session_1_observation": {"Ada": [["x"]]}}, r".*Ada\[0\]: must be a text and its turns"),
        ({"session_1_observation": {"Ada": [[" ", "D1:1"]]}}, r".*Ada\[0\]: must be a text"),
        ({"session_1_observation": {"Ada": [["x", []]]}}, r".*Ada\[0\]: names no turn"),
        ({"session_1_observation": {"Ada": [["x", "D1:9"]]}}, r".*Ada\[0\]: 'D1:9' is no turn"),
        # a fact of session 1 that rests on session 2 would tell the future
        ({"session_1_observation": {"Ada": [["x", "D2:1"]]}}, r".*Ada\[0\]: 'D2:1' is no turn"),
    ],
)
def test_observations_that_are_wrong(sample, load, observation, says):
    sample["observation"] = observation
    with pytest.raises(InputError, match=rf"^my.json: sample conv-1: {says}"):
        load(sample)
