"""Answers to the prompts of cognee 1.6 during ingestion; its search of passages calls no model.

A prompt asks for a graph or for a summary. It is identified by the name of its JSON schema, which
cognee puts into the prompt if it does not know the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.datasets.synthetic.reading import (
    ANY_DAY,
    entities_of,
    json_message,
    lines_as_messages,
    noticed,
    read,
    stated,
    triple,
)

_GRAPH, _SUMMARY = "KnowledgeGraph", "SummarizedContent"


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    Graph and summary are written by separate calls, which overlook messages independently.
    """
    asked = body.get("response_format", {})
    name = asked.get("json_schema", {}).get("name")
    if asked.get("type") == "json_object":
        schema = str(body["messages"][0]["content"])
        name = next((one for one in (_GRAPH, _SUMMARY) if f'"title": "{one}"' in schema), None)
    text = str(body["messages"][-1]["content"])
    if name == _GRAPH:
        return json_message(_graph(text, misses))
    if name == _SUMMARY:
        return json_message({"summary": "\n".join(_sentences(text, misses)), "description": ""})
    return None


def _graph(text: str, misses: float) -> dict[str, list[dict[str, str]]]:
    kinds: dict[str, str] = {}
    edges = []
    said = lines_as_messages(text, ANY_DAY)
    for message, language, fact in stated(said, "cognee graph", misses):
        source, relation, target = triple(language, fact)
        kinds |= entities_of(fact)
        edges.append(
            {
                "source_node_id": source,
                "target_node_id": target,
                "relationship_name": relation.replace(" ", "_"),
                "description": message.text,
            }
        )
    nodes = [
        {"id": name, "name": name, "type": kind, "description": f"{name}, a {kind}."}
        for name, kind in kinds.items()
    ]
    return {"nodes": nodes, "edges": edges}


def _sentences(text: str, misses: float) -> list[str]:
    said = noticed(lines_as_messages(text, ANY_DAY), "cognee summary", misses)
    return ["Facts:", *(f"- {one.text}" for one in said if any(read(one.text, one.day)))]
