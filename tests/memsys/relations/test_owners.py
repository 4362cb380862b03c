"""A graph that writes for one owner and reads and ends the relations of several."""

from __future__ import annotations

import pytest

from memsys.embed.cache import CachedEmbedder
from memsys.stores.networkx_relations import NetworkxRelations
from tests.memsys.relations.models import DAY, Rows, Scripted, Written, conflict, entity, relation

NAMES = [entity("badminton", "activity"), entity("kelp")]
LIKES = [relation("Mara", "likes", "badminton")]
EATS = [relation("Mara", "eats", "kelp")]
NO_MORE = [relation("Mara", "does not like", "badminton")]


def written(embedder: CachedEmbedder, store: NetworkxRelations, owner: str, rows: Rows) -> Written:
    one = Written(Scripted(entities=[NAMES], relations=[rows]), embedder, store, owner)
    one.read(2, "badminton and kelp")
    return one


@pytest.mark.parametrize("on_conflict", ["delete", "invalidate"])
def test_a_conflict_ends_the_relation_of_another_owner_in_view(
    bag_of_words: CachedEmbedder, on_conflict: str
) -> None:
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


def test_a_relation_of_two_owners_is_found_once_and_valid_while_it_is_for_one(
    bag_of_words: CachedEmbedder,
) -> None:
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
    assert store.nodes("a")
    assert not store.nodes("b")


def test_a_node_of_another_owner_takes_in_an_equal_or_like_name(
    bag_of_words: CachedEmbedder,
) -> None:
    store = NetworkxRelations()
    market = [relation("Mara", "sells at", "the Lantern market")]
    llm = Scripted(entities=[[entity("the Lantern market")]], relations=[market])
    Written(llm, bag_of_words, store, "a").read(2, "I sell at the Lantern market.")
    left = [relation("Mara", "left", "Lantern markets")]
    llm = Scripted(entities=[[entity("Lantern markets")]], relations=[left])
    user = Written(llm, bag_of_words, store, "b", ["a"])
    user.read(3, "I left the Lantern markets.")
    assert set(user.relations) == {
        "Mara sells at the Lantern market",
        "Mara left the Lantern market",
    }
    assert {node.id for node in store.nodes("b")} == {"mara", "the lantern market"}


def test_the_order_of_the_other_owners_changes_nothing(bag_of_words: CachedEmbedder) -> None:
    store = NetworkxRelations()
    for owner, rows in (("a", LIKES), ("b", EATS), ("c", NO_MORE)):
        written(bag_of_words, store, owner, rows)
    seen = [
        Written(Scripted(), bag_of_words, store, "d", others).graph.around(["Mara"])
        for others in (["a", "b", "c"], ["c", "a", "b", "a"])
    ]
    assert seen[0] == seen[1]
    assert len(seen[0]) == 3
