"""What `llm=grammar` answers to graphiti's requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval.datasets.synthetic.served import UnknownPromptError, reply
from tests.eval.datasets.synthetic.asked import Body, chat, value

EPISODE = """Ada: I heard that Velma Orr's cousin is Dar Sule.
Bo: Nev Lar visited Port Sen the day before yesterday.
Ada: My tea got cold while we were talking."""
AT = "2023-05-09 10:30:00+00:00  # the time"


def body(schema: str, **parts: Any) -> Body:
    """A request that asks for `schema`, with the parts of its prompt."""
    prompt = "\n\n".join(
        f"<{name}>\n{text if isinstance(text, str) else json.dumps(text)}\n</{name}>"
        for name, text in parts.items()
    )
    wanted = {"type": "json_schema", "json_schema": {"name": schema, "schema": {}}}
    return chat("Do.", prompt) | {"response_format": wanted}


def asked(schema: str, misses: float = 0.0, **parts: Any) -> Any:
    return value(body(schema, **parts), misses)


def test_speakers_and_the_ends_of_facts_are_entities():
    found = asked("ExtractedEntities", **{"CURRENT MESSAGE": EPISODE})["extracted_entities"]
    names = [row["name"] for row in found]
    assert names == ["Ada", "Velma Orr", "Dar Sule", "Bo", "Nev Lar", "Port Sen"]
    assert {row["entity_type_id"] for row in found} == {0}


def test_who_has_another_name_is_somebody_else():
    found = asked(
        "NodeResolutions",
        **{
            "ENTITIES": [{"id": 0, "name": "Dar Sule"}, {"id": 1, "name": "Dar Sulen"}],
            "EXISTING ENTITIES": [
                {"candidate_id": 0, "name": "Dar Sulenka"},
                {"candidate_id": 1, "name": "Dar Sule"},
            ],
        },
    )["entity_resolutions"]
    assert [(row["id"], row["duplicate_candidate_id"]) for row in found] == [(0, 1), (1, -1)]


def edges(*names: str, misses: float = 0.0) -> list[dict[str, Any]]:
    entities = [{"name": name, "entity_types": ["Entity"]} for name in names]
    given = {"CURRENT_MESSAGE": EPISODE, "ENTITIES": entities, "REFERENCE_TIME": AT}
    found: list[dict[str, Any]] = asked("ExtractedEdges", misses, **given)["edges"]
    return found


def test_a_fact_holds_from_when_it_is_told_and_a_visit_is_of_its_day():
    cousin, visit = edges("Ada", "Velma Orr", "Dar Sule", "Nev Lar", "Port Sen")
    assert cousin == {
        "source_entity_name": "Velma Orr",
        "target_entity_name": "Dar Sule",
        "relation_type": "HAS_AS_COUSIN",
        "fact": "Velma Orr's cousin is Dar Sule.",
        "valid_at": "2023-05-09T10:30:00Z",
        "invalid_at": None,
    }
    assert visit["fact"] == "Nev Lar visited Port Sen on 7 May 2023."
    assert visit["valid_at"] == "2023-05-07T00:00:00Z"
    # Only entities that are listed are named.
    assert edges("Velma Orr", "Dar Sule", "Nev Lar") == [cousin]


@pytest.mark.parametrize(
    ("new", "duplicates", "contradicted"),
    [
        ("Velma Orr's cousin is Dar Sule.", [1], [0, 3]),
        ("Velma Orr's cousin is Fen Varic.", [], [0, 1, 3]),
        ("Velma Orr visited Port Sen on 9 May 2023.", [], []),
        ("Nev Lar works at Tor Mill.", [], []),
    ],
)
def test_another_value_contradicts_and_the_same_is_a_duplicate(new, duplicates, contradicted):
    existing = [
        {"idx": 0, "fact": "Velma Orr's cousin is Ros Nald."},
        {"idx": 1, "fact": "Velma Orr's cousin is Dar Sule."},
        {"idx": 2, "fact": "Velma Orr visited Port Sen on 7 May 2023."},
    ]
    more = [
        {"idx": 3, "fact": "Velma Orr's cousin is Pia Tosk."},
        {"idx": 4, "fact": "Nev Lar works at Tor Mill."},
    ]
    parts = {"EXISTING FACTS": str(existing), "FACT INVALIDATION CANDIDATES": str(more)}
    found = asked("EdgeDuplicate", **parts, **{"NEW FACT": new})
    assert found == {"duplicate_facts": duplicates, "contradicted_facts": contradicted}


def test_summaries_are_of_whoever_it_is_asked_for_and_no_longer_than_wanted():
    long = "\n".join(f"Velma Orr visited Port Sen on {day} May 2023." for day in range(1, 32))
    rows = [{"name": "Ada", "summary": ""}, {"name": "Velma Orr", "summary": long}]
    ada, velma = asked("SummarizedEntities", ENTITIES=rows)["summaries"]
    assert ada["summary"].startswith("Ada ")
    assert len(velma["summary"]) <= 1000
    assert velma["summary"].endswith("on 31 May 2023.")


def test_what_it_overlooks_is_not_named():
    assert edges("Velma Orr", "Dar Sule", "Nev Lar", "Port Sen", misses=1.0) == []
    given = {"CURRENT MESSAGE": EPISODE}
    assert asked("ExtractedEntities", 1.0, **given) == {"extracted_entities": []}


def test_other_requests_of_such_a_schema_are_refused():
    for wrong in (body("ExtractedEntities"), body("ExtractedEdges", ENTITIES=[])):
        with pytest.raises(UnknownPromptError):
            reply(wrong)
