"""Relations are added, merged, ended and counted as a model says; faults cost what they must."""

from __future__ import annotations

import json

import pytest

from memsys.embed.cache import CachedEmbedder
from memsys.llm.base import LLMError
from tests.memsys.build import session
from tests.memsys.relations.models import DAY, Kept, Reply, Scripted, conflict, entity, relation

BADMINTON: Reply = [entity("badminton", "activity")]
LIKES: Reply = [relation("Mara", "likes", "badminton")]
NO_MORE: Reply = [relation("Mara", "does not like", "badminton")]


def changed(embedder: CachedEmbedder, on_conflict: str, calls: str = "tools") -> Kept:
    """Told of a liking, and a day later of its end."""
    llm = Scripted(entities=[BADMINTON], relations=[LIKES, NO_MORE], conflicts=[[conflict(1)]])
    kept = Kept(llm, embedder, on_conflict=on_conflict, calls=calls)
    kept.tell(2, "I like badminton.")
    kept.tell(3, "I do not like badminton any more.")
    return kept


@pytest.mark.parametrize("calls", ["tools", "schema"])
def test_a_change_of_mind_deletes_the_relation(bag_of_words: CachedEmbedder, calls: str) -> None:
    kept = changed(bag_of_words, "delete", calls)
    (text,) = kept.relations
    assert text == "Mara does not like badminton"
    assert kept.relations[text].ended is None
    assert kept.applied == [
        ("ADD", "Mara likes badminton"),
        ("DELETE", "Mara likes badminton"),
        ("ADD", "Mara does not like badminton"),
    ]
    assert kept.faults == []


def test_or_ends_it_at_the_time_of_the_session(bag_of_words: CachedEmbedder) -> None:
    kept = changed(bag_of_words, "invalidate")
    old, new = (
        kept.relations["Mara likes badminton"],
        kept.relations["Mara does not like badminton"],
    )
    assert (old.ended, new.ended) == (DAY.replace(day=3), None)
    assert (old.created, old.last_seen, old.turns) == (DAY, DAY, ("D2:1",))
    assert kept.applied[1] == ("END", "Mara likes badminton")


def test_what_ended_is_not_asked_about_again_and_may_begin_anew(
    bag_of_words: CachedEmbedder,
) -> None:
    kept = changed(bag_of_words, "invalidate")
    llm = kept.extractor._llm
    assert isinstance(llm, Scripted)
    llm.plans["relations"] = [LIKES]
    llm.plans["conflicts"] = [[conflict(1)]]
    kept.tell(4, "I like badminton again.")
    shown = llm.asked["conflicts"][-1].partition("<stored_relations>\n")[2].partition("\n</")[0]
    assert shown == "1. Mara does not like badminton"
    again = kept.relations["Mara likes badminton"]
    assert (again.ended, again.mentions, again.created) == (None, 2, DAY)
    assert again.turns == ("D2:1", "D4:1")
    assert kept.applied[-1] == ("RENEW", "Mara likes badminton")
    assert kept.relations["Mara does not like badminton"].ended == DAY.replace(day=4)
    llm.plans["relations"], llm.plans["conflicts"] = [[relation("I", "watch", "badminton")]], [[]]
    kept.tell(5, "I watch badminton.")
    shown = llm.asked["conflicts"][-1].partition("<stored_relations>\n")[2].partition("\n</")[0]
    assert shown == "1. Mara likes badminton"


@pytest.mark.parametrize("on_conflict", ["delete", "invalidate"])
def test_a_second_liking_ends_nothing(bag_of_words: CachedEmbedder, on_conflict: str) -> None:
    llm = Scripted(
        entities=[[entity("pizza")], [entity("burgers")]],
        relations=[[relation("I", "loves", "pizza")], [relation("I", "likes", "burgers")]],
    )
    kept = Kept(llm, bag_of_words, on_conflict=on_conflict)
    kept.tell(2, "I love pizza.")
    kept.tell(3, "I also like burgers.")
    assert "1. Mara loves pizza" in llm.asked["conflicts"][0]
    assert [one.ended for one in kept.relations.values()] == [None, None]
    assert set(kept.relations) == {"Mara loves pizza", "Mara likes burgers"}


