"""The prompts for facts, and what is read of a reply: further lists, and operations."""

import json
import re
from datetime import datetime
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.knowledge.facts.extract import FactExtractor, for_roles
from memsys.knowledge.facts.fact import Event, extraction_schema, subject_of
from memsys.knowledge.facts.fact_writer import Operation, read_operations, schema
from memsys.llm.base import LLMError
from memsys.llm.prompt import Prompt
from memsys.llm.reply import violation
from tests.memsys.build import session
from tests.memsys.knowledge.facts.models import (
    Planned,
    call,
    completion,
    fact,
    facts,
    operation,
    operations,
)
from tests.memsys.knowledge.facts.test_extract import FIRST, extracted, settings

EXAMPLES = re.compile(r"<example>\n(.*?)\n(\{.*?\})\n</example>", re.DOTALL)


@pytest.mark.parametrize("name", ["facts_user", "facts_assistant", "facts_dialogue"])
def test_examples_of_our_own_show_the_form_and_none_becomes_a_fact(name):
    examples = EXAMPLES.findall(settings(prompt=name).prompts["facts"].text)
    replies = [json.loads(reply)["facts"] for _, reply in examples]
    assert [] in replies
    assert any(len(rows) > 1 for rows in replies)
    for (messages, reply), rows in zip(examples, replies, strict=True):
        shown = len(re.findall(r"^\d+\. ", messages, re.MULTILINE))
        assert violation(json.loads(reply), extraction_schema(shown, shown)) is None
        assert all(1 <= number <= shown for row in rows for number in row["turns"])
    llm = Planned([facts(*(row for rows in replies for row in rows))])
    found, log, _ = extracted(llm, prompt=name)
    assert found == []
    assert {one.get("fault") for one in log} == {"prompt_example", None}


@pytest.mark.parametrize(
    ("roles", "agent_id", "subject"),
    [
        (("user", "assistant"), "agent-7", "assistant"),
        (("user",), "agent-7", "user"),
        (("user", "assistant"), None, "user"),
        ((), "agent-7", "user"),
    ],
)
def test_whose_facts_are_looked_for(roles, agent_id, subject):
    assert subject_of(roles, agent_id) == subject


@pytest.mark.parametrize(("assistant_prompt", "own"), [("facts_assistant", True), (None, False)])
def test_facts_of_an_assistant_have_their_own_prompt(assistant_prompt, own):
    llm = Planned([facts(fact("The assistant writes in verse", "assistant", 2))])
    extractor = FactExtractor(llm, settings(prompt="facts_user", assistant_prompt=assistant_prompt))
    said = session(1, datetime(2024, 3, 2), ("user", "Hi"), ("assistant", "I write in verse."))
    (turns,) = extractor.exchanges(said)
    for subject in ("user", "assistant"):
        (found,) = extractor.facts(turns, said.time, [], subject)
        assert found.speaker == "assistant"
    first, second = llm.asked["extract"]
    assert first.startswith("You keep notes on a person from")
    assert second.startswith("You keep notes on an assistant") is own
    assert (first == second) is not own


def test_the_text_of_a_system_prompt_replaces_what_is_to_be_extracted():
    example = "<example>Zephyrine likes rooibos.</example>"
    llm = Planned([facts(fact("Mara eats rye", "Mara", 1), fact("Zephyrine likes rooibos"))])
    own = settings(system=f"Only food. {example}", assistant_prompt="facts_assistant")
    extractor, log = FactExtractor(llm, own), list[Event]()
    assert extractor.prompts["system"].text.startswith("Only food.")
    (turns,) = FactExtractor(llm, settings(exchange=6)).exchanges(FIRST)
    extractor.add_turns(FIRST)
    for subject in ("user", "assistant"):
        (found,) = extractor.facts(turns, FIRST.time, log, subject)  # type: ignore[arg-type]
        assert found.content == "Mara eats rye"
        system, user = llm.sent[-1]
        assert system == {"role": "system", "content": f"Only food. {example}"}
        assert user["content"].startswith("Input:\n")
        for field in ("title", "content", "when", "speaker", "turns"):
            assert f'"{field}"' in user["content"]
    assert {one.get("fault") for one in log} == {"prompt_example", None}


@pytest.mark.parametrize(
    ("given", "prompt", "assistant", "summary"),
    [
        ("facts_extract", "facts_user", "facts_assistant", "facts_summary_roles"),
        ("facts_dialogue", "facts_user", "facts_assistant", "facts_summary_roles"),
        ("own.txt", "own.txt", None, "facts_summary_roles"),
    ],
)
def test_messages_with_roles_have_prompts_of_their_own(given, prompt, assistant, summary):
    made = for_roles(settings(prompt=given, summary_prompt="facts_summary"))
    assert (made.prompt, made.assistant_prompt, made.summary_prompt) == (prompt, assistant, summary)
    assert made.roles
    steps = settings(summary_prompt="facts_summary_steps")
    assert for_roles(steps).summary_prompt == "facts_summary_steps"


def test_a_role_is_no_name_with_which_a_fact_begins():
    said = session(1, datetime(2024, 3, 2), ("user", "I ski."), ("Mara", "I row."))
    rows = facts(fact("Likes skiing", "user", 1), fact("Likes rowing", "Mara", 2))
    for roles, text in ((True, "Likes skiing"), (False, "user: Likes skiing")):
        extractor = FactExtractor(Planned([rows]), settings(roles=roles))
        (turns,) = extractor.exchanges(said)
        found = extractor.facts(turns, said.time, [])
        assert [one.text for one in found] == [text, "Mara: Likes rowing"]
        assert [one.speaker for one in found] == ["user", "Mara"]


