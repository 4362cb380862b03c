"""What a scripted model answers to each of the real libraries about TALK."""

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from tests.memsys.llm import faults
from tests.memsys.llm.faults import calls
from tests.memsys.llm.server import Behaviour

THINGS = ("badminton", "pizza", "burgers")


def cognee(body: dict[str, Any]) -> Behaviour:
    """Ada and each thing that a message names; a fact is the message."""
    if body["response_format"]["json_schema"]["name"] == "SummarizedContent":
        return faults.says(json.dumps({"summary": "What Ada likes.", "description": ""}))
    messages = re.findall(r"(Ada: .+)\.", body["messages"][-1]["content"])
    named = [(thing, line) for line in messages for thing in THINGS if thing in line]
    nodes = [{"id": one, "name": one, "type": "Thing", "description": one} for one, _ in named]
    edges = [
        {"source_node_id": "ada", "target_node_id": thing, "relationship_name": f"says_{i}"}
        | {"description": line}
        for i, (thing, line) in enumerate(named)
    ]
    ada = {"id": "ada", "name": "Ada", "type": "Person", "description": "Ada"}
    return faults.says(json.dumps({"nodes": [ada, *nodes], "edges": edges}))


def section(text: str, name: str) -> str:
    return text.partition(f"<{name}>")[2].partition(f"</{name}>")[0]


def graphiti(body: dict[str, Any]) -> Behaviour:
    """Ada and each thing that a message names; a fact is the message; "not" contradicts."""
    form = body["response_format"]["json_schema"]["name"]
    text = body["messages"][-1]["content"]
    message = section(text, "CURRENT MESSAGE") or section(text, "CURRENT_MESSAGE")
    lines = re.findall(r"Ada: ([^\"\n]+)\.", message)
    named = [(thing, line) for line in lines for thing in THINGS if thing in line]
    answers: dict[str, Any] = {
        "ExtractedEntities": {
            "extracted_entities": [
                {"name": name, "entity_type_id": 0} for name in ("Ada", *(t for t, _ in named))
            ]
        },
        "ExtractedEdges": {
            "edges": [
                {"source_entity_name": "Ada", "target_entity_name": thing}
                | {"relation_type": f"SAYS_{i}", "fact": f"Ada: {line}"}
                for i, (thing, line) in enumerate(named)
            ]
        },
        "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": contradicted(text)},
        "NodeResolutions": {"entity_resolutions": []},
        "SummarizedEntities": {"summaries": []},
        "EdgeTimestamps": {"valid_at": reference(text), "invalid_at": None},
        "BatchEdgeTimestamps": {"timestamps": []},
    }
    return faults.says(json.dumps(answers[form]))


def reference(text: str) -> str | None:
    time = section(text, "REFERENCE TIME") or section(text, "REFERENCE_TIME")
    match = re.search(r"(20\d\d-\d\d-\d\d)[T ]", time)
    return f"{match[1]}T00:00:00Z" if match else None


def contradicted(text: str) -> list[int]:
    if "not like badminton" not in section(text, "NEW FACT"):
        return []
    known = section(text, "EXISTING FACTS") + section(text, "FACT INVALIDATION CANDIDATES")
    return [int(i) for i in re.findall(r"idx\W+(\d+)[^}]*?I like badminton", known)]


def hipporag(body: dict[str, Any]) -> Behaviour:
    """Each message relates Ada to a thing; a question needs the fact about pizza."""
    system, last = (body["messages"][i]["content"] for i in (0, -1))
    if system.startswith("Your input fields"):
        before = last.partition("fact_before_filter ## ]]\n")[2].partition("\n")[0]
        facts = [fact for fact in json.loads(before)["fact"] if "pizza" in fact]
        chosen = json.dumps({"fact": facts})
        return faults.says(f"[[ ## fact_after_filter ## ]]\n{chosen}\n\n[[ ## completed ## ]]")
    things = re.findall(r"badminton|pizza|burgers", last)
    if "RDF" in system:
        return faults.says(json.dumps({"triples": [["Ada", "likes", one] for one in things[:1]]}))
    return faults.says(json.dumps({"named_entities": ["Ada", *things]}))