def test_what_is_said_again_is_counted_and_not_in_question(bag_of_words: CachedEmbedder) -> None:
    llm = Scripted(entities=[BADMINTON], relations=[LIKES], conflicts=[[conflict(1)]])
    kept = Kept(llm, bag_of_words)
    kept.tell(2, "I like badminton.")
    kept.tell(5, "I like badminton.")
    assert "conflicts" not in llm.asked  # there is no other relation
    (one,) = kept.relations.values()
    assert (one.mentions, one.created, one.last_seen) == (2, DAY, DAY.replace(day=5))
    assert one.turns == ("D2:1", "D5:1")
    nodes = {node.name: node for node in kept.store.nodes("us")}
    assert {name: node.mentions for name, node in nodes.items()} == {"Mara": 2, "badminton": 2}
    assert nodes["badminton"].kind == "activity"
    assert nodes["badminton"].created == DAY
    assert nodes["badminton"].last_seen == DAY.replace(day=5)


def test_like_names_are_one_node(bag_of_words: CachedEmbedder) -> None:
    llm = Scripted(
        entities=[[entity("the Lantern market", "place")], [entity("Lantern markets")]],
        relations=[
            [relation("Mara", "sells at", "the Lantern market")],
            [relation("Mara", "left", "Lantern markets")],
        ],
    )
    kept = Kept(llm, bag_of_words)
    kept.tell(2, "I sell at the Lantern market.")
    kept.tell(3, "I left the Lantern markets.")
    assert [node.name for node in kept.store.nodes("us")] == ["Mara", "the Lantern market"]
    assert set(kept.relations) == {
        "Mara sells at the Lantern market",
        "Mara left the Lantern market",
    }
    (last,) = [event for event in kept.log if event.get("merged")]
    assert last["merged"] == {"Lantern markets": "the Lantern market"}


def test_unlike_names_are_two(bag_of_words: CachedEmbedder) -> None:
    llm = Scripted(
        entities=[[entity("kiln"), entity("kiln shelf")]],
        relations=[[relation("kiln shelf", "is in", "kiln")]],
    )
    kept = Kept(llm, bag_of_words)
    kept.tell(2, "The kiln shelf is in the kiln.")
    assert set(kept.relations) == {"kiln shelf is in kiln"}


def test_whoever_speaks_is_meant_by_i(bag_of_words: CachedEmbedder) -> None:
    llm = Scripted(
        entities=[[entity("I", "person"), entity("kelp")]],
        relations=[[relation("I", "eats", "kelp", 2), relation("me", "eats", "kelp", 1, 2)]],
    )
    kept = Kept(llm, bag_of_words, exchange=2)
    kept.keeper.keep(session(2, DAY, ("Mara", "Kelp?"), ("Theo", "I eat kelp.")))
    assert set(kept.relations) == {"Theo eats kelp"}
    assert kept.faults == ["unknown_speaker"]  # of two who spoke
    assert "- I\n" not in llm.asked["relations"][0]


def test_nothing_is_asked_of_what_speaks_of_nothing(bag_of_words: CachedEmbedder) -> None:
    llm = Scripted(entities=[[]], relations=[LIKES])
    kept = Kept(llm, bag_of_words)
    kept.tell(2, "Mind the gap.")
    assert set(llm.asked) == {"entities"}
    assert kept.log[-1] == {"step": "graph", "faults": 0, "lost": 0, "of": 1}