@pytest.mark.parametrize("name", ["facts_summary", "facts_summary_roles", "facts_summary_steps"])
def test_every_summary_is_brought_up_to_date_by_its_prompt(name):
    llm = Planned(summary=["Task: x.", "Task: y."])
    extractor, log = FactExtractor(llm, settings(summary_prompt=name)), list[Event]()
    for number in (1, 2):
        one = session(number, datetime(2024, 3, number), ("Mara", f"Step {number} is done."))
        extractor.add_turns(one)
        extractor.refresh(one, log)
    assert extractor.summary == "Task: y."
    first, second = llm.asked["summary"]
    assert "Step 1 is done." in first
    assert "Task: x." in second
    assert ("two people" in first) == (name == "facts_summary")


class Moods:
    """A list of moods beside the facts; `found` holds what was read."""

    prompt = Prompt("moods", 'Put a second list in the object: "moods" of the day {time}.')

    def __init__(self) -> None:
        self.found: list[Any] = []

    def properties(self, new: int, shown: int) -> dict[str, Any]:
        return {"moods": {"type": "array", "items": {"type": "string"}, "maxItems": new * shown}}

    def read(self, reply: Any, shown: Any, new: Any, log: list[Event]) -> None:
        self.found.append((reply.get("moods"), [turn.id for turn in shown], len(new)))
        log.append({"step": "moods"})


def test_one_reply_can_have_further_lists_beside_the_facts():
    reply = json.dumps({"facts": [fact("Mara has a kiln", "Mara", 1)], "moods": ["gay"]})
    llm, moods, log = Planned([LLMError("no JSON"), reply]), Moods(), []
    extractor = FactExtractor(llm, settings(relations="same_reply", exchange=6), moods)
    (turns,) = extractor.exchanges(FIRST)
    with pytest.raises(LLMError):
        extractor.facts(turns, FIRST.time, log)
    assert (moods.found, log) == ([], [])
    (found,) = extractor.facts(turns, FIRST.time, log)
    assert found.content == "Mara has a kiln"
    assert [one["step"] for one in log] == ["extract", "moods"]
    assert moods.found == [(["gay"], [f"D1:{n}" for n in range(1, 7)], 6)]
    shown, schema = llm.asked["extract"][-1], llm.schemas[-1]
    assert shown.endswith('"moods" of the day 2 March 2024, 10:00.')
    assert list(schema["properties"]) == schema["required"] == ["facts", "moods"]
    assert schema["properties"]["moods"]["maxItems"] == 36
    assert extractor.prompts["same_reply"] is moods.prompt


def test_further_lists_are_asked_for_only_if_that_is_set():
    llm, moods = Planned([facts()]), Moods()
    extractor = FactExtractor(llm, settings(exchange=6), moods)
    (turns,) = extractor.exchanges(FIRST)
    extractor.facts(turns, FIRST.time, [])
    assert (moods.found, list(llm.schemas[0]["properties"])) == ([], ["facts"])
    assert "moods" not in llm.asked["extract"][0]
    assert "same_reply" not in extractor.prompts
    with pytest.raises(InputError, match=r"^strategy.facts.relations: same_reply: no relations"):
        FactExtractor(llm, settings(relations="same_reply"))


def test_tools_and_schema_say_the_same():
    update = call("UPDATE", id=2, content="Mara  swims")
    calls = call("ADD"), update, call("DELETE", id=1), call("NOOP")
    kept = [("ADD", 0, ""), ("UPDATE", 2, "Mara swims"), ("DELETE", 1, ""), ("NOOP", 0, "")]
    given = [*kept[:2], ("DELETE", 1, "left over"), kept[3]]
    rows = operations(*(operation(*one) for one in given))
    assert violation(json.loads(rows), schema(2)) is None
    expected = [Operation(*one, "so it is") for one in kept]
    assert list(read_operations(completion(calls, "m"))) == expected
    assert list(read_operations(completion(rows, "m"))) == expected


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (("ADD", '{"why": "cut o'), "broken_json"),
        (("MERGE", '{"why": "x"}'), "unknown_operation"),
        (("", "{}"), "unknown_operation"),
        (call("UPDATE", id=1), "bad_argument"),
        (call("UPDATE", id=1, content="  "), "bad_argument"),
        (call("DELETE"), "bad_argument"),
        (call("DELETE", id="one"), "bad_argument"),
        (call("DELETE", id=True), "bad_argument"),
        (("NOOP", "[]"), "bad_argument"),
        (("NOOP", "null"), "bad_argument"),
    ],
)
def test_a_tool_call_that_cannot_be_used_costs_itself_alone(bad, fault):
    first, second, third = read_operations(completion((call("ADD"), bad, call("NOOP")), "m"))
    assert isinstance(first, Operation)
    assert isinstance(third, Operation)
    assert (second["step"], second["fault"]) == ("decide", fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *(
            (text, "no_operation")
            for text in ("I would add it.", "", "[]", "null", '{"facts": []}')
        ),
        ('{"operations": [3]}', "unknown_operation"),
        ('{"operations": "ADD"}', "unknown_operation"),
    ],
)
def test_a_text_without_operations_is_one_fault(text, fault):
    (event,) = read_operations(completion(text, "m"))
    assert event["fault"] == fault
