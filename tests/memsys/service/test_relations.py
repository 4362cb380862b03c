"""Relations are written with the facts, found by user, agent and run, ended, and deleted."""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from baselines.mem0 import Mem0Graph
from memsys.core.errors import InputError
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.relations.find import RelationSettings
from memsys.llm.base import LLMError
from memsys.service.memory import Memory
from memsys.service.setup import RelationSetup
from memsys.stores.networkx_relations import NetworkxRelations
from tests.memsys.build import query, session
from tests.memsys.knowledge.facts.models import call, fact
from tests.memsys.knowledge.relations.models import Scripted, conflict, entity, relation, settings
from tests.memsys.service.made import memory, said, texts

MAY = datetime(2024, 5, 8, 13, 56)
ADD = (call("ADD"),)
SEARCH: dict[str, Any] = {"by": "both", "query_entities": "rule", "limit": 5, "similarity": 0.4}


def model(**own: Any) -> Scripted:
    """Writes no facts, and whatever relation a message "A - r - B" states."""

    def stated(prompt: str) -> list[Any]:
        message = prompt.rpartition("1. Mara: ")[2].splitlines()[0]
        return [relation(*message.split(" - "))] if message.count(" - ") == 2 else []

    def named(prompt: str) -> list[Any]:
        message = prompt.rpartition("1. ")[2].splitlines()[0].removeprefix("Mara: ")
        return [entity(one) for one in message.split(" - ")[::2]]

    return Scripted(**{"entities": named, "relations": stated, "operations": [ADD], **own})


def remembered(prompt: str) -> list[Any]:
    """A fact that is the message."""
    return [fact(prompt.rpartition("1. Mara: ")[2].splitlines()[0], "Mara", 1)]


def opened(
    folder: Path, llm: Any = None, store: Any = None, more: Any = None, **own: Any
) -> Memory:
    llm = llm or model()
    relations = RelationSetup(settings(**own), RelationSettings(**SEARCH), store=store)
    numbers = {"exchange": 1, "recent": 0, "retries": 0}
    facts = ExtractSettings(prompt="facts_extract", summary_prompt=None, **numbers)
    fields = {"llm": llm, "infer": True, "facts": facts, "relations": relations}
    return memory(folder, **{**fields, **(more or {})})


def say(store: Memory, text: str, id_: str = "D1:1", time: datetime = MAY, **owner: str) -> Any:
    return store.add(said(text, id_), time=time, **(owner or {"user_id": "mara"}))


def stated(store: Memory, query: str = "badminton kiln", **owner: str) -> list[str]:
    """The relations found, as sentences."""
    found = store.search(query, **(owner or {"user_id": "mara"})).relations
    return sorted(f"{one.source} {one.relationship} {one.destination}" for one in found)


def test_relations_are_written_with_the_facts_and_found_beside_them(tmp_path):
    llm = model(facts=[[fact("Mara owns a kiln", "Mara", 1)]])
    with opened(tmp_path, llm) as store:
        added = say(store, "Mara - owns - kiln", "m1")
        (change,) = added.relations
        named = {"source": "Mara", "relationship": "owns", "destination": "kiln"}
        assert change.as_json() == {"event": "ADD", **named}
        assert texts(store.get_all(user_id="mara")) == ["Mara owns a kiln"]
        found = store.search("Who owns a kiln?", user_id="mara")
        assert texts(found) == ["Mara owns a kiln"]
        (one,) = found.relations
        shown = one.as_json()
        assert found["relations"] == [shown]
        assert shown.pop("score") == pytest.approx(one.score)
        assert one.score > 0.5
        assert shown == {
            **named,
            **{"time": "2024-05-08T13:56:00Z", "ended": None, "mentions": 1, "turns": ["m1"]},
        }
        assert {"relations", "apply_relation"} <= {event["step"] for event in added.events}
        written = store.context("Who owns a kiln?", user_id="mara")
        assert written.relations == ("Mara owns kiln",)
        lines = ["[8 May 2024, 13:56] Mara owns a kiln", "[8 May 2024, 13:56] Mara owns kiln"]
        assert written.text.splitlines() == lines
        without = store.context("Who owns a kiln?", user_id="mara", enable_graph=False)
        assert (without.relations, len(without.results)) == ((), 1)


def test_who_has_no_name_is_the_user_of_the_memory(tmp_path):
    llm = model(entities=[[entity("kiln")]], relations=[[relation("I", "owns", "kiln", 1, 2)]])
    with opened(tmp_path, llm, exchange=2) as store:
        lines = [("user", "I own a kiln."), ("assistant", "I do not.")]
        messages = [{"role": role, "content": text} for role, text in lines]
        store.add(messages, user_id="alice_01", agent_id="coach")
        assert stated(store, "What is mine?", user_id="alice_01") == ["alice_01 owns kiln"]
        assert "1. alice_01: I own a kiln." in llm.asked["entities"][0]


