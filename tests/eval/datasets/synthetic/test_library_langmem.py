"""What `llm=grammar` answers to langmem's requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval.datasets.synthetic.libraries.tools import langmem
from eval.datasets.synthetic.reading import Request
from eval.datasets.synthetic.served import reply

COUSIN = "Ada: I heard that Velma Orr's cousin is Dar Sule."
VISIT = "Bo: By the way, Nev Lar visited Port Sen the day before yesterday."
CHAT = "Bo: My tea got cold while we were talking."


def body(said: list[str], stored: dict[str, str], choice: str | None = None) -> dict[str, Any]:
    """A request with messages of a session, and memories by name."""
    shown = "\n".join(
        f'<instance id={name} schema_type="Memory">\n{ {"content": text} }\n</instance>'
        for name, text in stored.items()
    )
    lines = "\n".join(["==== Human ====", "", *said])
    names = ["Memory", "PatchDoc"] if stored else ["Memory"]
    return {
        "model": "grammar",
        "messages": [
            {"role": "system", "content": f"Do.\n<existing>\n{shown}\n</existing>"},
            {"role": "user", "content": f"Do.\n\n<session_1-a>\n{lines}\n</session_1-a>"},
        ],
        "tools": [{"type": "function", "function": {"name": name}} for name in names],
        **({"tool_choice": choice} if choice else {}),
    }


def made(
    said: list[str], stored: dict[str, str], choice: str | None = "required", misses: float = 0.0
) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls."""
    message = langmem(Request(body(said, stored, choice), misses))
    assert message is not None
    assert message["content"] is None or "tool_calls" not in message
    functions = [call["function"] for call in message.get("tool_calls", ())]
    return [(one["name"], json.loads(one["arguments"])) for one in functions]


def test_what_is_new_is_a_memory_and_a_day_stays_in_its_words():
    assert made([COUSIN, VISIT, CHAT], {}, None) == [
        ("Memory", {"content": "Velma Orr's cousin is Dar Sule."}),
        ("Memory", {"content": "Nev Lar visited Port Sen the day before yesterday."}),
    ]


def test_another_value_is_patched_into_whatever_tells_the_old_one():
    stored = {
        "m1": "Velma Orr's cousin is Ros Nald.",
        "m2": "Velma Orr's teacher is Ros Nald.",
        "m3": "Velma Orr's cousin is Fen Varic.",
    }
    calls = made([COUSIN, VISIT], stored)
    assert [(name, given.get("json_doc_id")) for name, given in calls] == [
        ("PatchDoc", "m1"),
        ("PatchDoc", "m3"),
        ("Memory", None),
    ]
    assert calls[0][1]["patches"] == [
        {"op": "replace", "path": "/content", "value": "Velma Orr's cousin is Dar Sule."}
    ]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (COUSIN, "Velma Orr's cousin is Dar Sule."),
        (VISIT, "Nev Lar visited Port Sen the day before yesterday."),
        (CHAT, "Velma Orr's cousin is Dar Sule."),
    ],
)
def test_nothing_new_is_a_patch_without_edits_where_a_tool_has_to_be_called(said, stored):
    ((name, given),) = made([said], {"m1": stored})
    assert (name, given["json_doc_id"], given["patches"]) == ("PatchDoc", "m1", [])
    assert made([said], {"m1": stored}, "auto") == []
    assert made([CHAT], {}, None) == []


def test_of_a_fact_that_is_told_twice_the_later_value_holds():
    later = "Bo: Velma Orr's cousin is Fen Varic."
    assert made([COUSIN, later], {}) == [
        ("Memory", {"content": "Velma Orr's cousin is Fen Varic."})
    ]


def test_what_it_overlooks_is_missing():
    assert made([COUSIN, VISIT], {}, None, misses=1.0) == []


def test_the_server_answers_and_leaves_other_requests_to_others():
    served = reply(body([COUSIN], {}))["choices"][0]
    assert served["finish_reason"] == "tool_calls"
    assert "Dar Sule" in served["message"]["tool_calls"][0]["function"]["arguments"]
    assert reply(body([CHAT], {}))["choices"][0]["finish_reason"] == "stop"
    other = body([COUSIN], {})
    other["tools"] = []
    assert langmem(Request(other)) is None
