"""What a model is offered, and what of its reply is read, added, merged and logged."""

import json
from typing import Any

import pytest

from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor
from memsys.knowledge.relations.forms import ask, conflicts_form, entities_form
from memsys.knowledge.relations.triples import Unsaid
from memsys.llm.base import LLMError
from tests.memsys.build import session
from tests.memsys.knowledge.relations.models import (
    BADMINTON,
    DAY,
    LIKES,
    NO_MORE,
    Reply,
    Scripted,
    Written,
    changed,
    entity,
    relation,
    settings,
    talk,
)


def test_like_names_are_one_node(bag_of_words):
    llm = Scripted(
        entities=[[entity("the Lantern market", "place")], [entity("Lantern markets")]],
        relations=[
            [relation("Mara", "sells at", "the Lantern market")],
            [relation("Mara", "left", n) for n in ("Lantern markets", "the Lantern market")],
        ],
    )
    written = Written(llm, bag_of_words)
    written.read(2, "I sell at the Lantern market.")
    written.read(3, "I left the Lantern markets.")
    assert [node.name for node in written.store.nodes("us")] == ["Mara", "the Lantern market"]
    expected = {f"Mara {does} the Lantern market" for does in ("sells at", "left")}
    assert set(written.relations) == expected
    llm.plans["entities"] = [[entity("kiln"), entity("kiln shelf")]]
    llm.plans["relations"] = [[relation("kiln shelf", "is in", "kiln")]]
    written.read(4, "The kiln shelf is in the kiln.")
    assert "kiln shelf is in kiln" in written.relations  # unlike names are two
    (last,) = [event for event in written.log if event.get("merged")]
    assert last["merged"] == {"Lantern markets": "the Lantern market"}


def test_whoever_speaks_is_meant_by_i(bag_of_words):
    llm = Scripted(
        entities=[[entity("I", "person"), entity("kelp")]],
        relations=[[relation("I", "eats", "kelp", 2), relation("me", "eats", "kelp", 1, 2)]],
    )
    written = Written(llm, bag_of_words, exchange=2)
    written.writer.write(session(2, DAY, ("Mara", "Kelp?"), ("Theo", "I eat kelp.")), written.log)
    assert set(written.relations) == {"Theo eats kelp"}
    assert written.faults == ["unknown_speaker"]  # of two who spoke
    assert "- I\n" not in llm.asked["relations"][0]


def test_a_speaker_without_a_name_is_the_user_whose_memory_it_is(bag_of_words):
    rows = [relation("I", "eats", "kelp", 1), relation("user", "grows", "kelp", 1, 2)]
    llm = Scripted(entities=[[entity("kelp")]], relations=[rows])
    written = Written(llm, bag_of_words, exchange=2, self_name="alice_01")
    said = session(2, DAY, ("user", "I eat kelp, and grow it."), ("assistant", "Do you?"))
    written.writer.write(said, written.log)
    assert set(written.relations) == {"alice_01 eats kelp", "alice_01 grows kelp"}
    assert written.faults == []
    assert "1. alice_01: I eat kelp" in llm.asked["entities"][0]


def test_the_log_tells_every_step_and_its_cost(bag_of_words):
    written = changed(bag_of_words, "delete")
    assert json.loads(json.dumps(written.log)) == written.log
    cost = {"input_tokens": 100, "output_tokens": 10}
    second = written.log[4:]
    assert [event["step"] for event in second] == [
        *("entities", "relations", "conflicts", "apply_relation", "apply_relation", "graph")
    ]
    for event, kind in ((second[0], "entities"), (second[2], "conflicts")):
        assert event == {"step": kind, "turns": ["D3:1"], kind: 1, "tokens": cost}
    assert second[3] == {
        **{"step": "apply_relation", "operation": "DELETE", "relation": "r:mara|likes|badminton"},
        **{"text": "Mara likes badminton", "why": "not any more", "turns": ["D3:1"]},
    }
    assert second[-1] == {"step": "graph", "DELETE": 1, "ADD": 1, "faults": 0, "lost": 0, "of": 1}


NO_ANSWER = LLMError("timed out")