def test_the_graph_is_searched_where_asked(tmp_path):
    with opened(tmp_path) as store:
        assert store.enable_graph
        assert say(store, "verbatim", infer=False, user_id="mara").relations == ()  # type: ignore[arg-type]
        say(store, "Mara - owns - kiln")
        for asked, there in ((None, 1), (True, 1), (False, 0)):
            assert len(store.search("kiln", user_id="mara", enable_graph=asked).relations) == there
    with memory(tmp_path) as plain:
        assert not plain.enable_graph
        assert list(plain.search("kiln", user_id="mara").relations) == []
        with pytest.raises(InputError, match="enable_graph: this memory has no relations"):
            plain.search("kiln", user_id="mara", enable_graph=True)


def test_relations_filter_by_user_agent_and_run(tmp_path):
    with opened(tmp_path) as store:
        say(store, "Mara - owns - kiln", user_id="mara")
        say(store, "Mara - sells - kiln", user_id="mara", agent_id="guide", run_id="r1")
        say(store, "Noor - owns - kiln", user_id="noor", run_id="r1")
        say(store, "Mara - fires - kiln", agent_id="guide")
        assert stated(store, user_id="mara") == ["Mara owns kiln", "Mara sells kiln"]
        assert stated(store, user_id="mara", run_id="r1") == ["Mara sells kiln"]
        assert stated(store, agent_id="guide") == ["Mara fires kiln", "Mara sells kiln"]
        assert stated(store, run_id="r1") == ["Mara sells kiln", "Noor owns kiln"]
        assert stated(store, user_id="noor", agent_id="guide") == []


@pytest.mark.parametrize("on_conflict", ["delete", "invalidate"])
def test_a_conflict_ends_what_the_owner_sees_and_nothing_else(tmp_path, on_conflict):
    def ends(prompt: str) -> list[Any]:
        return [conflict(1)] if "hates" in prompt else []

    with opened(tmp_path, model(conflicts=ends), on_conflict=on_conflict) as store:
        say(store, "Mara - loves - badminton", user_id="mara", run_id="r1")
        say(store, "Mara - loves - badminton", user_id="noor")
        stated(store, user_id="mara", run_id="r1")  # cached from now on
        later = datetime(2024, 6, 1)
        added = say(store, "Mara - hates - badminton", time=later, user_id="mara")
        kind = "DELETE" if on_conflict == "delete" else "END"
        assert [one.event for one in added.relations] == [kind, "ADD"]
        for owner in ({"user_id": "mara"}, {"user_id": "mara", "run_id": "r1"}):
            found = store.search("badminton", **owner).relations  # type: ignore[arg-type]
            ended = {one.relationship: one.ended for one in found}
            assert ended.get("loves", later) == later
            assert ("hates" in ended) == ("run_id" not in owner)
        (others,) = store.search("badminton", user_id="noor").relations
        assert others.ended is None


@pytest.mark.parametrize("bulk", ["delete_all", "reset"])
def test_relations_are_deleted_with_their_owner_only(tmp_path, bulk):
    llm = model(facts=[[fact("a kiln", "Mara", 1)]])
    with opened(tmp_path, llm) as store:
        (one,) = say(store, "Mara - owns - kiln", user_id="mara").changes
        say(store, "Mara - sells - kiln", user_id="mara", run_id="r1")
        say(store, "Noor - owns - kiln", user_id="noor")
        store.delete(one.id)  # a single memory
        assert stated(store, user_id="mara") == ["Mara owns kiln", "Mara sells kiln"]
        getattr(store, bulk)(user_id="mara", run_id="r1")
        assert stated(store, user_id="mara") == ["Mara owns kiln"]
        say(store, "Mara - lends - kiln", user_id="mara", run_id="r1")
        assert stated(store, user_id="mara", run_id="r1") == ["Mara lends kiln"]
        getattr(store, bulk)(user_id="mara")
        assert stated(store, user_id="mara") == []
        assert stated(store, user_id="noor") == ["Noor owns kiln"]
    with memory(tmp_path) as plain:  # a memory without relations deletes those of its folder
        getattr(plain, bulk)(all=True)
    assert rows(tmp_path) == (0, 0)


