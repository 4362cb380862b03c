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

from eval.datasets.synthetic.reading import (
    Message,
    MissingPartError,
    Request,
    entities_of,
    json_message,
    part,
    read,
    values_in,
)

Rows = list[dict[str, Any]]
_MOST_CHARACTERS: Final = 1000  # of a summary, as the prompt demands


def graphiti(asked: Request) -> Message | None:
    """Return the answer to a request of the library, else None.

    Entities and facts are overlooked independently; a fact with an overlooked entity is dropped, as
    edges may name listed entities only.
    """
    answer = _ANSWERS.get(asked.schema.get("name", ""))
    try:
        return json_message(answer(asked, asked.contents[-1])) if answer else None
    except (MissingPartError, KeyError, ValueError, SyntaxError):
        return None  # another program's schema of that name


def _entities(asked: Request, prompt: str) -> dict[str, Rows]:
    """Return each message's speaker, as the prompt demands, then the entities of its facts."""
    names: dict[str, None] = {}
    for message in asked.noticed(part(prompt, "CURRENT MESSAGE"), "graphiti entities"):
        names[message.speaker] = None
        for one in read(message.text, message.day):
            names |= dict.fromkeys(entities_of(one.fact))
    return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}


def _resolutions(_: Request, prompt: str) -> dict[str, Rows]:
    known = {row["name"]: row["candidate_id"] for row in _rows(prompt, "EXISTING ENTITIES")}
    return {
        "entity_resolutions": [
            {"id": row["id"], "name": row["name"]}
            | {"duplicate_candidate_id": known.get(row["name"], -1)}
            for row in _rows(prompt, "ENTITIES")
        ]
    }


def _edges(asked: Request, prompt: str) -> dict[str, Rows]:
    """Return edges: a fact is valid from the day it is stated, a visit from its day."""
    of_message = datetime.fromisoformat(part(prompt, "REFERENCE_TIME").partition(" #")[0].strip())
    known = {row["name"] for row in _rows(prompt, "ENTITIES")}
    rows = []
    said = part(prompt, "CURRENT_MESSAGE")
    for _, one in asked.stated(said, "graphiti edges", of_message.date()):
        source, name, target = one.triple
        if not {source, target} <= known:
            continue
        visited = one.language.parse(one.fact.value) if one.fact.place else None
        since = datetime.combine(visited, time(), UTC) if visited else of_message
        rows.append(
            {
                "source_entity_name": source,
                "target_entity_name": target,
                "relation_type": name.upper().replace(" ", "_"),
                "fact": one.sentence,
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
            for old in (one.fact for one in read(row["fact"])):
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
    for row in _rows(prompt, "ENTITIES"):
        lines = row["summary"].splitlines()
        while len("\n".join(lines)) > _MOST_CHARACTERS:
            del lines[0]
        summary = "\n".join(lines) or f"{row['name']} is part of a talk of people, firms and towns."
        rows.append({"name": row["name"], "summary": summary})
    return {"summaries": rows}


_ANSWERS: Final[Mapping[str, Callable[[Request, str], Mapping[str, Any]]]] = {
    "ExtractedEntities": _entities,
    "NodeResolutions": _resolutions,
    "ExtractedEdges": _edges,
    "EdgeDuplicate": _compared,
    "SummarizedEntities": _summaries,
}


def _rows(prompt: str, name: str) -> Rows:
    return list(json.loads(part(prompt, name)))