def test_the_log_tells_every_step_and_its_cost(bag_of_words: CachedEmbedder) -> None:
    kept = changed(bag_of_words, "delete")
    assert json.loads(json.dumps(kept.log)) == kept.log
    cost = {"input_tokens": 100, "output_tokens": 10}
    second = kept.log[4:]
    assert [event["step"] for event in second] == [
        *("entities", "relations", "conflicts", "apply_relation", "apply_relation", "graph")
    ]
    assert second[0] == {"step": "entities", "turns": ["D3:1"], "entities": 1, "tokens": cost}
    assert second[2] == {"step": "conflicts", "turns": ["D3:1"], "conflicts": 1, "tokens": cost}
    assert second[3] == {
        "step": "apply_relation",
        "operation": "DELETE",
        "relation": "r:mara|likes|badminton",
        "text": "Mara likes badminton",
        "why": "not any more",
        "turns": ["D3:1"],
    }
    assert second[-1] == {"step": "graph", "DELETE": 1, "ADD": 1, "faults": 0, "lost": 0, "of": 1}


def test_a_made_up_relation_is_named_in_the_log_and_harmless(bag_of_words: CachedEmbedder) -> None:
    more = [relation("Mara", name, "badminton") for name in ("plays", "watches", "likes")]
    llm = Scripted(
        entities=[BADMINTON],
        relations=[more, NO_MORE],
        conflicts=[[conflict(7), conflict(0), conflict(1)]],
    )
    kept = Kept(llm, bag_of_words, on_conflict="invalidate")
    kept.tell(2, "I like badminton.")
    kept.tell(3, "I do not like badminton any more.")
    assert kept.faults == ["unknown_relation", "unknown_relation"]
    ended = [text for text, one in kept.relations.items() if one.ended]
    assert ended == ["Mara likes badminton"]
    assert len(kept.relations) == 4


NO_ANSWER = LLMError("timed out")


@pytest.mark.parametrize(
    ("failing", "plan"),
    [
        ("entities", [BADMINTON, NO_ANSWER, BADMINTON]),
        ("relations", [LIKES, NO_ANSWER, NO_MORE]),
        ("conflicts", [NO_ANSWER, [conflict(1)]]),
        ("entities", [BADMINTON, "I had rather not.", BADMINTON]),
        ("relations", [LIKES, (("note_relations", '{"relations": [{'),), NO_MORE]),
        ("conflicts", [(("forget", "{}"),), [conflict(1)]]),
    ],
)
def test_keeping_again_does_what_was_left_undone_and_nothing_twice(
    bag_of_words: CachedEmbedder, failing: str, plan: list[Reply]
) -> None:
    plans: dict[str, list[Reply]] = {
        "entities": [BADMINTON],
        "relations": [LIKES, NO_MORE],
        "conflicts": [[conflict(1)]],
    }
    llm = Scripted(**{**plans, failing: plan})
    kept = Kept(llm, bag_of_words)
    said = session(2, DAY, ("Mara", "I like badminton."), ("Mara", "Not any more."))
    kept.keeper.keep(said)
    assert set(kept.relations) == {"Mara likes badminton"}
    assert (len(kept.faults), kept.log[-1]["lost"]) == (1, 1)
    for _ in range(2):
        kept.keeper.keep(said)
        assert set(kept.relations) == {"Mara does not like badminton"}
        assert {node.mentions for node in kept.store.nodes("us")} == {2}
        assert kept.relations["Mara does not like badminton"].mentions == 1
        assert kept.log[-1]["lost"] == 0
    once = {"entities": 2, "relations": 2, "conflicts": 1}
    assert {kind: len(asked) for kind, asked in llm.asked.items()} == {
        kind: count + (kind == failing) for kind, count in once.items()
    }


def test_a_session_without_any_answer_is_an_error(bag_of_words: CachedEmbedder) -> None:
    kept = Kept(Scripted(entities=[LLMError("gone")]), bag_of_words)
    with pytest.raises(LLMError, match="none of 2 exchanges came into the graph: gone"):
        kept.tell(2, "One.", "Two.")
    assert kept.faults == ["no_answer", "no_answer"]


