"""The model that knows the grammar: what it answers to the prompts that the strategies send."""

import json
from typing import Any

import pytest

from eval.datasets.synthetic.served import UnknownPromptError, _answered
from memsys.llm.prompt import load_prompt
from memsys.llm.reply import object_schema
from tests.eval.datasets.synthetic.asked import chat, content, value

ENGLISH = [
    "Ada: I heard that Velma Orr's cousin is Dar Sule.",
    "Bo: The rain did not stop for 3 hours here.",
    "Ada: Nev Lar works at Tor Mill now; before, it was Ros Press.",
    "Bo: Nev Lar visited Port Sen the day before yesterday.",
]
COUSIN, FORMER = "Velma Orr's cousin is Dar Sule.", "Velma Orr's cousin is Lor Nen."
CHINESE = ["小明: 听人说，沈青禾的表亲是林知远。", "小红: 沈青禾在昨天去了若云镇。"]


def numbered(lines: list[str], first: int = 1) -> str:
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, first))


def ask(step: str, prompt: str, misses: float = 0.0, **places: str) -> Any:
    text = load_prompt(prompt, []).fill(time="9 May 2023, 10:00", **places)
    if step == "summary":
        return content(chat(text), misses)
    return value(chat(text) | {"response_format": {"json_schema": {"name": step}}}, misses)[step]


def extracted(lines: list[str], misses: float = 0.0, prompt: str = "facts_extract") -> Any:
    return ask(
        "facts",
        prompt,
        misses,
        summary="Velma Orr's teacher is Old Joke.",
        recent="[1 May 2023, 09:00]\n1. Ada: Velma Orr's teacher is Fen Varic.",
        messages="[9 May 2023, 10:00]\n" + numbered(lines, 2),
    )


@pytest.mark.parametrize("prompt", ["facts_extract", "facts_user", "facts_assistant"])
def test_it_notes_what_the_new_messages_tell_and_nothing_else(prompt):
    rows = extracted(ENGLISH, prompt=prompt)
    assert [(row["content"], row["when"], row["speaker"], row["turns"]) for row in rows] == [
        ("Velma Orr's cousin is Dar Sule.", "", "Ada", [2]),
        ("Nev Lar works at Tor Mill.", "", "Ada", [4]),
        ("Nev Lar visited Port Sen on 7 May 2023.", "2023-05-07", "Bo", [5]),
    ]
    assert [row["content"] for row in extracted(CHINESE)] == [
        "沈青禾的表亲是林知远。",
        "沈青禾在2023年5月8日去了若云镇。",
    ]
    assert extracted(["Bo: My tea got cold while we were talking."]) == []


@pytest.mark.parametrize(
    ("fact", "stored", "operations"),
    [
        (COUSIN, ["Nev Lar works at Tor Mill."], ["ADD 0 "]),
        (COUSIN, ["Velma Orr's teacher is Lor Nen.", FORMER], [f"UPDATE 2 {COUSIN}"]),
        (COUSIN, [FORMER, "Velma Orr's cousin is Hal Bert."], [f"UPDATE 1 {COUSIN}", "DELETE 2 "]),
        (COUSIN, [COUSIN], ["NOOP 0 "]),
        (
            "Nev Lar visited Port Sen on 7 May 2023. (2023-05-07)",
            ["Nev Lar visited Port Lan on 7 May 2023. (2023-05-07)"],
            ["ADD 0 "],
        ),
        ("沈青禾的表亲是宋若云。", ["沈青禾的表亲是林知远。"], ["UPDATE 1 沈青禾的表亲是宋若云。"]),
    ],
)
def test_a_value_takes_the_place_of_the_one_before(fact, stored, operations):
    memories = numbered([f"Ada: {one}" for one in stored])
    rows = ask("operations", "mem0_update", fact=f"Ada: {fact}", memories=memories)
    assert [f"{row['operation']} {row['id']} {row['content']}" for row in rows] == operations