def langmem(body: dict[str, Any]) -> Behaviour:
    """Every message is a memory; the changed mind is patched into the memory that it is about."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    old = re.search(r"<instance id=(\w+)[^>]*>\n[^\n]*I like badminton", text)
    made: list[tuple[str, dict[str, Any]]] = []
    for message in re.findall(r"(Ada: .+)\.", text.rpartition("<session_")[2]):
        if "not like" in message and old:
            patch = {"op": "replace", "path": "/content", "value": message}
            given = {"json_doc_id": old[1], "planned_edits": "so it is", "patches": [patch]}
            made.append(("PatchDoc", given))
        else:
            made.append(("Memory", {"content": message}))
    return calls(*made)


def letta(body: dict[str, Any]) -> Behaviour:
    """Insert the sentences of the last message, one per step, then reply."""
    messages = body["messages"]
    last = max(i for i, one in enumerate(messages) if one["role"] == "user")
    sentences = re.findall(r"Ada: [^\n]+\.", messages[last]["content"])
    done = sum(bool(one.get("tool_calls")) for one in messages[last:])
    if done == len(sentences):
        return faults.says("Noted.")
    insert = ("archival_memory_insert", {"content": sentences[done]})
    return calls(insert, prefix=f"{len(messages)}_")  # the library merges equal ids


def lightrag(body: dict[str, Any]) -> Behaviour:
    """Ada and the last word of each message; their relation is described by the message."""
    prompt = body["messages"][-1]["content"]
    if "keyword extractor" in prompt:
        return faults.says('{"high_level_keywords": ["tastes"], "low_level_keywords": ["Ada"]}')
    match = re.search(r"```\nAda: (.+?) (\w+)( any more)?\.\n```", prompt)
    if match is None:  # whether something was missed
        return faults.says("<|COMPLETE|>")
    row = f"Ada: {match[1]} {match[2]}{match[3] or ''}"
    rows = [("entity", "Ada", "person", row), ("entity", match[2], "thing", row)]
    rows += [("relation", "Ada", match[2], "taste", row)]
    return faults.says("\n".join([*("<|#|>".join(one) for one in rows), "<|COMPLETE|>"]))


def mem0ai(body: dict[str, Any]) -> Behaviour:
    """Every new message is a fact in its own words."""
    new = body["messages"][-1]["content"].partition("## New Messages")[2].partition("\n## ")[0]
    messages = re.findall(r"(Ada: [^\"\n]+\.)", new)
    rows = [{"id": str(i), "text": one, "attributed_to": "user"} for i, one in enumerate(messages)]
    return faults.says(json.dumps({"memory": rows}))


def mem0ai_graph(body: dict[str, Any]) -> Behaviour:
    """Every message is a fact; Ada is bound to what she names; "not" ends both kinds of memory."""
    text = body["messages"][-1]["content"]
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    messages = re.findall(r"Ada: ([^\"'\n]+)\.", text.rpartition("New Information:")[2])
    if "establish_relationships" in tools and text.endswith("love pizza"):
        messages = ["I love pizza"]  # a memory that is deleted, a fact without a full stop
    named = [(thing, line) for line in messages for thing in THINGS if thing in line]
    if "extract_entities" in tools:
        names = ["Ada", *(thing for thing in THINGS if thing in text)]
        rows = [{"entity": name, "entity_type": "thing"} for name in names]
        return calls(("extract_entities", {"entities": rows}))
    if "establish_relationships" in tools:
        rows = [
            {"source": "ada", "relationship": "says", "destination": thing}
            for thing, line in named
            if "not" not in line
        ]
        return calls(("establish_relationships", {"entities": rows}))
    if "delete_graph_memory" in tools:
        old = {"source": "ada", "relationship": "says", "destination": "badminton"}
        gone = any("not like" in line for line in messages)
        return calls(("delete_graph_memory", old)) if gone else faults.says("Nothing to delete.")
    if len(body["messages"]) == 2:
        return faults.says(json.dumps({"facts": [f"Ada: {line}" for line in messages]}))
    return faults.says(json.dumps({"memory": changes(text)}))


def changes(text: str) -> list[dict[str, str]]:
    """ADD each fact; one that is not so any more takes the place of the old."""
    lists = re.findall(r"```\s*(\[.*?\])\s*```", text, re.DOTALL)
    new, old = lists[-1], lists[-2] if "Current memory is empty" not in text else "[]"
    known = {row["text"]: row["id"] for row in ast.literal_eval(old)}
    rows = []
    for fact in ast.literal_eval(new):
        before = "Ada: I like badminton"
        if "not like" in fact and before in known:
            row = {"id": known[before], "event": "UPDATE", "old_memory": before}
        else:
            row = {"id": "new", "event": "ADD"}
        rows.append({"text": fact, **row})
    return rows


SCRIPTS = (cognee, graphiti, hipporag, langmem, letta, lightrag, mem0ai, mem0ai_graph)
MODELS: dict[str, Callable[[dict[str, Any]], Behaviour]] = {one.__name__: one for one in SCRIPTS}
