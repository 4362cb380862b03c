"""What the model that knows the grammar answers to mem0ai 2 and 1, and to graphiti."""

import json
from typing import Any

import pytest

from eval.datasets.synthetic.served import UnknownPromptError, reply
from tests.eval.datasets.synthetic.asked import Body, calls, chat, value

SAID = [
    "Ada: I heard that Velma Orr's cousin is Dar Sule.",
    "Bo: The rain did not stop for 3 hours here.",
    "Bo: Nev Lar visited Port Sen the day before yesterday.",
]
LINES = "\n".join(SAID)
COUSIN = "Velma Orr's cousin is Dar Sule."
FORMER = "Velma Orr's cousin is Lor Nen."
VISIT = "Nev Lar visited Port Sen on 7 May 2023."


def extraction(known: list[str], said: list[str]) -> Body:
    """Of mem0ai 2."""
    rows = [{"id": str(i), "text": text} for i, text in enumerate(known)]
    lines = "".join(f"user: {one}\n" for one in said)
    parts = {"Last k Messages": "user: Ada: Velma Orr's teacher is Fen Varic.\n"}
    parts |= {"Existing Memories": json.dumps(rows), "New Messages": lines}
    parts |= {"Observation Date": "2023-05-09", "Current Date": "2023-05-10"}
    written = "\n\n".join(f"## {name}\n{text}" for name, text in parts.items())
    return chat("Note what is new.", f"{written}\n\n# Output:")


def update(known: list[str], new: list[str]) -> Body:
    """Of mem0ai 1, which shows lists as Python has them."""
    rows = [{"id": str(i), "text": text} for i, text in enumerate(known)]
    old = f"What I know:\n```\n{rows}\n```" if rows else "I know nothing."
    return chat(f"{old}\nThe retrieved facts:\n```\n{new}\n```\nAnswer by JSON.")


def relation(source: str, name: str, end: str) -> dict[str, str]:
    return {"source": source, "relationship": name, "destination": end}


def test_a_new_memory_is_what_no_shown_one_tells_and_links_to_its_subject():
    known = [FORMER, "Velma Orr works at Tor Mill.", "Nev Lar works at Tor Mill.", VISIT]
    rows = value(extraction(known, SAID))["memory"]
    assert rows == [
        {"id": "0", "text": COUSIN, "attributed_to": "user", "linked_memory_ids": ["0", "1"]}
    ]
    rows = value(extraction([], [*SAID, SAID[0]]))["memory"]
    assert [(row["id"], row["text"]) for row in rows] == [("0", COUSIN), ("1", VISIT)]
    assert [row["linked_memory_ids"] for row in rows] == [[], []]
    chinese = extraction([], ["小红: 沈青禾在昨天去了若云镇。"])
    (row,) = value(chinese)["memory"]
    assert row["text"] == "沈青禾在2023年5月8日去了若云镇。"


def test_facts_are_those_of_the_messages_with_days_from_the_prompts():
    lines = "".join(f"user: {one}\n" for one in SAID)
    body = chat(f"{FORMER} Today's date is 2023-05-09.", f"Input:\n{lines}")
    assert value(body) == {"facts": [COUSIN, VISIT]}
    assert value(body, 1.0) == {"facts": []}
    assert value(extraction([], SAID), 1.0) == {"memory": []}


@pytest.mark.parametrize(
    ("known", "changes"),
    [
        ([], [("0", "ADD", COUSIN)]),
        (["Nev Lar works at Tor Mill."], [("0", "NONE", ""), ("1", "ADD", COUSIN)]),
        (["Nev Lar works at Tor Mill.", FORMER], [("0", "NONE", ""), ("1", "UPDATE", COUSIN)]),
        (["Velma Orr's teacher is Lor Nen."], [("0", "NONE", ""), ("1", "ADD", COUSIN)]),
        ([COUSIN], [("0", "NONE", "")]),
        ([FORMER, COUSIN], [("0", "DELETE", ""), ("1", "NONE", "")]),
        (
            [FORMER, "Velma Orr's cousin is Hal Bert."],
            [("0", "UPDATE", COUSIN), ("1", "DELETE", "")],
        ),
    ],
)
def test_a_value_takes_the_place_of_the_one_before(known, changes):
    rows = value(update(known, [COUSIN]))["memory"]
    shown = [(row["id"], row["event"], row["text"]) for row in rows]
    expected = [(i, event, text or known[int(i)]) for i, event, text in changes]
    assert shown == expected
    updated = {row["id"]: row["old_memory"] for row in rows if row["event"] == "UPDATE"}
    assert updated == {i: known[int(i)] for i, event, _ in changes if event == "UPDATE"}


def test_a_visit_is_beside_other_visits_and_the_last_of_two_values_holds():
    other = "Nev Lar visited Port Lan on 7 May 2023."
    rows = value(update([other], [VISIT]))["memory"]
    assert [row["event"] for row in rows] == ["NONE", "ADD"]
    rows = value(update([], [FORMER, COUSIN]))["memory"]
    assert [row["text"] for row in rows] == [COUSIN]


def test_it_names_the_entities_of_messages_and_of_questions():
    people = {"Velma Orr": "person", "Dar Sule": "person"}
    visit = {"Nev Lar": "person", "Port Sen": "place"}
    for text, kinds in (
        (LINES, people | visit),
        ("Who was Velma Orr's cousin on 3 May 2023?", {"Velma Orr": "person"}),
        ("When did Nev Lar visit Port Sen?", visit),
        ("How are you?", {}),
    ):
        body = chat("Name them.", text, tools=("extract_entities",))
        ((name, given),) = calls(body)
        assert name == "extract_entities"
        assert {row["entity"]: row["entity_type"] for row in given["entities"]} == kinds


def test_it_states_relations_and_drops_those_that_have_another_end_now():
    text = f"List of entities: ['velma_orr']. \n\nText: {LINES}"
    ((name, given),) = calls(chat("Relate.", text, tools=("establish_relationships",)))
    assert name == "establish_relationships"
    assert given["entities"] == [
        relation("Velma Orr", "has as cousin", "Dar Sule"),
        relation("Nev Lar", "visited", "Port Sen"),
    ]
    stored = [
        "velma_orr -- has_as_cousin -- lor_nen",
        "velma_orr -- has_as_cousin -- dar_sule",
        "velma_orr -- has_as_teacher -- lor_nen",
        "lor_nen -- has_as_cousin -- velma_orr",
        "nev_lar -- visited -- port_lan",
        "velma_orr -- has_as_cousin -- lor_nen",
    ]

    def dropped(stored: list[str]) -> list[tuple[str, Any]]:
        shown = "\n".join(stored)
        prompt = f"They are: {shown} \n\n New Information: {LINES}"
        return calls(chat("Drop.", prompt, tools=("delete_graph_memory",)))

    former = relation("velma_orr", "has_as_cousin", "lor_nen")
    assert dropped(stored) == [("delete_graph_memory", former)]
    assert dropped(stored[1:5]) == []


def test_other_requests_are_refused():
    for wrong in (
        chat("Answer.", "Who is Velma Orr's cousin?"),
        chat("Name them.", SAID[0], tools=("Other",)),
        chat("Facts of no day.", f"Input:\n{SAID[0]}"),
        *(body("ExtractedEntities"), body("ExtractedEdges", ENTITIES=[])),
    ):
        with pytest.raises(UnknownPromptError):
            reply(wrong)


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
