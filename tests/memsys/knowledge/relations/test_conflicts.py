"""A new relation ends what a model says it contradicts, and only of what the model was shown: those
of its owner and of the owners in view."""

from dataclasses import replace

import pytest

from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.relations.triples import Related
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import Node, Relation
from tests.memsys.knowledge.relations.models import (
    BADMINTON,
    DAY,
    LIKES,
    NO_MORE,
    Rows,
    Scripted,
    Written,
    changed,
    conflict,
    entity,
    relation,
)


@pytest.mark.parametrize("calls", ["tools", "schema"])
def test_a_change_of_mind_deletes_the_relation(bag_of_words, calls):
    written = changed(bag_of_words, "delete", calls)
    ended = {text: one.ended for text, one in written.relations.items()}
    assert ended == {"Mara does not like badminton": None}
    assert written.applied == [
        ("ADD", "Mara likes badminton"),
        ("DELETE", "Mara likes badminton"),
        ("ADD", "Mara does not like badminton"),
    ]
    assert written.faults == []


def test_or_ends_it_at_the_time_of_the_session_and_it_may_begin_anew(bag_of_words):
    written = changed(bag_of_words, "invalidate")
    old, new = (written.relations[f"Mara {text} badminton"] for text in ("likes", "does not like"))
    assert (old.ended, new.ended) == (DAY.replace(day=3), None)
    assert (old.created, old.last_seen, old.turns) == (DAY, DAY, ("D2:1",))
    assert written.applied[1] == ("END", "Mara likes badminton")

    llm = written.extractor._llm
    llm.plans["relations"] = [LIKES]
    llm.plans["conflicts"] = [[conflict(1)]]
    written.read(4, "I like badminton again.")
    # What ended is not asked about again.
    assert shown(llm) == "1. Mara does not like badminton (stated 3 March 2024)"
    again = written.relations["Mara likes badminton"]
    assert (again.ended, again.mentions, again.created) == (None, 2, DAY)
    assert again.turns == ("D2:1", "D4:1")
    assert written.applied[-1] == ("RENEW", "Mara likes badminton")
    assert written.relations["Mara does not like badminton"].ended == DAY.replace(day=4)
    llm.plans["relations"], llm.plans["conflicts"] = [[relation("I", "watch", "badminton")]], [[]]
    written.read(5, "I watch badminton.")
    assert shown(llm) == "1. Mara likes badminton (stated 2 March 2024, last 4 March 2024)"


def shown(llm: Scripted) -> str:
    """The stored relations that the model was last shown."""
    return llm.asked["conflicts"][-1].partition("<stored_relations>\n")[2].partition("\n</")[0]


def test_what_is_said_again_is_counted_and_not_in_question(bag_of_words):
    llm = Scripted(entities=[BADMINTON], relations=[LIKES], conflicts=[[conflict(1)]])
    written = Written(llm, bag_of_words)
    written.read(2, "I like badminton.")
    written.read(5, "I like badminton.")
    assert "conflicts" not in llm.asked  # there is no other relation
    (one,) = written.relations.values()
    assert (one.mentions, one.created, one.last_seen) == (2, DAY, DAY.replace(day=5))
    assert one.turns == ("D2:1", "D5:1")
    again = 2, DAY, DAY.replace(day=5)
    assert {
        (node.name, node.kind, node.mentions, node.created, node.last_seen)
        for node in written.store.nodes("us")
    } == {("Mara", "person", *again), ("badminton", "activity", *again)}


def test_a_made_up_relation_is_named_in_the_log_and_harmless(bag_of_words):
    more = [relation("Mara", name, "badminton") for name in ("plays", "watches", "likes")]
    made_up = [conflict(number) for number in (7, 0, 1)]
    llm = Scripted(entities=[BADMINTON], relations=[more, NO_MORE], conflicts=[made_up])
    written = Written(llm, bag_of_words, on_conflict="invalidate")
    written.read(2, "I like badminton.")
    written.read(3, "I do not like badminton any more.")
    assert written.faults == ["unknown_relation", "unknown_relation"]
    ended = [text for text, one in written.relations.items() if one.ended]
    assert ended == ["Mara likes badminton"]
    assert len(written.relations) == 4


def test_the_nearest_relations_are_shown_first_and_not_too_many(bag_of_words):
    rows = [relation("Mara", "owns", f"{word}") for word in ("kelp", "flute", "kayak", "anvil")]
    names = [entity(row["destination"]) for row in rows]
    llm = Scripted(
        entities=[names, [entity("kayak")]], relations=[rows, [relation("Mara", "sold", "kayak")]]
    )
    written = Written(llm, bag_of_words, shown=2)
    written.read(2, "I own kelp, a flute, a kayak and an anvil.")
    written.read(3, "I sold the kayak.")
    owned = ["1. Mara owns kayak", "2. Mara owns anvil"]
    assert shown(llm).splitlines() == [f"{one} (stated 2 March 2024)" for one in owned]
    assert llm.schemas[-1]["properties"]["conflicts"]["maxItems"] == 2
    assert [one.ended for one in written.relations.values()] == [None] * 5


