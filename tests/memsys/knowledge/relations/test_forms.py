"""What a model is offered, and what of its reply is read: by tools or by schema, sound or not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor
from memsys.knowledge.relations.forms import ask, conflicts_form, entities_form
from memsys.llm.base import LLMError
from tests.memsys.knowledge.relations.models import (
    Reply,
    Scripted,
    entity,
    settings,
    talk,
)

ROWS = [entity("kelp"), entity("Theo", "person")]


def asked(reply: Reply, calls: Any = "tools") -> tuple[list[dict[str, Any]] | None, list[Event]]:
    log: list[Event] = []
    rows = ask(Scripted(entities=[reply]), entities_form(1), "kelp", calls, log, turns=["D1:1"])
    assert log[-1]["step"] == "entities"
    assert log[-1]["tokens"] == {"input_tokens": 100, "output_tokens": 10}
    return rows, log[:-1]


def call(arguments: Any, name: str = "extract_entities") -> tuple[str, str]:
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments)


@pytest.mark.parametrize("calls", ["tools", "schema"])
def test_rows_are_read_and_those_of_another_form_dropped(calls):
    assert asked(ROWS, calls) == (ROWS, [])
    rows, log = asked([ROWS[0], {"entity": "owl"}, "owl", {**ROWS[1], "age": 3}, ROWS[1]], calls)
    assert rows == ROWS
    assert [event["fault"] for event in log] == ["bad_argument"] * 3
    # Several calls are one list, and JSON in a text will do.
    assert asked(tuple(call({"entities": [row]}) for row in ROWS)) == (ROWS, [])
    assert asked(json.dumps({"entities": ROWS})) == (ROWS, [])


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (call('{"entities": [{"entity": "ke'), "broken_json"),
        (call({"entities": ROWS}, "draw_graph"), "unknown_tool"),
        (call({}), "bad_argument"),
        (call({"entities": "kelp"}), "bad_argument"),
        (call("null"), "bad_argument"),
    ],
)
def test_what_one_call_gets_wrong_costs_that_call(wrong, fault):
    for calls, expected in (((wrong, call({"entities": ROWS})), ROWS), ((wrong,), None)):
        rows, log = asked(calls)
        assert (rows, [event["fault"] for event in log]) == (expected, [fault])


@pytest.mark.parametrize("text", ["", "There is kelp.", "[]", '{"entities": null}'])
def test_a_text_that_is_no_list_is_no_answer(text):
    rows, (event,) = asked(text)
    assert (rows, event["fault"], event["detail"]) == (None, "no_call", text)


def test_a_list_of_500_is_cut_at_the_bound_and_the_cut_is_logged():
    rows, (event,) = asked([entity(f"owl {n}") for n in range(500)])
    assert rows == [entity(f"owl {n}") for n in range(8)]
    assert (event["fault"], event["detail"]) == ("too_many", "500; the first 8 are read")


def test_to_call_nothing_is_to_end_nothing():
    log: list[Event] = []
    llm = Scripted(conflicts=["All of it still holds."])
    assert ask(llm, conflicts_form(3), "", "tools", log) == []
    assert [event.get("fault") for event in log] == [None]


def test_names_are_shown_plainly_once_and_their_types_are_free_text():
    rows = [entity("Lantern_market ", "PLACE"), entity("lantern  market"), entity("...")]
    rows += [entity("Ottoline", "Family_Member "), entity("kelp", " "), entity("owl", "b" * 99)]
    llm = Scripted(entities=[rows])
    said = talk(2, "Ottoline fed kelp to an owl at the Lantern market.")
    found = RelationExtractor(llm, settings()).entities(said.turns, said.time, [])
    assert [(one.name, one.kind) for one in found] == [
        ("Lantern market", "place"),
        ("Ottoline", "family member"),
        ("kelp", "other"),
        ("owl", "b" * 60),
        ("Mara", "person"),
    ]
    assert "1. Mara: Ottoline fed kelp" in llm.asked["entities"][0]
    assert "2 March 2024" in llm.asked["entities"][0]


def test_a_question_s_entities_are_asked_for_by_the_same_prompt():
    llm = Scripted(entities=[[entity("Mara", "person"), entity("kelp")], "No idea."])
    extractor = RelationExtractor(llm, settings())
    assert extractor.question_entities("Does Mara eat kelp?") == ["Mara", "kelp"]
    assert "1. Does Mara eat kelp?" in llm.asked["entities"][0]
    with pytest.raises(LLMError, match="scripted: does not name a question's entities"):
        extractor.question_entities("Does Mara eat kelp?")
