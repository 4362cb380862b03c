"""What `llm=grammar` answers to the requests of cognee, HippoRAG, Letta and LightRAG."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from eval.datasets.synthetic.libraries.graphs import cognee, hipporag, lightrag
from eval.datasets.synthetic.libraries.tools import letta
from eval.datasets.synthetic.reading import Request
from eval.datasets.synthetic.served import reply

COUSIN = "I heard that Velma Orr's cousin is Dar Sule."
VISIT = "By the way, Nev Lar visited Port Sen the day before yesterday."
CHAT = "My tea got cold while we were talking."
SAID = f"Ada: {COUSIN}\nBo: {CHAT}\nBo: {VISIT}"
SHORT = f"Ada: {COUSIN}\nBo: {CHAT}"
Body = dict[str, Any]


def chat(*contents: str) -> Body:
    """A request of these contents: one of a user, or after a system message."""
    roles = ("system", "user", "assistant", "user") if len(contents) > 1 else ("user",)
    pairs = zip(roles, contents, strict=False)
    return {"model": "grammar", "messages": [{"role": r, "content": c} for r, c in pairs]}


def content(message: Body | None) -> str:
    assert message is not None
    return str(message["content"])


def of_cognee(name: str, is_known: bool = True) -> Body:
    """A request for a value of the schema `name`; the library knows the model, or does not."""
    schema = json.dumps({"title": name, "type": "object"}, indent=2)
    own = {"type": "json_schema", "json_schema": {"name": name}} if is_known else None
    made = chat("Do." if is_known else f"Do.\n```json\n{schema}\n```", SAID)
    return made | {"response_format": own or {"type": "json_object"}}


@pytest.mark.parametrize("is_known", [True, False])
def test_cognee_has_facts_as_edges_in_the_words_of_the_message_and_a_summary(is_known):
    graph = json.loads(content(cognee(Request(of_cognee("KnowledgeGraph", is_known)))))
    assert [one["id"] for one in graph["nodes"]] == ["Velma Orr", "Dar Sule", "Nev Lar", "Port Sen"]
    assert [tuple(one.values()) for one in graph["edges"]] == [
        ("Velma Orr", "Dar Sule", "has_as_cousin", COUSIN),
        ("Nev Lar", "Port Sen", "visited", VISIT),
    ]
    asked = of_cognee("SummarizedContent", is_known)
    for misses, facts in ((0.0, f"\n- {COUSIN}\n- {VISIT}"), (1.0, "")):
        summary = json.loads(content(cognee(Request(asked, misses))))["summary"]
        assert summary == f"Facts:{facts}"
    graph = json.loads(content(cognee(Request(of_cognee("KnowledgeGraph", is_known), 1.0))))
    assert graph == {"nodes": [], "edges": []}


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


def test_hipporag_has_the_ends_of_facts_as_entities_and_facts_as_triples():
    for misses, found in ((0.0, ["Velma Orr", "Dar Sule", "Nev Lar", "Port Sen"]), (1.0, [])):
        answer = content(hipporag(Request(chat(ENTITIES, SAID), misses)))
        assert json.loads(answer) == {"named_entities": found}
    prompt = f'Convert.\nParagraph:\n```\n{SAID}\n```\n\n{{"named_entities": []}}\n'
    assert json.loads(content(hipporag(Request(chat(TRIPLES, prompt))))) == {
        "triples": [["Velma Orr", "has as cousin", "Dar Sule"], ["Nev Lar", "visited", "Port Sen"]]
    }


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("Who is Velma Orr's cousin?", FACTS[:1]),
        ("What is the workplace of Velma Orr's cousin?", FACTS[:2]),
        ("When did Nev Lar visit Port Tos?", FACTS[4:]),
        ("How are you?", []),
    ],
)
def test_hipporag_needs_for_a_question_the_facts_of_its_chain(question, chosen):
    facts = json.dumps({"fact": FACTS})
    asked = f"[[ ## question ## ]]\n{question}\n\n[[ ## fact_before_filter ## ]]\n{facts}"
    body = chat(FILTER, f"{asked}\n\nRespond with the corresponding output fields.")
    _, _, rest = content(hipporag(Request(body))).partition("[[ ## fact_after_filter ## ]]\n")
    assert json.loads(rest.partition("\n")[0])["fact"] == chosen


def of_letta(*said: Body) -> Body:
    """A request of an agent whose conversation is `said`."""
    names = ("archival_memory_insert", "archival_memory_search")
    return {
        "model": "grammar",
        "messages": [{"role": "system", "content": "You are an agent."}, *said],
        "tools": [{"type": "function", "function": {"name": name}} for name in names],
    }


def test_letta_inserts_each_message_with_a_fact_once_and_no_chat():
    said: list[Body] = [{"role": "user", "content": SAID}]
    stored: list[str] = []
    while "tool_calls" in (message := letta(Request(of_letta(*said))) or {}):
        (call,) = message["tool_calls"]
        assert call["id"] not in {one.get("tool_call_id") for one in said}
        stored.append(json.loads(call["function"]["arguments"])["content"])
        said += [message, {"role": "tool", "tool_call_id": call["id"], "content": "None"}]
    assert stored == [COUSIN, VISIT]
    before = [{"role": "user", "content": f"Ada: {COUSIN}"}, {"role": "assistant", "content": ""}]
    noted = {"role": "assistant", "content": "Noted."}
    earlier = of_letta(*before, {"role": "user", "content": f"Bo: {CHAT}"})
    assert letta(Request(earlier)) == noted  # earlier exchanges are not read again
    assert letta(Request(of_letta(before[0]), 1.0)) == noted


ROWS = [
    "entity<|#|>Velma Orr<|#|>person<|#|>Velma Orr's cousin is Dar Sule.",
    "entity<|#|>Dar Sule<|#|>person<|#|>Velma Orr's cousin is Dar Sule.",
    "relation<|#|>Velma Orr<|#|>Dar Sule<|#|>has as cousin<|#|>Velma Orr's cousin is Dar Sule.",
]
SYSTEM = "---Role---\n  - Entity row: `entity<|#|>entity_name<|#|>entity_type`"
FIRST = f"---Task---\nExtract.\n\n---Input Text---\n```\n{SHORT}\n```\n\n---Output---\n"
AGAIN = "---Task---\nBased on the last extraction task, identify what was missed.\n---Output---\n"


def from_lightrag(*contents: str, misses: float = 0.0) -> str:
    return content(lightrag(Request(chat(*contents), misses)))


def test_lightrag_has_entities_before_relations_and_then_what_was_overlooked():
    assert from_lightrag(SYSTEM, FIRST).splitlines() == [*ROWS, "<|COMPLETE|>"]
    assert from_lightrag(SYSTEM, FIRST, "entity<|#|>...", AGAIN) == "<|COMPLETE|>"
    found = []
    for name in ("Dar Sule", "Fen Varic", "Ros Nald", "Pia Tosk", "Ul Ton", "Per Vyn"):
        first = FIRST.replace("Dar Sule", name)
        rows = [from_lightrag(SYSTEM, first, *more, misses=0.5) for more in ((), ("", AGAIN))]
        found.append(tuple(name in answer for answer in rows))
    assert {(True, False), (False, True)} <= {*found}
    assert (True, True) not in found


def test_lightrag_has_relations_of_a_question_as_themes_and_merges_descriptions():
    prompt = "---Real Data---\nUser Query: {}\n\n---Output---\nOutput:"
    for question, themes, details in (
        ("Who is Velma Orr's cousin?", ["has as cousin"], ["Velma Orr"]),
        ("How are you?", [], ["How are you?"]),
    ):
        asked = json.loads(from_lightrag(prompt.format(question)))
        assert asked == {"high_level_keywords": themes, "low_level_keywords": details}
    rows = "\n".join(json.dumps({"Description": one}) for one in ("A.", "B.", "A."))
    prompt = f"Your task is to synthesize a list of descriptions.\nDescription List:\n\n```\n{rows}"
    assert from_lightrag(f"{prompt}\n```\n\n---Output---\n") == "A.\nB."


@pytest.mark.parametrize(
    ("message_of", "own", "others"),
    [
        (
            cognee,
            of_cognee("KnowledgeGraph"),
            [of_cognee("Other"), of_cognee("Other", is_known=False)],
        ),
        (
            hipporag,
            chat(ENTITIES, SAID),
            [chat("Do.", SAID), chat(TRIPLES, "no paragraph"), chat(FILTER, "no question"), chat()],
        ),
        (
            letta,
            of_letta({"role": "user", "content": f"Ada: {COUSIN}"}),
            [of_letta({"role": "user", "content": f"Ada: {COUSIN}"}) | {"tools": []}],
        ),
        (lightrag, chat(SYSTEM, FIRST), [chat(), chat("Do."), chat("Do.", FIRST)]),
    ],
    ids=["cognee", "hipporag", "letta", "lightrag"],
)
def test_the_server_answers_and_leaves_other_requests_to_others(
    message_of: Callable[[Request], Body | None], own: Body, others: list[Body]
):
    assert "Dar Sule" in json.dumps(reply(own)["choices"][0]["message"])
    assert [message_of(Request(one)) for one in others] == [None] * len(others)
