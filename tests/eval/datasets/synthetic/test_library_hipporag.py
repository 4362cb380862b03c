"""What `llm=grammar` answers to HippoRAG's requests."""

from __future__ import annotations

import json
from typing import Any

from eval.datasets.synthetic.libraries.hipporag import message_of
from eval.datasets.synthetic.served import reply

PASSAGE = """Ada: I heard that Velma Orr's cousin is Dar Sule.
Bo: Nev Lar visited Port Sen the day before yesterday."""
ENTITIES = "Your task is to extract named entities from the given paragraph. \n"
TRIPLES = "Your task is to construct an RDF (Resource Description Framework) graph from the given."
FILTER = "Your input fields are:\n1. `question` (str): Query for retrieval"
FACTS = [
    ["velma orr", "has as cousin", "dar sule"],
    ["dar sule", "works at", "tor mill"],
    ["dar sule", "has as cousin", "nev lar"],
    ["nev lar", "visited", "port sen"],
    ["nev lar", "visited", "port tos"],
]


def body(system: str, last: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": last}]
    return {"model": "grammar", "messages": messages}


def said(system: str, last: str, misses: float = 0.0) -> str:
    message = message_of(body(system, last), misses)
    assert message is not None
    return str(message["content"])


def chosen(question: str) -> Any:
    facts = json.dumps({"fact": FACTS})
    asked = f"[[ ## question ## ]]\n{question}\n\n[[ ## fact_before_filter ## ]]\n{facts}"
    answer = said(FILTER, f"{asked}\n\nRespond with the corresponding output fields.")
    _, _, rest = answer.partition("[[ ## fact_after_filter ## ]]\n")
    return json.loads(rest.partition("\n")[0])["fact"]


def test_the_ends_of_facts_are_entities_and_overlooked_ones_are_none():
    assert json.loads(said(ENTITIES, PASSAGE)) == {
        "named_entities": ["Velma Orr", "Dar Sule", "Nev Lar", "Port Sen"]
    }
    assert json.loads(said(ENTITIES, PASSAGE, 1.0)) == {"named_entities": []}


def test_a_fact_is_a_triple():
    prompt = f'Convert.\nParagraph:\n```\n{PASSAGE}\n```\n\n{{"named_entities": []}}\n'
    assert json.loads(said(TRIPLES, prompt)) == {
        "triples": [["Velma Orr", "has as cousin", "Dar Sule"], ["Nev Lar", "visited", "Port Sen"]]
    }


def test_a_question_needs_the_facts_of_its_chain():
    assert chosen("Who is Velma Orr's cousin?") == FACTS[:1]
    assert chosen("What is the workplace of Velma Orr's cousin?") == FACTS[:2]
    assert chosen("When did Nev Lar visit Port Tos?") == FACTS[4:]
    assert chosen("How are you?") == []


def test_the_server_answers_and_leaves_other_requests_to_others():
    assert "Port Sen" in reply(body(ENTITIES, PASSAGE))["choices"][0]["message"]["content"]
    for system, last in (("Do.", PASSAGE), (TRIPLES, "no paragraph"), (FILTER, "no question")):
        assert message_of(body(system, last), 0.0) is None
    assert message_of({"model": "grammar", "messages": []}, 0.0) is None
