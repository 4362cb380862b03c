"""Answers to the prompts of graphiti-core 0.31.1 during ingestion; its search calls no model.

Each prompt is identified by the name of its JSON schema: entities, resolution of known entities,
facts as dated edges, duplicate and contradicted facts, and summaries of entities.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time
from typing import Any, Final

from eval.datasets.synthetic.languages import VISIT
from eval.datasets.synthetic.reading import (
    ANY_DAY,
    MissingPartError,
    entities_of,
    json_message,
    lines_as_messages,
    noticed,
    part,
    read,
    stated,
    triple,
)

Rows = list[dict[str, Any]]
_MOST_CHARACTERS: Final = 1000  # of a summary, as the prompt demands


def graphiti(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    Entities and facts are overlooked independently; a fact with an overlooked entity is dropped, as
    edges may name listed entities only.
    """
    name = body.get("response_format", {}).get("json_schema", {}).get("name")
    if name not in _ANSWERS:
        return None
    try:
        answer = _ANSWERS[name](str(body["messages"][-1]["content"]), misses)
    except (MissingPartError, KeyError, ValueError, SyntaxError):
        return None  # another program's schema of that name
    return json_message(answer)


def _entities(prompt: str, misses: float) -> dict[str, Rows]:
    """Return each message's speaker, as the prompt demands, then the entities of its facts."""
    names: dict[str, None] = {}
    said = lines_as_messages(part(prompt, "CURRENT MESSAGE"), ANY_DAY)
    for message in noticed(said, "graphiti entities", misses):
        names[message.speaker] = None
        for _, fact in read(message.text, message.day):
            names |= dict.fromkeys(entities_of(fact))
    return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}


def _resolutions(prompt: str, misses: float) -> dict[str, Rows]:
    del misses
    known = {row["name"]: row["candidate_id"] for row in _rows(prompt, "EXISTING ENTITIES")}
    return {
        "entity_resolutions": [
            {"id": row["id"], "name": row["name"]}
            | {"duplicate_candidate_id": known.get(row["name"], -1)}
            for row in _rows(prompt, "ENTITIES")
        ]
    }


def _edges(prompt: str, misses: float) -> dict[str, Rows]:
    """Return edges: a fact is valid from the day it is stated, a visit from its day."""
    of_message = datetime.fromisoformat(part(prompt, "REFERENCE_TIME").partition(" #")[0].strip())
    known = {row["name"] for row in _rows(prompt, "ENTITIES")}
    rows = []
    said = lines_as_messages(part(prompt, "CURRENT_MESSAGE"), of_message.date())
    for _, language, fact in stated(said, "graphiti edges", misses):
        source, name, target = triple(language, fact)
        if not {source, target} <= known:
            continue
        visited = language.parse(fact.value) if fact.relation.startswith(VISIT) else None
        since = datetime.combine(visited, time(), UTC) if visited else of_message
        rows.append(
            {
                "source_entity_name": source,
                "target_entity_name": target,
                "relation_type": name.upper().replace(" ", "_"),
                "fact": language.restate(fact),
                "valid_at": since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
                "invalid_at": None,
            }
        )
    return {"edges": rows}


def _compared(prompt: str, misses: float) -> dict[str, list[int]]:
    """Return duplicates (equal facts) and contradictions (another value, except of visits)."""
    del misses
    new = {(fact.subject, fact.relation): fact.value for _, fact in read(part(prompt, "NEW FACT"))}
    duplicates, contradicted = list[int](), list[int]()
    for name in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES"):
        for row in literal_eval(part(prompt, name)):  # a Python literal, not JSON
            for _, old in read(row["fact"]):
                value = new.get((old.subject, old.relation))
                if value == old.value and name == "EXISTING FACTS":
                    duplicates.append(row["idx"])
                elif value not in (None, old.value) and not old.relation.startswith(VISIT):
                    contradicted.append(row["idx"])
    return {"duplicate_facts": duplicates, "contradicted_facts": contradicted}


def _summaries(prompt: str, misses: float) -> dict[str, Rows]:
    """Return summaries: the library's lines, without the oldest if they are too long.

    The library itself adds a line per fact; it asks about entities without facts (the speakers) and
    about summaries that are too long.
    """
    del misses
    rows = []
    for row in _rows(prompt, "ENTITIES"):
        lines = row["summary"].splitlines()
        while len("\n".join(lines)) > _MOST_CHARACTERS:
            del lines[0]
        summary = "\n".join(lines) or f"{row['name']} is part of a talk of people, firms and towns."
        rows.append({"name": row["name"], "summary": summary})
    return {"summaries": rows}


_ANSWERS: Final[Mapping[str, Callable[[str, float], Mapping[str, Any]]]] = {
    "ExtractedEntities": _entities,
    "NodeResolutions": _resolutions,
    "ExtractedEdges": _edges,
    "EdgeDuplicate": _compared,
    "SummarizedEntities": _summaries,
}


def _rows(prompt: str, name: str) -> Rows:
    return list(json.loads(part(prompt, name)))
