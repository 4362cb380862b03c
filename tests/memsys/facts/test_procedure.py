"""A run's history becomes one numbered record; what it quotes is checked against the history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memsys.errors import InputError
from memsys.facts.procedure import procedure
from memsys.llm.base import LLMError
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import FaultyServer

PAGE = 'Ferry 14: 08:15, 9.50 €\n{"seats": 3}'
RUN: list[dict[str, Any]] = [
    {"role": "user", "content": "Book me a seat on the first ferry."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "timetable", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": PAGE},
    {"role": "assistant", "content": [{"type": "text", "text": "There are 3 seats left."}]},
]


def row(action: str, result: str = "") -> dict[str, str]:
    return {"action": action, "result": result}


def reply(*steps: dict[str, str], state: str = "The seat is to be paid.") -> str:
    return json.dumps({"task": "Book a seat.", "steps": steps, "state": state})


def recorded(make: Make, text: str, messages: Any = RUN, **own: Any) -> tuple[Any, list[str]]:
    with FaultyServer(lambda _: faults.says(text)) as server:
        made = procedure(make(server, retries=0), messages, **own)
    return made, [body["messages"][0]["content"] for body in server.bodies]


def test_steps_are_numbered_and_their_results_are_word_for_word(make: Make) -> None:
    said = reply(row("Asked the timetable", PAGE), row("Told how many seats there are"))
    made, asked = recorded(make, said)
    assert made.text == (
        f"Task: Book a seat.\n1. Asked the timetable\n   Result: {PAGE}\n"
        "2. Told how many seats there are\nState: The seat is to be paid."
    )
    assert (made.steps, made.usage.calls) == (2, 1)
    assert [event.get("fault") for event in made.events] == [None]
    assert made.events[0]["tokens"]["output_tokens"] == 2
    (shown,) = asked
    assert "[1] user: Book me a seat" in shown
    assert "[2] assistant calls timetable({})" in shown
    assert f"[3] tool: {PAGE}\n[4] assistant: There are 3 seats left." in shown


@pytest.mark.parametrize(
    "changed", ["Ferry 14: 8:15", "9.5 €", '{"seats": 4}', "Ferry 14: 08:15, 9.50 € and 3 seats"]
)
def test_a_result_that_was_changed_is_a_fault_and_is_marked(make: Make, changed: str) -> None:
    said = reply(row("Asked", "Ferry 14: 08:15, 9.50 €"), row("Looked again", changed))
    made, _ = recorded(make, said)
    (event,) = [one for one in made.events if "fault" in one]
    assert (event["fault"], event["detail"], event["number"]) == ("not_verbatim", changed, 2)
    assert "1. Asked\n   Result: Ferry 14" in made.text
    assert f"2. Looked again\n   Result (not verbatim): {changed}" in made.text


@pytest.mark.parametrize("text", ["Done.", "{}", reply()])
def test_without_a_step_there_is_no_record(make: Make, text: str) -> None:
    with pytest.raises(LLMError):
        recorded(make, text)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "^messages: there is no text"),
        ([{"role": "user", "content": " "}], "^messages: there is no text"),
        (["Book"], r"^messages\[0\]: not a message"),
        ([{"content": "Book"}], r"^messages\[0\]: not a message"),
        ([{"role": "user", "content": 3}], r"^messages\[0\].content: neither text"),
        ([RUN[0], {"role": "assistant", "tool_calls": [{}]}], r"^messages\[1\].tool_calls: a call"),
        ([{"role": "assistant", "tool_calls": {}, "content": "a"}, 4], r"^messages\[1\]: not a"),
    ],
)
def test_what_is_no_history_is_refused_before_any_call(
    make: Make, messages: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        recorded(make, reply(row("x")), messages)


def test_a_prompt_of_one_s_own(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("Steps of: {history}", encoding="utf-8")
    _, asked = recorded(make, reply(row("x")), RUN[:1], prompt=str(path))
    assert asked == ["Steps of: [1] user: Book me a seat on the first ferry."]
    path.write_text("Steps", encoding="utf-8")
    with pytest.raises(InputError, match=r"own.txt: the place \{history\} is missing"):
        recorded(make, reply(row("x")), prompt=str(path))
