"""The prompts for facts (of people, users and assistants), and further lists in their reply."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.knowledge.facts.extract import FactExtractor
from memsys.knowledge.facts.extraction_reply import extraction_schema
from memsys.knowledge.facts.fact import Event, subject_of
from memsys.llm.base import LLMError
from memsys.llm.prompt import Prompt
from memsys.llm.reply import violation
from tests.memsys.build import session
from tests.memsys.knowledge.facts.models import Planned, fact, facts
from tests.memsys.knowledge.facts.test_extract import FIRST, extracted, settings

EXAMPLES = re.compile(r"<example>\n(.*?)\n(\{.*?\})\n</example>", re.DOTALL)


@pytest.mark.parametrize("name", ["facts_user", "facts_assistant"])
def test_examples_of_our_own_show_the_form_and_none_becomes_a_fact(name):
    examples = EXAMPLES.findall(settings(prompt=name).prompts["facts"].text)
    replies = [json.loads(reply)["facts"] for _, reply in examples]
    assert [] in replies
    assert any(len(rows) > 1 for rows in replies)
    for (said, reply), rows in zip(examples, replies, strict=True):
        shown = len(re.findall(r"^\d+\. ", said, re.MULTILINE))
        assert violation(json.loads(reply), extraction_schema(shown, shown)) is None
        assert all(1 <= number <= shown for row in rows for number in row["turns"])
    llm = Planned([facts(*(row for rows in replies for row in rows))])
    found, log, _ = extracted(llm, prompt=name)
    assert found == []
    assert {one.get("fault") for one in log} == {"prompt_example", None}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("facts_extract", ""),
        ("facts_user", "preferences personal plans activities services health profession other"),
        ("facts_assistant", "preferences abilities plans character approach knowledge other"),
    ],
)
def test_the_prompts_name_seven_kinds_of_notes_and_ask_for_the_language_of_the_messages(
    name, kinds
):
    text = settings(prompt=name).prompts["facts"].text
    assert re.search(r"in the language of the( person's| assistant's)? messages", text)
    if kinds:
        text = text.casefold()
        listed = re.findall(r"^(\d)\. ([a-z ]+):", text.partition("<example>")[0], re.MULTILINE)
        assert [number for number, _ in listed] == list("1234567")
        assert set(kinds.split()) <= set(" ".join(words for _, words in listed).split())
        assert "which model you are" in text


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


class Noting(Planned):
    """A model that notes the schemas it is given."""

    schemas: list[Any]

    def complete(self, messages: Any, **given: Any) -> Any:
        self.schemas = [*getattr(self, "schemas", []), given.get("schema")]
        return super().complete(messages, **given)


def test_one_reply_can_have_further_lists_beside_the_facts():
    reply = json.dumps({"facts": [fact("Mara has a kiln", "Mara", 1)], "moods": ["gay"]})
    llm, moods, log = Noting(["no JSON", reply]), Moods(), []
    extractor = FactExtractor(llm, settings(relations="same_reply", exchange=6), moods)
    (turns,) = extractor.exchanges(FIRST)
    with pytest.raises(LLMError):
        extractor.facts(turns, FIRST.time, log)
    assert (moods.found, log) == ([], [])
    (found,) = extractor.facts(turns, FIRST.time, log)
    assert (found.content, [one["step"] for one in log]) == (
        "Mara has a kiln",
        ["extract", "moods"],
    )
    assert moods.found == [(["gay"], [f"D1:{n}" for n in range(1, 7)], 6)]
    shown, schema = llm.asked["extract"][-1], llm.schemas[-1]
    assert shown.endswith('"moods" of the day 2 March 2024, 10:00.')
    assert list(schema["properties"]) == schema["required"] == ["facts", "moods"]
    assert schema["properties"]["moods"]["maxItems"] == 36
    assert extractor.prompts["same_reply"] is moods.prompt


def test_further_lists_are_asked_for_only_if_that_is_set():
    llm, moods = Noting([facts()]), Moods()
    extractor = FactExtractor(llm, settings(exchange=6), moods)
    (turns,) = extractor.exchanges(FIRST)
    extractor.facts(turns, FIRST.time, [])
    assert (moods.found, list(llm.schemas[0]["properties"])) == ([], ["facts"])
    assert "moods" not in llm.asked["extract"][0]
    assert "same_reply" not in extractor.prompts
    with pytest.raises(InputError, match=r"^strategy.facts.relations: same_reply: no relations"):
        FactExtractor(llm, settings(relations="same_reply"))
