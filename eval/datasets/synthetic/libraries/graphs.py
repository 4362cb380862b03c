"""Answers to the prompts of libraries that make a graph. Most prompts have no time, so relative
days remain as stated.
"""

import json
import re
from ast import literal_eval
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time
from typing import Any, Final

from eval.datasets.synthetic.languages import parse_question, place_of
from eval.datasets.synthetic.reading import (
    PROMPTS,
    Message,
    MissingPartError,
    Request,
    entities_of,
    json_message,
    part,
    read,
    text_message,
    values_in,
)


def cognee(asked: Request) -> Message | None:
    """Return the answer to a request of cognee 1.6 for a graph or a summary, else None.

    Each is written by a call of its own and overlooks messages independently. It is identified by
    the name of its JSON schema, which is part of the prompt if cognee does not know the model.
    """
    name, text = asked.schema.get("name"), asked.contents[-1]
    if asked.body.get("response_format", {}).get("type") == "json_object":
        titled = re.search(PROMPTS["cognee"]["title"], asked.contents[0])
        name = titled and titled[1]
    if name == "KnowledgeGraph":
        return json_message(_graph(asked, text))
    if name == "SummarizedContent":
        messages = asked.noticed(text, "cognee summary")
        facts = [
            f"- {message.text}" for message in messages if any(read(message.text, message.day))
        ]
        return json_message({"summary": "\n".join(["Facts:", *facts]), "description": ""})
    return None


def _graph(asked: Request, text: str) -> dict[str, list[dict[str, str]]]:
    kinds: dict[str, str] = {}
    edges = []
    for message, stated in asked.stated(text, "cognee graph"):
        source, relation, target = stated.triple
        kinds |= entities_of(stated.fact)
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


_HIPPORAG: Final = {name: re.compile(pattern) for name, pattern in PROMPTS["hipporag"].items()}
_MOST_FACTS: Final = 4  # as the prompt demands


def hipporag(asked: Request) -> Message | None:
    """Return the answer to a request of hipporag 2.0.0a4, else None: the named entities of a
    passage, its triples, or the facts that a question needs.

    Entities and triples are asked for by separate calls, which overlook messages independently.
    """
    first, last = asked.contents[0], asked.contents[-1]
    if _HIPPORAG["entities"].match(first):
        facts = asked.stated(last, "hipporag entities")
        names = dict.fromkeys(name for _, stated in facts for name in entities_of(stated.fact))
        return json_message({"named_entities": list(names)})
    if _HIPPORAG["triples"].match(first) and (match := _HIPPORAG["paragraph"].search(last)):
        facts = asked.stated(match[1], "hipporag triples")
        return json_message({"triples": [stated.triple for _, stated in facts]})
    if _HIPPORAG["filter"].match(first) and (match := _HIPPORAG["candidates"].search(last)):
        needed = {"fact": _relevant(match[1], json.loads(match[2])["fact"])}
        fields = f"[[ ## fact_after_filter ## ]]\n{json.dumps(needed)}\n\n"
        return text_message(f"{fields}[[ ## completed ## ]]")
    return None


def _relevant(question: str, candidates: list[list[str]]) -> list[list[str]]:
    """Return the candidates about the subject of a generated question and, from there on, about
    the value of each relation that it names. The library writes facts in lower case.
    """
    if (parsed := parse_question(question)) is None:
        return []
    language, (subject, chain, _) = parsed
    if (place := place_of(chain[0])) is not None:
        return [row for row in candidates if row == [subject.lower(), "visited", place.lower()]]
    subjects, needed = {subject.lower()}, list[list[str]]()
    for relation in chain:
        name = language.names[relation]
        rows = [row for row in candidates if row[0] in subjects and row[1] == name]
        needed += rows
        subjects = {row[2] for row in rows}
    return needed[:_MOST_FACTS]


_LIGHTRAG: Final = {name: re.compile(pattern) for name, pattern in PROMPTS["lightrag"].items()}


def lightrag(asked: Request) -> Message | None:
    """Return the answer to a request of LightRAG 1.5.7, else None: entities and relations of a
    passage, what the first answer missed, a merged description, or the keywords of a question.

    What the first answer overlooked is added by the second, which overlooks independently.
    """
    last = asked.contents[-1]
    if query := _LIGHTRAG["query"].search(last):
        # The relations of a generated question are themes, and its subject is a detail.
        themes, details = list[str](), [query[1]]
        if (parsed := parse_question(query[1])) is not None:
            language, (subject, chain, _) = parsed
            themes, details = [language.names.get(link, link) for link in chain], [subject]
        return json_message({"high_level_keywords": themes, "low_level_keywords": details})
    described = _LIGHTRAG["descriptions"].search(last)
    if described:  # nothing is left out, as the prompt demands
        texts = (json.loads(line)["Description"] for line in described[1].splitlines())
        return text_message("\n".join(dict.fromkeys(texts)))
    passages = map(_LIGHTRAG["input"].search, asked.contents)
    passage = next(filter(None, passages), None)
    if passage is None or "entity<|#|>" not in asked.contents[0]:
        return None
    rows = _rows(asked, passage[1], "lightrag")
    if _LIGHTRAG["again"].match(last):
        rows = [row for row in _rows(asked, passage[1], "lightrag again") if row not in rows]
    return text_message("\n".join([*rows, "<|COMPLETE|>"]))