def test_an_equal_name_is_near_whatever_the_embedder_makes_of_it(bag_of_words):
    rows = [
        relation("Mara", *one)
        for one in (("likes", "The Who"), ("likes", "kelp"), ("left", "the who"))
    ]
    names = [[entity(row["destination"])] for row in rows]
    llm = Scripted(entities=names, relations=[[row] for row in rows])
    written = Written(llm, bag_of_words, shown=1)
    for day in (2, 3, 4):
        written.read(day, "The Who, kelp, and The Who.")
    assert not bag_of_words.documents(["The Who"]).any()
    assert "1. Mara likes The Who" in llm.asked["conflicts"][-1]
    assert (written.graph.size()["nodes"], written.graph.size()["edges"]) == (3, 3)


def test_a_relation_says_when_it_was_stated_and_when_it_ended(bag_of_words):
    node = Node("mara", "Mara", "person", bag_of_words.documents(["Mara"])[0], 1, DAY, DAY)
    kelp = replace(node, id="kelp", name="kelp")
    one = Relation("mara", "eats", "kelp", 1, DAY, DAY.replace(hour=11))
    assert Related(one, (node, kelp)).dated == "Mara eats kelp (stated 2 March 2024)"
    one = replace(one, last_seen=DAY.replace(day=4), ended=DAY.replace(day=9))
    dates = "(stated 2 March 2024, last 4 March 2024, until 9 March 2024)"
    assert Related(one, (node, kelp)).dated == f"Mara eats kelp {dates}"


NAMES = [entity("badminton", "activity"), entity("kelp")]
EATS = [relation("Mara", "eats", "kelp")]


def written(embedder: CachedEmbedder, store: NetworkxRelations, owner: str, rows: Rows) -> Written:
    one = Written(Scripted(entities=[NAMES], relations=[rows]), embedder, store, owner)
    one.read(2, "badminton and kelp")
    return one


@pytest.mark.parametrize("on_conflict", ["delete", "invalidate"])
def test_a_conflict_ends_the_relation_of_another_owner_in_view(bag_of_words, on_conflict):
    store = NetworkxRelations()
    run = written(bag_of_words, store, "alice/r1", [*LIKES, *EATS])
    stranger = written(bag_of_words, store, "bob", LIKES)
    llm = Scripted(entities=[NAMES[:1]], relations=[NO_MORE], conflicts=[[conflict(1)]])
    user = Written(llm, bag_of_words, store, "alice", ["alice/r1"], on_conflict=on_conflict)
    assert set(user.relations) == {"Mara likes badminton", "Mara eats kelp"}
    user.read(3, "I do not like badminton any more.")
    assert "1. Mara likes badminton" in llm.asked["conflicts"][0]
    still = {text for text, one in user.relations.items() if one.ended is None}
    assert still == {"Mara does not like badminton", "Mara eats kelp"}
    ended = [one.ended for text, one in run.relations.items() if text == "Mara likes badminton"]
    assert ended == ([] if on_conflict == "delete" else [DAY.replace(day=3)])
    assert stranger.relations["Mara likes badminton"].ended is None
    assert [one.name for one in store.relations("alice")] == ["does not like"]


def test_a_relation_of_two_owners_is_found_once_and_valid_while_it_is_for_one(bag_of_words):
    store = NetworkxRelations()
    written(bag_of_words, store, "a", LIKES)
    second = Written(Scripted(entities=[NAMES], relations=[LIKES]), bag_of_words, store, "b", ["a"])
    second.read(4, "badminton")
    (one,) = second.relations.values()
    assert (one.mentions, one.created, one.last_seen) == (2, DAY, DAY.replace(day=4))
    assert one.turns == ("D4:1", "D2:1")
    assert [node.mentions for node in store.nodes("b")] == [1, 1]  # not those of the other owner
    assert second.graph.around(["badminton"]) == [(one, pytest.approx(1.0))]
    (old,) = store.relations("a")
    store.drop_relations("a", [old.key])
    assert second.relations["Mara likes badminton"].mentions == 1
    second.graph.clear()
    assert [bool(store.nodes(owner)) for owner in "ab"] == [True, False]


def test_a_node_of_another_owner_takes_in_an_equal_or_like_name(bag_of_words):
    store = NetworkxRelations()
    for owner, does, market in (
        ("a", "sells at", "the Lantern market"),
        ("b", "left", "Lantern markets"),
    ):
        rows = [relation("Mara", does, market)]
        llm = Scripted(entities=[[entity(market)]], relations=[rows])
        user = Written(llm, bag_of_words, store, owner, ["a"])
        user.read(2, f"Mara {does} {market}.")
    expected = {f"Mara {does} the Lantern market" for does in ("sells at", "left")}
    assert set(user.relations) == expected
    assert {node.id for node in store.nodes("b")} == {"mara", "the lantern market"}


def test_the_order_of_the_other_owners_changes_nothing(bag_of_words):
    store = NetworkxRelations()
    for owner, rows in (("a", LIKES), ("b", EATS), ("c", NO_MORE)):
        written(bag_of_words, store, owner, rows)
    one, other = (
        Written(Scripted(), bag_of_words, store, "d", [*others]).graph.around(["Mara"])
        for others in ("abc", "caba")
    )
    assert (one, len(one)) == (other, 3)


def test_a_relation_that_ended_for_all_of_its_owners_ended_with_the_last(bag_of_words):
    store = NetworkxRelations()
    for owner, day in (("a", 3), ("b", 5)):
        (eats,) = written(bag_of_words, store, owner, EATS).relations.values()
        store.put_relations(owner, [replace(eats, ended=DAY.replace(day=day))])
    both = Written(Scripted(), bag_of_words, store, "a", ["b"]).graph.around(["Mara"])
    assert [one.ended for one, _ in both] == [DAY.replace(day=5)]
