"""What `llm=grammar` answers to cognee's requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval.datasets.synthetic.libraries.cognee import message_of
from eval.datasets.synthetic.served import reply

COUSIN = "I heard that Velma Orr's cousin is Dar Sule."
VISIT = "By the way, Nev Lar visited Port Sen the day before yesterday."
CHAT = "My tea got cold while we were talking."
SAID = f"Ada: {COUSIN}\nBo: {CHAT}\nBo: {VISIT}"


def body(name: str, is_known: bool = True) -> dict[str, Any]:
    """A request for a value of the schema `name`; the library knows the model, or does not."""
    schema = json.dumps({"title": name, "type": "object"}, indent=2)
    own = {"type": "json_schema", "json_schema": {"name": name}} if is_known else None
    return {
        "model": "grammar",
        "messages": [
            {"role": "system", "content": "Do." if is_known else f"Do.\n```json\n{schema}\n```"},
            {"role": "user", "content": SAID},
        ],
        "response_format": own or {"type": "json_object"},
    }


def made(name: str, is_known: bool = True, misses: float = 0.0) -> dict[str, Any]:
    """The value that is returned."""
    message = message_of(body(name, is_known), misses)
    assert message is not None
    value: dict[str, Any] = json.loads(message["content"])
    return value


@pytest.mark.parametrize("is_known", [True, False])
def test_facts_are_edges_between_their_entities_in_the_words_of_the_message(is_known):
    found = made("KnowledgeGraph", is_known)
    assert [one["id"] for one in found["nodes"]] == ["Velma Orr", "Dar Sule", "Nev Lar", "Port Sen"]
    assert [tuple(one.values()) for one in found["edges"]] == [
        ("Velma Orr", "Dar Sule", "has_as_cousin", COUSIN),
        ("Nev Lar", "Port Sen", "visited", VISIT),
    ]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_summary_has_the_facts_without_the_chat(is_known):
    assert made("SummarizedContent", is_known)["summary"] == f"Facts:\n- {COUSIN}\n- {VISIT}"


def test_what_it_overlooks_is_missing():
    assert made("KnowledgeGraph", misses=1.0) == {"nodes": [], "edges": []}
    assert made("SummarizedContent", misses=1.0)["summary"] == "Facts:"


def test_the_server_answers_and_leaves_other_requests_to_others():
    assert "Dar Sule" in reply(body("KnowledgeGraph"))["choices"][0]["message"]["content"]
    assert message_of(body("Other"), 0.0) is None
    assert message_of(body("Other", is_known=False), 0.0) is None