def _rows(asked: Request, passage: str, step: str) -> list[str]:
    """Return the rows of entities, then those of relations, each once."""
    entities, relations = dict[str, None](), dict[str, None]()
    for message, stated in asked.stated(passage, step):
        source, name, target = stated.triple
        text = message.text if stated.fact.place else stated.sentence
        for entity, kind in entities_of(stated.fact).items():
            entities["<|#|>".join(("entity", entity, kind, text))] = None
        relations["<|#|>".join(("relation", source, target, name, text))] = None
    return [*entities, *relations]


Rows = list[dict[str, Any]]
_MOST_CHARACTERS: Final = 1000  # of a summary, as the prompt of graphiti demands


def graphiti(asked: Request) -> Message | None:
    """Return the answer to a request of graphiti-core 0.31.1 during ingestion, else None; its
    search calls no model. The name of its JSON schema identifies each prompt: entities, resolution
    of known entities, facts as dated edges, duplicate and contradicted facts, and summaries.

    Entities and facts are overlooked independently; a fact with an overlooked entity is dropped, as
    edges may name listed entities only.
    """
    answer = _GRAPHITI.get(asked.schema.get("name", ""))
    try:
        return json_message(answer(asked, asked.contents[-1])) if answer else None
    except (MissingPartError, KeyError, ValueError, SyntaxError):
        return None  # another program's schema of that name


def _graphiti_entities(asked: Request, prompt: str) -> dict[str, Rows]:
    """Return each message's speaker, as the prompt demands, then the entities of its facts."""
    names: dict[str, None] = {}
    for message in asked.noticed(part(prompt, "CURRENT MESSAGE"), "graphiti entities"):
        names[message.speaker] = None
        for stated in read(message.text, message.day):
            names |= dict.fromkeys(entities_of(stated.fact))
    return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}


def _graphiti_resolutions(_: Request, prompt: str) -> dict[str, Rows]:
    ids = {row["name"]: row["candidate_id"] for row in _graphiti_rows(prompt, "EXISTING ENTITIES")}
    return {
        "entity_resolutions": [
            {"id": row["id"], "name": row["name"]}
            | {"duplicate_candidate_id": ids.get(row["name"], -1)}
            for row in _graphiti_rows(prompt, "ENTITIES")
        ]
    }


def _graphiti_edges(asked: Request, prompt: str) -> dict[str, Rows]:
    """Return edges: a fact is valid from the day it is stated, a visit from its day."""
    of_message = datetime.fromisoformat(part(prompt, "REFERENCE_TIME").partition(" #")[0].strip())
    entities = {row["name"] for row in _graphiti_rows(prompt, "ENTITIES")}
    rows = []
    message = part(prompt, "CURRENT_MESSAGE")
    for _, stated in asked.stated(message, "graphiti edges", of_message.date()):
        source, name, target = stated.triple
        if not {source, target} <= entities:
            continue
        visited = stated.language.parse(stated.fact.value) if stated.fact.place else None
        since = datetime.combine(visited, time(), UTC) if visited else of_message
        rows.append(
            {
                "source_entity_name": source,
                "target_entity_name": target,
                "relation_type": name.upper().replace(" ", "_"),
                "fact": stated.sentence,
                "valid_at": since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
                "invalid_at": None,
            }
        )
    return {"edges": rows}


def _compared(_: Request, prompt: str) -> dict[str, list[int]]:
    """Return duplicates (equal facts) and contradictions (another value, except of visits)."""
    new = values_in([part(prompt, "NEW FACT")])
    duplicates, contradicted = list[int](), list[int]()
    for name in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES"):
        for row in literal_eval(part(prompt, name)):  # a Python literal, not JSON
            for old in (stated.fact for stated in read(row["fact"])):
                value = new.get(old.key)
                if value == old.value and name == "EXISTING FACTS":
                    duplicates.append(row["idx"])
                elif value not in (None, old.value) and not old.place:
                    contradicted.append(row["idx"])
    return {"duplicate_facts": duplicates, "contradicted_facts": contradicted}


def _summaries(_: Request, prompt: str) -> dict[str, Rows]:
    """Return summaries: the library's lines, without the oldest if they are too long.

    The library itself adds a line per fact; it asks about entities without facts (the speakers) and
    about summaries that are too long.
    """
    rows = []
    for row in _graphiti_rows(prompt, "ENTITIES"):
        lines = row["summary"].splitlines()
        while len("\n".join(lines)) > _MOST_CHARACTERS:
            del lines[0]
        summary = "\n".join(lines) or f"{row['name']} is part of a talk of people, firms and towns."
        rows.append({"name": row["name"], "summary": summary})
    return {"summaries": rows}


_GRAPHITI: Final[Mapping[str, Callable[[Request, str], Mapping[str, Any]]]] = {
    "ExtractedEntities": _graphiti_entities,
    "NodeResolutions": _graphiti_resolutions,
    "ExtractedEdges": _graphiti_edges,
    "EdgeDuplicate": _compared,
    "SummarizedEntities": _summaries,
}


def _graphiti_rows(prompt: str, name: str) -> Rows:
    return list(json.loads(part(prompt, name)))