@pytest.mark.parametrize(
    ("failing", "fault", "plan"),
    [
        ("entities", "no_answer", [BADMINTON, NO_ANSWER]),
        ("relations", "no_answer", [LIKES, NO_ANSWER]),
        ("conflicts", "no_answer", [NO_ANSWER]),
        ("entities", "no_call", [BADMINTON, "I had rather not."]),
        ("relations", "unknown_tool", [LIKES, (("note_relations", '{"relations": [{'),)]),
        ("conflicts", "unknown_tool", [(("forget", "{}"),)]),
    ],
)
def test_a_fault_of_one_exchange_loses_that_one(bag_of_words, failing, fault, plan):
    plans: dict[str, list[Reply]] = {"entities": [BADMINTON], "relations": [LIKES, NO_MORE]}
    llm = Scripted(**{**plans, failing: plan})
    written = Written(llm, bag_of_words)
    written.read(2, "I like badminton.", "Not any more.")
    assert set(written.relations) == {"Mara likes badminton"}
    (event,) = [one for one in written.log if "fault" in one]
    assert (event["step"], event["fault"]) == (failing, fault)
    assert fault != "no_answer" or event["turns"] == ["D2:2"]
    assert written.log[-1] == {"step": "graph", "ADD": 1, "faults": 1, "lost": 1, "of": 2}


def test_nothing_is_asked_of_what_speaks_of_nothing_and_no_answer_is_an_error(bag_of_words):
    llm = Scripted(entities=[[], LLMError("gone")], relations=[LIKES])
    written = Written(llm, bag_of_words)
    written.read(2, "Mind the gap.")
    assert set(llm.asked) == {"entities"}
    assert written.log[-1] == {"step": "graph", "faults": 0, "lost": 0, "of": 1}
    with pytest.raises(LLMError, match="none of 2 exchanges was ingested into the graph: gone"):
        written.read(3, "One.", "Two.")
    assert written.faults == ["no_answer", "no_answer"]


def test_a_relation_to_what_was_not_extracted(bag_of_words):
    rows = relation("Mara", "broke", "a bowl", 1, 9), relation("Mara", "broke", "her leg")
    llm = Scripted(entities=[[entity("kiln")]], relations=[list(rows)])
    written = Written(llm, bag_of_words)
    written.read(2, "The kiln broke a bowl.")
    assert set(written.relations) == {"Mara broke a bowl"}
    assert written.faults == ["unknown_turn", "unlisted_entity", "unknown_entity"]
    (bowl,) = written.store.nodes("us", ["a bowl"])
    assert bowl.kind == "other"


def test_what_is_no_name_is_no_relation(bag_of_words):
    rows = [
        relation("Mara", "owns", "Mara"),
        relation("Mara", "...", "kelp"),
        relation("Mara", "said of the sea and of all that is in it " * 3, "kelp"),
        relation("Mara", "Grows_ ", "kelp"),
        relation("I", "grows", "kelp"),
    ]
    llm = Scripted(entities=[[entity("kelp"), entity("k" * 61)]], relations=[rows])
    written = Written(llm, bag_of_words)
    written.read(2, "I grow kelp.")
    assert {text: one.mentions for text, one in written.relations.items()} == {"Mara grows kelp": 1}
    assert written.faults == ["bad_argument"] * 4


@pytest.mark.parametrize(
    ("name", "deleted", "remaining", "unsaid"),
    [
        ("Paris", "Ann: I live in Paris.", "Ann: I like tea.", True),
        ("Paris", "Ann: I live in Paris.", "Ann: PARIS is loud.", False),
        ("art", "Ann: I party.", "", False),
        ("北京", "Ann: 我住在北京", "Ann: 我喜欢茶", True),
        ("北京", "Ann: 我住在北京", "Ann: 北京很吵", False),
        ("Paris", "Ann: 我住在Paris吗", "", True),
        ("東京タワー", "Ann: 東京タワーが好き", "", True),
        ("서울", "Ann: 서울에 살아요", "", True),
        ("!!", "a", "b", False),
        ("", "a  b", "", False),
    ],
)
def test_a_name_is_unsaid_if_only_a_deleted_text_has_it(name, deleted, remaining, unsaid):
    assert (name in Unsaid([deleted, "x"], [remaining, "y"])) is unsaid


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
