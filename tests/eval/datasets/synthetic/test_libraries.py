"""What `llm=grammar` answers to the requests of cognee, HippoRAG, langmem, Letta and LightRAG."""

import json

import pytest

from eval.datasets.synthetic.served import UnknownPromptError, reply
from tests.eval.datasets.synthetic.asked import Body, calls, chat, content, message, value

COUSIN = "I heard that Velma Orr's cousin is Dar Sule."
VISIT = "By the way, Nev Lar visited Port Sen the day before yesterday."
CHAT = "My tea got cold while we were talking."
SAID = f"Ada: {COUSIN}\nBo: {CHAT}\nBo: {VISIT}"
SHORT = f"Ada: {COUSIN}\nBo: {CHAT}"


def of_cognee(name: str, is_known: bool = True) -> Body:
    """A request for a value of the schema `name`; the library knows the model, or does not."""
    schema = json.dumps({"title": name, "type": "object"}, indent=2)
    own = {"type": "json_schema", "json_schema": {"name": name}} if is_known else None
    made = chat("Do." if is_known else f"Do.\n```json\n{schema}\n```", SAID)
    return made | {"response_format": own or {"type": "json_object"}}


@pytest.mark.parametrize("is_known", [True, False])
def test_cognee_has_facts_as_edges_in_the_words_of_the_message_and_a_summary(is_known):
    graph = value(of_cognee("KnowledgeGraph", is_known))
    assert [one["id"] for one in graph["nodes"]] == ["Velma Orr", "Dar Sule", "Nev Lar", "Port Sen"]
    assert [tuple(one.values()) for one in graph["edges"]] == [
        ("Velma Orr", "Dar Sule", "has_as_cousin", COUSIN),
        ("Nev Lar", "Port Sen", "visited", VISIT),
    ]
    asked = of_cognee("SummarizedContent", is_known)
    for misses, facts in ((0.0, f"\n- {COUSIN}\n- {VISIT}"), (1.0, "")):
        assert value(asked, misses)["summary"] == f"Facts:{facts}"
    assert value(of_cognee("KnowledgeGraph", is_known), 1.0) == {"nodes": [], "edges": []}


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
        assert value(chat(ENTITIES, SAID), misses) == {"named_entities": found}
    prompt = f'Convert.\nParagraph:\n```\n{SAID}\n```\n\n{{"named_entities": []}}\n'
    assert value(chat(TRIPLES, prompt)) == {
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
    _, _, rest = content(body).partition("[[ ## fact_after_filter ## ]]\n")
    assert json.loads(rest.partition("\n")[0])["fact"] == chosen


def of_letta(*said: Body) -> Body:
    """A request of an agent whose conversation is `said`."""
    body = chat("You are an agent.", tools=("archival_memory_insert", "archival_memory_search"))
    return body | {"messages": [{"role": "system", "content": "You are an agent."}, *said]}


def test_letta_inserts_each_message_with_a_fact_once_and_no_chat():
    said: list[Body] = [{"role": "user", "content": SAID}]
    stored: list[str] = []
    while "tool_calls" in (answer := message(of_letta(*said))):
        (call,) = answer["tool_calls"]
        assert call["id"] not in {one.get("tool_call_id") for one in said}
        stored.append(json.loads(call["function"]["arguments"])["content"])
        said += [answer, {"role": "tool", "tool_call_id": call["id"], "content": "None"}]
    assert stored == [COUSIN, VISIT]
    before = [{"role": "user", "content": f"Ada: {COUSIN}"}, {"role": "assistant", "content": ""}]
    noted = {"role": "assistant", "content": "Noted."}
    earlier = of_letta(*before, {"role": "user", "content": f"Bo: {CHAT}"})
    assert message(earlier) == noted  # earlier exchanges are not read again
    assert message(of_letta(before[0]), 1.0) == noted


ROWS = [
    "entity<|#|>Velma Orr<|#|>person<|#|>Velma Orr's cousin is Dar Sule.",
    "entity<|#|>Dar Sule<|#|>person<|#|>Velma Orr's cousin is Dar Sule.",
    "relation<|#|>Velma Orr<|#|>Dar Sule<|#|>has as cousin<|#|>Velma Orr's cousin is Dar Sule.",
]
SYSTEM = "---Role---\n  - Entity row: `entity<|#|>entity_name<|#|>entity_type`"
FIRST = f"---Task---\nExtract.\n\n---Input Text---\n```\n{SHORT}\n```\n\n---Output---\n"
AGAIN = "---Task---\nBased on the last extraction task, identify what was missed.\n---Output---\n"


def test_lightrag_has_entities_before_relations_and_then_what_was_overlooked():
    assert content(chat(SYSTEM, FIRST)).splitlines() == [*ROWS, "<|COMPLETE|>"]
    assert content(chat(SYSTEM, FIRST, "entity<|#|>...", AGAIN)) == "<|COMPLETE|>"
    found = []
    for name in ("Dar Sule", "Fen Varic", "Ros Nald", "Pia Tosk", "Ul Ton", "Per Vyn"):
        first = FIRST.replace("Dar Sule", name)
        rows = [content(chat(SYSTEM, first, *more), 0.5) for more in ((), ("", AGAIN))]
        found.append(tuple(name in answer for answer in rows))
    assert {(True, False), (False, True)} <= {*found}
    assert (True, True) not in found


def test_lightrag_has_relations_of_a_question_as_themes_and_merges_descriptions():
    prompt = "---Real Data---\nUser Query: {}\n\n---Output---\nOutput:"
    for question, themes, details in (
        ("Who is Velma Orr's cousin?", ["has as cousin"], ["Velma Orr"]),
        ("How are you?", [], ["How are you?"]),
    ):
        assert value(chat(prompt.format(question))) == {
            "high_level_keywords": themes,
            "low_level_keywords": details,
        }
    rows = "\n".join(json.dumps({"Description": one}) for one in ("A.", "B.", "A."))
    prompt = f"Your task is to synthesize a list of descriptions.\nDescription List:\n\n```\n{rows}"
    assert content(chat(f"{prompt}\n```\n\n---Output---\n")) == "A.\nB."


def of_langmem(said: list[str], stored: dict[str, str], choice: str | None = "required") -> Body:
    """A request of langmem with messages of a session, and memories by name."""
    shown = "\n".join(
        f'<instance id={name} schema_type="Memory">\n{ {"content": text} }\n</instance>'
        for name, text in stored.items()
    )
    lines = "\n".join(["==== Human ====", "", *said])
    session = f"Do.\n\n<session_1-a>\n{lines}\n</session_1-a>"
    names = ("Memory", "PatchDoc") if stored else ("Memory",)
    body = chat(f"Do.\n<existing>\n{shown}\n</existing>", session, tools=names)
    return body | ({"tool_choice": choice} if choice else {})


FACT, VISITED = f"Ada: {COUSIN}", f"Bo: {VISIT}"
NEW = ("Memory", {"content": "Velma Orr's cousin is Dar Sule."})


def test_langmem_creates_a_memory_of_what_is_new_and_leaves_a_day_in_its_words():
    visit = ("Memory", {"content": "Nev Lar visited Port Sen the day before yesterday."})
    assert calls(of_langmem([FACT, VISITED, f"Bo: {CHAT}"], {}, None)) == [NEW, visit]
    later = "Bo: Velma Orr's cousin is Fen Varic."  # of two values the later one holds
    assert calls(of_langmem([later, FACT], {})) == [NEW]
    assert calls(of_langmem([FACT, VISITED], {}, None), 1.0) == []


def test_langmem_patches_another_value_into_each_memory_of_the_old_one():
    stored = {
        "m1": "Velma Orr's cousin is Ros Nald.",
        "m2": "Velma Orr's teacher is Ros Nald.",
        "m3": "Velma Orr's cousin is Fen Varic.",
    }
    made = calls(of_langmem([FACT, VISITED], stored))
    names = [(name, given.get("json_doc_id")) for name, given in made]
    assert names == [("PatchDoc", "m1"), ("PatchDoc", "m3"), ("Memory", None)]
    assert made[0][1]["patches"] == [
        {"op": "replace", "path": "/content", "value": "Velma Orr's cousin is Dar Sule."}
    ]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (FACT, "Velma Orr's cousin is Dar Sule."),
        (VISITED, "Nev Lar visited Port Sen the day before yesterday."),
        (f"Bo: {CHAT}", "Velma Orr's cousin is Dar Sule."),
    ],
)
def test_langmem_patches_nothing_where_nothing_is_new_but_a_tool_has_to_be_called(text, stored):
    ((name, given),) = calls(of_langmem([text], {"m1": stored}))
    assert (name, given["json_doc_id"], given["patches"]) == ("PatchDoc", "m1", [])
    assert calls(of_langmem([text], {"m1": stored}, "auto")) == []
    assert calls(of_langmem([f"Bo: {CHAT}"], {})) == []


@pytest.mark.parametrize(
    "body",
    [
        of_cognee("Other"),
        of_cognee("Other", is_known=False),
        chat("Do.", SAID),
        chat(TRIPLES, "no paragraph"),
        chat(FILTER, "no question"),
        chat(),
        chat("Do.", FIRST),
        of_letta({"role": "user", "content": f"Ada: {COUSIN}"}) | {"tools": []},
        of_langmem([FACT], {}) | {"tools": []},
    ],
)
def test_other_requests_are_refused(body):
    with pytest.raises(UnknownPromptError):
        reply(body)