def test_a_relation_to_what_was_not_extracted(bag_of_words: CachedEmbedder) -> None:
    rows = relation("Mara", "broke", "a bowl"), relation("Mara", "broke", "her leg")
    llm = Scripted(entities=[[entity("kiln")]], relations=[list(rows)])
    kept = Kept(llm, bag_of_words)
    kept.tell(2, "The kiln broke a bowl.")
    assert set(kept.relations) == {"Mara broke a bowl"}
    assert kept.faults == ["unlisted_entity", "unknown_entity"]
    (bowl,) = kept.store.nodes("us", ["a bowl"])
    assert bowl.kind == "other"


def test_what_is_no_name_is_no_relation(bag_of_words: CachedEmbedder) -> None:
    rows = [
        relation("Mara", "owns", "Mara"),
        relation("Mara", "...", "kelp"),
        relation("Mara", "said of the sea and of all that is in it " * 3, "kelp"),
        relation("Mara", "Grows_ ", "kelp"),
        relation("I", "grows", "kelp"),
    ]
    kept = Kept(
        Scripted(entities=[[entity("kelp"), entity("k" * 61)]], relations=[rows]), bag_of_words
    )
    kept.tell(2, "I grow kelp.")
    assert set(kept.relations) == {"Mara grows kelp"}
    assert kept.relations["Mara grows kelp"].mentions == 1
    assert kept.faults == ["bad_argument"] * 4


def test_the_nearest_relations_are_shown_first_and_not_too_many(
    bag_of_words: CachedEmbedder,
) -> None:
    rows = [relation("Mara", "owns", f"{word}") for word in ("kelp", "flute", "kayak", "anvil")]
    names = [entity(row["destination"]) for row in rows]
    llm = Scripted(
        entities=[names, [entity("kayak")]],
        relations=[rows, [relation("Mara", "sold", "kayak")]],
    )
    kept = Kept(llm, bag_of_words, shown=2)
    kept.tell(2, "I own kelp, a flute, a kayak and an anvil.")
    kept.tell(3, "I sold the kayak.")
    shown = llm.asked["conflicts"][0].partition("<stored_relations>\n")[2].partition("\n</")[0]
    assert shown.splitlines() == ["1. Mara owns kayak", "2. Mara owns anvil"]
    assert llm.schemas[-1]["properties"]["conflicts"]["maxItems"] == 2


def test_an_equal_name_is_near_whatever_the_embedder_makes_of_it(
    bag_of_words: CachedEmbedder,
) -> None:
    llm = Scripted(
        entities=[[entity("The Who")], [entity("kelp")], [entity("the who")]],
        relations=[
            [relation("Mara", "likes", "The Who")],
            [relation("Mara", "likes", "kelp")],
            [relation("Mara", "left", "the who")],
        ],
    )
    kept = Kept(llm, bag_of_words, shown=1)
    for day in (2, 3, 4):
        kept.tell(day, "The Who, kelp, and The Who.")
    assert not bag_of_words.documents(["The Who"]).any()
    assert "1. Mara likes The Who" in llm.asked["conflicts"][-1]
    assert (kept.graph.size()["nodes"], kept.graph.size()["edges"]) == (3, 3)


def test_two_owners_of_one_store_see_nothing_of_each_other(bag_of_words: CachedEmbedder) -> None:
    one = changed(bag_of_words, "delete")
    llm = Scripted(entities=[BADMINTON], relations=[LIKES])
    other = Kept(llm, bag_of_words, one.store, "them")
    other.tell(2, "I like badminton.")
    assert set(other.relations) == {"Mara likes badminton"}
    held = one.graph.size()
    assert (held["nodes"], held["edges"]) == (2, 1)
    other.graph.clear()
    assert other.graph.size() == {"nodes": 0, "edges": 0, "bytes": 0}
    assert one.graph.size() == held
    assert set(one.relations) == {"Mara does not like badminton"}
