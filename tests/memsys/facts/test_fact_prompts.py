"""The prompts for facts: of people, users and assistants."""

from __future__ import annotations

import json
import re
from datetime import datetime

import pytest

from memsys.facts.extract import FactExtractor
from memsys.facts.extraction_reply import extraction_schema
from memsys.facts.fact import subject_of
from memsys.llm.schema import violation
from tests.memsys.build import session
from tests.memsys.facts.models import Planned, fact, facts
from tests.memsys.facts.test_extract import extracted, settings

OWN = ("facts_extract", "facts_user", "facts_assistant")
EXAMPLES = re.compile(r"<example>\n(.*?)\n(\{.*?\})\n</example>", re.DOTALL)


@pytest.mark.parametrize("name", OWN[1:])
def test_examples_of_our_own_show_the_form_and_none_becomes_a_fact(name: str) -> None:
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
        ("facts_user", "preferences personal plans activities services health profession other"),
        ("facts_assistant", "preferences abilities plans character approach knowledge other"),
    ],
)
def test_the_prompts_name_seven_kinds_of_notes(name: str, kinds: str) -> None:
    text = settings(prompt=name).prompts["facts"].text.casefold()
    listed = re.findall(r"^(\d)\. ([a-z ]+):", text.partition("<example>")[0], re.MULTILINE)
    assert [number for number, _ in listed] == list("1234567")
    assert set(kinds.split()) <= set(" ".join(words for _, words in listed).split())
    assert "which model you are" in text


@pytest.mark.parametrize("name", OWN)
def test_our_own_prompts_ask_for_the_language_of_the_messages(name: str) -> None:
    text = settings(prompt=name).prompts["facts"].text
    assert re.search(r"in the language of the( person's| assistant's)? messages", text)


@pytest.mark.parametrize(
    ("roles", "agent_id", "subject"),
    [
        (("user", "assistant"), "agent-7", "assistant"),
        (("user",), "agent-7", "user"),
        (("user", "assistant"), None, "user"),
        ((), "agent-7", "user"),
    ],
)
def test_whose_facts_are_looked_for(
    roles: tuple[str, ...], agent_id: str | None, subject: str
) -> None:
    assert subject_of(roles, agent_id) == subject


@pytest.mark.parametrize(("assistant_prompt", "own"), [("facts_assistant", True), (None, False)])
def test_facts_of_an_assistant_have_their_own_prompt(
    assistant_prompt: str | None, own: bool
) -> None:
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