def test_it_names_the_entities_of_messages_and_of_questions():
    rows = ask("entities", "graph_entities", messages=numbered(ENGLISH))
    assert {row["entity"]: row["entity_type"] for row in rows} == {
        **dict.fromkeys(("Velma Orr", "Dar Sule", "Nev Lar"), "person"),
        **{"Tor Mill": "organisation", "Port Sen": "place"},
    }
    for question, names in (
        ("What is the workplace of Velma Orr's cousin?", ["Velma Orr"]),
        ("Who was Velma Orr's cousin on 3 May 2023?", ["Velma Orr"]),
        ("When did Nev Lar visit Port Sen?", ["Nev Lar", "Port Sen"]),
        ("What is the dish of Port Sen?", ["Port Sen"]),
        ("How are you?", []),
    ):
        rows = ask("entities", "graph_entities", messages=f"1. {question}")
        assert [row["entity"] for row in rows] == names


def test_it_answers_for_facts_and_graph_in_one_reply():
    prompt = load_prompt("facts_extract", []).extended(load_prompt("graph_same_reply", []).text)
    messages = "[9 May 2023, 10:00]\n" + numbered(ENGLISH, 2)
    text = prompt.fill(summary="", recent="", time="9 May 2023, 10:00", messages=messages)
    schema = object_schema({name: {"type": "array"} for name in ("facts", "entities", "relations")})
    form = {"json_schema": {"name": "facts", "schema": schema}}
    given = value(chat(text) | {"response_format": form})
    assert given["facts"] == extracted(ENGLISH)
    assert {row["entity"]: row["entity_type"] for row in given["entities"]}["Tor Mill"] == (
        "organisation"
    )
    assert ("Nev Lar", "works at", "Tor Mill", [4]) in [
        tuple(row.values()) for row in given["relations"]
    ]


def test_it_states_relations_and_ends_those_that_have_another_end_now():
    rows = ask("relations", "graph_relations", messages=numbered(ENGLISH), entities="- Ada")
    assert [tuple(row.values()) for row in rows] == [
        ("Velma Orr", "has as cousin", "Dar Sule", [1]),
        ("Nev Lar", "works at", "Tor Mill", [3]),
        ("Nev Lar", "visited", "Port Sen", [4]),
    ]
    stored = ["Velma Orr has as cousin Lor Nen", "Velma Orr has as teacher Lor Nen"]
    stored += ["Nev Lar works at Tor Mill", "Nev Lar visited Port Lan", "沈青禾 的表亲是 林知远"]
    new = [
        "Velma Orr has as cousin Dar Sule",
        "Nev Lar works at Tor Mill",
        "沈青禾 的表亲是 宋若云",
    ]
    ended = ask(
        "conflicts",
        "graph_conflicts",
        stored=numbered([f"{one} (stated 8 May 2023)" for one in stored]),
        new="\n".join(f"- {one}" for one in new),
        messages=numbered(ENGLISH),
    )
    assert [row["relation"] for row in ended] == [1, 5]


def test_what_it_overlooks_is_a_share_of_the_messages_and_always_the_same():
    lines = [f"Ada: Velma Orr's cousin is Dar Sule{'x' * n}." for n in range(400)]
    found = extracted(lines, misses=0.25)
    assert len(found) == pytest.approx(300, abs=30)
    assert extracted(lines, misses=0.25) == found
    assert extracted(lines, misses=1.0) == []
    heard = {row["turns"][0] - 1 for row in found}
    related = ask("relations", "graph_relations", 0.25, messages=numbered(lines), entities="")
    assert len(related) == pytest.approx(300, abs=30)
    assert {row["turns"][0] for row in related} != heard  # another step overlooks others


def test_other_prompts_are_refused():
    with pytest.raises(UnknownPromptError, match="no prompt of facts, operations"):
        ask("answer", "short_answer", context="a memory", question="Who?")
    without_a_day = {"summary": "", "recent": "", "messages": "1. Ada: Hi."}
    with pytest.raises(UnknownPromptError):
        ask("facts", "facts_extract", **without_a_day)
    status, refused = _answered("", "", json.dumps(chat("Answer.")).encode())
    assert status == 400
    assert "llm=grammar answers only prompts that write memories" in json.dumps(refused)
    with pytest.raises(UnknownPromptError):
        ask("summary", "short_answer", context="a memory", question="Who?")
    summary = ask("summary", "facts_summary", summary="(nothing yet)", messages="Ada: Hi.")
    assert summary == "They tell each other of people, firms, towns and dishes."
