"""The prompts of graphiti-core 0.31.1 while an episode is added; its search asks no model.

Each asks for a JSON schema, by whose name it is known: entities, which of them are known already,
facts as edges with their days, which facts these repeat or end, and summaries of entities.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Final

from eval.datasets.synthetic.language import VISIT, Fact, Language
from eval.datasets.synthetic.reading import (
    NoPlaceError,
    ends,
    heard,
    part,
    read,
    said_in,
    triple,
)

Rows = list[dict[str, Any]]
_ANY_DAY: Final = date(2000, 1, 1)  # where only names are wanted
_MOST_CHARACTERS: Final = 1000  # of a summary, as the prompt has it


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """See libraries/known.py. Entities and facts are heard apart: of a fact whose ends were
    overlooked before nothing is told, as only listed entities may be named.
    """
    name = body.get("response_format", {}).get("json_schema", {}).get("name")
    if name not in _ANSWERS:
        return None
    try:
        found = _ANSWERS[name](str(body["messages"][-1]["content"]), misses)
    except (NoPlaceError, KeyError, ValueError, SyntaxError):
        return None  # somebody else's schema of that name
    return {"role": "assistant", "content": json.dumps(found, ensure_ascii=False)}


def _entities(prompt: str, misses: float) -> dict[str, Rows]:
    """Speakers first, as the prompt wants them, then the ends of facts."""
    names: dict[str, None] = {}
    said = said_in(part(prompt, "CURRENT MESSAGE"), _ANY_DAY)
    for message in heard(said, "graphiti entities", misses):
        names[message.speaker] = None
        for _, fact in read(message.text, message.day):
            names |= dict.fromkeys(ends(fact))
    return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}


def _resolutions(prompt: str, misses: float) -> dict[str, Rows]:
    """Whoever has another name is somebody else."""
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
    """What holds, does from when it is told; a visit is of its day."""
    told = datetime.fromisoformat(part(prompt, "REFERENCE_TIME").partition(" #")[0].strip())
    known = {row["name"] for row in _rows(prompt, "ENTITIES")}
    rows = []
    said = said_in(part(prompt, "CURRENT_MESSAGE"), told.date())
    for message in heard(said, "graphiti edges", misses):
        for language, fact in read(message.text, message.day):
            source, name, target = triple(language, fact)
            if not {source, target} <= known:
                continue
            rows.append(
                {
                    "source_entity_name": source,
                    "target_entity_name": target,
                    "relation_type": name.upper().replace(" ", "_"),
                    "fact": language.stated(fact),
                    "valid_at": _written(_since(language, fact, told)),
                    "invalid_at": None,
                }
            )
    return {"edges": rows}


def _compared(prompt: str, misses: float) -> dict[str, list[int]]:
    """The same fact is a duplicate; another value of it cannot hold too. Visits end nothing."""
    del misses
    new = {(fact.subject, fact.relation): fact.value for _, fact in read(part(prompt, "NEW FACT"))}
    duplicates, contradicted = list[int](), list[int]()
    for name in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES"):
        for row in literal_eval(part(prompt, name)):  # written as Python has it, not JSON
            for _, old in read(row["fact"]):
                value = new.get((old.subject, old.relation))
                if value == old.value and name == "EXISTING FACTS":
                    duplicates.append(row["idx"])
                elif value not in (None, old.value) and not old.relation.startswith(VISIT):
                    contradicted.append(row["idx"])
    return {"duplicate_facts": duplicates, "contradicted_facts": contradicted}


def _summaries(prompt: str, misses: float) -> dict[str, Rows]:
    """Facts are put into summaries by the library itself, one a line. It asks for entities without
    any, the speakers, and where they grow too long: then the oldest are left out.
    """
    del misses
    rows = []
    for row in _rows(prompt, "ENTITIES"):
        lines = row["summary"].splitlines()
        while len("\n".join(lines)) > _MOST_CHARACTERS:
            del lines[0]
        words = "\n".join(lines) or f"{row['name']} is part of a talk of people, firms and towns."
        rows.append({"name": row["name"], "summary": words})
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


def _since(language: Language, fact: Fact, told: datetime) -> datetime:
    visited = language.parse(fact.value) if fact.relation.startswith(VISIT) else None
    return datetime.combine(visited, time(), UTC) if visited else told


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
