"""Answers to the prompts of libraries that make a graph of passages. Most prompts have no time, so
relative days remain as stated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from eval.datasets.synthetic.languages import VISIT, parse_question
from eval.datasets.synthetic.reading import (
    ANY_DAY,
    contents_of,
    entities_of,
    json_message,
    lines_as_messages,
    noticed,
    read,
    stated,
    text_message,
    triple,
)

_GRAPH_SCHEMA, _SUMMARY_SCHEMA = "KnowledgeGraph", "SummarizedContent"


def cognee(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of cognee 1.6 for a graph or a summary, else None.

    Each is written by a call of its own and overlooks messages independently. It is identified by
    the name of its JSON schema, which is part of the prompt if cognee does not know the model.
    """
    asked = body.get("response_format", {})
    name = asked.get("json_schema", {}).get("name")
    if asked.get("type") == "json_object":
        schema = str(body["messages"][0]["content"])
        name = next(
            (one for one in (_GRAPH_SCHEMA, _SUMMARY_SCHEMA) if f'"title": "{one}"' in schema), None
        )
    text = str(body["messages"][-1]["content"])
    if name == _GRAPH_SCHEMA:
        return json_message(_graph(text, misses))
    if name == _SUMMARY_SCHEMA:
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


_ENTITIES: Final = "Your task is to extract named entities from the given paragraph."
_TRIPLES: Final = "Your task is to construct an RDF (Resource Description Framework) graph"
_FILTER: Final = "Your input fields are:\n1. `question` (str)"
_PARAGRAPH: Final = re.compile(r"Paragraph:\n```\n(.*?)\n```", re.DOTALL)
_CANDIDATES: Final = re.compile(
    r"\[\[ ## question ## \]\]\n(.*?)\n\n\[\[ ## fact_before_filter ## \]\]\n(.*?)\n\nRespond",
    re.DOTALL,
)
_MOST_FACTS: Final = 4  # as the prompt demands


def hipporag(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of hipporag 2.0.0a4, else None: the named entities of a
    passage, its triples, or the facts that a question needs.

    Entities and triples are asked for by separate calls, which overlook messages independently.
    """
    contents = contents_of(body)
    if contents[0].startswith(_ENTITIES):
        said = lines_as_messages(contents[-1], ANY_DAY)
        facts = stated(said, "hipporag entities", misses)
        names = dict.fromkeys(name for _, _, fact in facts for name in entities_of(fact))
        return json_message({"named_entities": list(names)})
    if contents[0].startswith(_TRIPLES) and (found := _PARAGRAPH.search(contents[-1])):
        facts = stated(lines_as_messages(found[1], ANY_DAY), "hipporag triples", misses)
        return json_message({"triples": [triple(language, fact) for _, language, fact in facts]})
    if contents[0].startswith(_FILTER) and (found := _CANDIDATES.search(contents[-1])):
        chosen = _relevant(found[1], json.loads(found[2])["fact"])
        fields = f"[[ ## fact_after_filter ## ]]\n{json.dumps({'fact': chosen})}\n\n"
        return text_message(f"{fields}[[ ## completed ## ]]")
    return None


def _relevant(question: str, candidates: list[list[str]]) -> list[list[str]]:
    """Return the candidates about the subject of a generated question and, from there on, about
    the value of each relation that it names. The library writes facts in lower case.
    """
    if (parsed := parse_question(question)) is None:
        return []
    language, (subject, chain, _) = parsed
    subjects, chosen = {subject.lower()}, list[list[str]]()
    for relation in chain:
        visited = relation.startswith(VISIT)
        name = "visited" if visited else language.names[relation]
        found = [one for one in candidates if one[0] in subjects and one[1] == name]
        chosen += [one for one in found if not visited or one[2] == relation[len(VISIT) :].lower()]
        subjects = {one[2] for one in found}
    return chosen[:_MOST_FACTS]


_INPUT: Final = re.compile(r"---Input Text---\n```\n(.*?)\n```\n\n---Output---", re.DOTALL)
_AGAIN: Final = "---Task---\nBased on the last extraction task"
_DESCRIPTIONS: Final = re.compile(
    r"Description List:\n\n```\n(.*?)\n```\n\n---Output---", re.DOTALL
)
_QUERY: Final = re.compile(r"---Real Data---\nUser Query: (.*?)\n\n---Output---", re.DOTALL)
_END: Final = "<|COMPLETE|>"


def lightrag(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of LightRAG 1.5.7, else None: entities and relations of a
    passage, what the first answer missed, a merged description, or the keywords of a question.

    What the first answer overlooked is added by the second, which overlooks independently.
    """
    contents = contents_of(body)
    last = contents[-1]
    if query := _QUERY.search(last):
        return json_message(_keywords(query[1]))
    if (described := _DESCRIPTIONS.search(last)) and "synthesize a list of descriptions" in last:
        return text_message(_merged(described[1]))
    passage = next((found for one in contents if (found := _INPUT.search(one))), None)
    if passage is None or "entity<|#|>" not in contents[0]:
        return None
    rows = _rows(passage[1], "lightrag", misses)
    if last.startswith(_AGAIN):
        rows = [row for row in _rows(passage[1], "lightrag again", misses) if row not in rows]
    return text_message("\n".join([*rows, _END]))


def _rows(passage: str, step: str, misses: float) -> list[str]:
    """Return the rows of entities, then those of relations, each once."""
    entities, relations = dict[str, None](), dict[str, None]()
    for message, language, fact in stated(lines_as_messages(passage, ANY_DAY), step, misses):
        source, name, target = triple(language, fact)
        said = language.restate(fact) if not fact.relation.startswith(VISIT) else message.text
        for entity, kind in entities_of(fact).items():
            entities["<|#|>".join(("entity", entity, kind, said))] = None
        relations["<|#|>".join(("relation", source, target, name, said))] = None
    return [*entities, *relations]


def _merged(descriptions: str) -> str:
    """Return all descriptions, each once: nothing is left out, as the prompt demands."""
    rows = (json.loads(line)["Description"] for line in descriptions.splitlines())
    return "\n".join(dict.fromkeys(rows))


def _keywords(question: str) -> dict[str, list[str]]:
    """Return the relations of a generated question as themes and its subject as a detail."""
    if (parsed := parse_question(question)) is None:
        return {"high_level_keywords": [], "low_level_keywords": [question]}
    language, (subject, chain, _) = parsed
    themes = [language.names.get(relation, relation) for relation in chain]
    return {"high_level_keywords": themes, "low_level_keywords": [subject]}
