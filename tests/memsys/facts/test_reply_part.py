"""One reply holds the facts and further lists, such as relations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memsys.errors import InputError
from memsys.facts.extract import FactExtractor
from memsys.facts.fact import Event
from memsys.llm.base import LLMError
from memsys.llm.prompt import Prompt
from tests.memsys.facts.models import Planned, fact, facts
from tests.memsys.facts.test_extract import FIRST, settings


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


def test_one_reply_can_have_further_lists_beside_the_facts() -> None:
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


def test_further_lists_are_asked_for_only_if_that_is_set() -> None:
    llm, moods = Noting([facts()]), Moods()
    extractor = FactExtractor(llm, settings(exchange=6), moods)
    (turns,) = extractor.exchanges(FIRST)
    extractor.facts(turns, FIRST.time, [])
    assert (moods.found, list(llm.schemas[0]["properties"])) == ([], ["facts"])
    assert "moods" not in llm.asked["extract"][0]
    assert "same_reply" not in extractor.prompts
    with pytest.raises(InputError, match=r"^strategy.facts.relations: same_reply: no relations"):
        FactExtractor(llm, settings(relations="same_reply"))