def test_relations_in_a_store_that_is_not_configured_are_not_forgotten(tmp_path):
    elsewhere = str(tmp_path / "elsewhere.sqlite")
    with opened(tmp_path / "a", store=NetworkxRelations(elsewhere)) as store:
        say(store, "Mara - owns - kiln")
    with memory(tmp_path / "a") as plain:
        plain.add("a kiln", user_id="noor")
        for bulk in (plain.delete_all, plain.reset):
            with pytest.raises(InputError, match="a store that this configuration does not name"):
                bulk(user_id="mara")
            bulk(user_id="noor")
    with opened(tmp_path / "a", store=NetworkxRelations(elsewhere)) as store:
        assert stated(store) == ["Mara owns kiln"]
        store.reset(user_id="mara")
        assert stated(store) == []


def rows(folder: Path) -> tuple[int, int]:
    """The nodes and relations in the folder's file."""
    with closing(sqlite3.connect(folder / "relations.sqlite")) as db:
        count = "SELECT count(*) FROM "
        nodes, edges = (db.execute(count + t).fetchone()[0] for t in ("nodes", "relations"))
    return nodes, edges


def test_facts_and_relations_are_those_of_the_benchmark(tmp_path, parts):
    lines = [f"Mara - {verb} - {what}" for verb in ("owns", "likes") for what in ("kiln", "kelp")]
    numbers = {name: getattr(settings(), name) for name in settings().__dataclass_fields__}
    facts = {"prompt": "facts_extract", "summary_prompt": None, "exchange": 1, "recent": 0}
    update = {"calls": "tools", "similar": 3, "prompt": "mem0_update"}
    benchmarked = Mem0Graph(
        parts(llm=model(facts=remembered)),
        **{"k": 3, "budget": None, "infer": True, "facts": facts, "update": update},
        **{"store": NetworkxRelations(), "graph": numbers, "relations": SEARCH},
    )
    with opened(tmp_path, model(facts=remembered)) as store:
        for number, text in enumerate(lines, 1):
            benchmarked.ingest(session(number, MAY.replace(day=number), ("Mara", text)))
            say(store, text, f"D{number}:1", MAY.replace(day=number))
        for question in ("Who owns a kiln?", "kelp", "nothing"):
            found = store.search(question, user_id="mara", top_k=3)
            expected = benchmarked.retrieve(query(question)).candidates
            direct = [one for one in expected if one.origin == "direct"]
            assert texts(found) == [one.memory.content for one in direct]
            assert [one.score for one in found] == pytest.approx([one.score for one in direct])
            related = [one for one in expected if one.origin == "expanded"]
            sentences = [f"{r.source} {r.relationship} {r.destination}" for r in found.relations]
            assert sentences == [one.memory.content for one in related]
            scores = [one.score for one in found.relations]
            assert scores == pytest.approx([one.score for one in related])
            assert [one.turns for one in found.relations] == [one.memory.turns for one in related]


@pytest.mark.parametrize(
    ("compare", "left"), [("filter", ["hates"]), ("owner", ["hates", "loves"])]
)
def test_what_a_new_relation_is_compared_with_can_be_set(tmp_path, compare, left):
    llm = model(conflicts=lambda prompt: [conflict(1)] if "hates" in prompt else [])
    update = UpdateSettings(calls="tools", similar=3, prompt="mem0_update", compare=compare)
    with opened(tmp_path, llm, more={"update": update}) as store:
        say(store, "Mara - loves - badminton", user_id="mara", run_id="r1")
        say(store, "Mara - hates - badminton", user_id="mara")
        found = store.search("badminton", user_id="mara").relations
        assert sorted(one.relationship for one in found) == left


@pytest.mark.parametrize("bulk", ["delete_all", "reset"])
def test_relations_deleted_while_a_conflict_is_judged_do_not_fail_the_addition(tmp_path, bulk):
    def ends(prompt: str) -> list[Any]:
        getattr(store, bulk)(user_id="mara")
        return [conflict(1)]

    with opened(tmp_path, model(conflicts=ends)) as store:
        say(store, "Mara - loves - badminton", user_id="mara", run_id="r1")
        say(store, "Mara - loves - badminton")
        added = say(store, "Mara - hates - badminton")
        assert [one.event for one in added.relations] == ["ADD"]
        assert stated(store) == ["Mara hates badminton"]


def test_an_unanswered_exchange_is_an_error_and_the_facts_remain(tmp_path):
    llm = model(facts=[[fact("Mara owns a kiln", "Mara", 1)]], entities=[LLMError("down")])
    with opened(tmp_path, llm) as store:
        with pytest.raises(LLMError, match="none of 1 exchanges"):
            say(store, "Mara - owns - kiln")
        assert texts(store.get_all(user_id="mara")) == ["Mara owns a kiln"]
