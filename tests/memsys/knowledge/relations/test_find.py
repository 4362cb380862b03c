"""Relations are found by a question's entities and by its likeness to triples, and stay few."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import IndexSettings
from memsys.knowledge.relations.find import RelationFinder, RelationSettings, content_words
from memsys.llm.base import LLMError
from tests.memsys.knowledge.relations.models import (
    DAY,
    Scripted,
    Written,
    entity,
    relation,
    settings,
)

OWNED = ("kelp", "flute", "kayak", "anvil")
ROWS = [
    *(relation("Mara", "owns", word) for word in OWNED),
    relation("Theo", "plays", "flute"),
    relation("Theo", "lives in", "Bergen"),
]
NAMES = [entity(name) for name in (*OWNED, "Theo", "Bergen")]


def finder(written: Written, embedder: CachedEmbedder, **own: Any) -> RelationFinder:
    chosen = {"by": "both", "query_entities": "rule", "limit": 5, "similarity": 0.4, **own}
    index = IndexSettings(k1=0.9, b=0.4, alpha=0.5)
    return RelationFinder(
        written.graph, written.extractor, embedder, index, RelationSettings(**chosen)
    )


def told(embedder: CachedEmbedder, asked: Any = (), **own: Any) -> tuple[Written, RelationFinder]:
    llm = Scripted(entities=[NAMES, *asked], relations=[ROWS])
    written = Written(llm, embedder)
    written.read(2, "Mara owns kelp, a flute, a kayak and an anvil. Theo plays flute in Bergen.")
    assert written.faults == []
    return written, finder(written, embedder, **own)


def texts(found: Any) -> list[str]:
    return [candidate.memory.content for candidate in found[0]]


def test_by_entity_the_subgraph_is_found_ranked_by_words(bag_of_words):
    _, find = told(bag_of_words, by="entity", limit=2)
    found, trace = find.find("Who plays the flute?")
    assert set(texts((found,))) == {"Theo plays flute", "Mara owns flute"}  # in both directions
    assert trace["entities"] == ["plays", "flute"]
    assert [one["by"] for one in trace["found"]] == [["entity"], ["entity"]]
    assert trace["found"][0]["relation"] == found[0].memory.id == "r:theo|plays|flute"
    limited = texts(find.find("Does Mara have a kayak?"))
    assert (len(limited), "Mara owns kayak" in limited) == (2, True)


def test_a_further_hop_stands_behind_the_nearer_ones(bag_of_words):
    asked = [[entity("flute", "thing")]] * 2
    question = "Where is the house of who has a flute?"
    own = {"by": "entity", "query_entities": "llm"}
    written, find = told(bag_of_words, asked, **own, limit=9)
    assert set(texts(find.find(question))) == {"Theo plays flute", "Mara owns flute"}
    found = texts(finder(written, bag_of_words, **own, limit=9, hops=2).find(question))
    assert len(found) == len(ROWS)
    around = written.graph.sentences([one for one, _ in written.graph.around(["flute"], hops=2)])
    assert set(around[:2]) == {"Theo plays flute", "Mara owns flute"}
    assert "Theo lives in Bergen" in around[2:]
    assert len(written.graph.around(["Bergen"], hops=2)) == 2  # and not what is three hops away


def test_of_both_ways_none_takes_all_the_places(bag_of_words):
    asked = [[entity("Bergen", "place")]]
    _, find = told(bag_of_words, asked, query_entities="llm", limit=2)
    found, trace = find.find("Mara owns a kayak, a flute and kelp?")
    assert len(found) == 2
    assert "Theo lives in Bergen" in texts((found,))
    assert sorted(one["by"] for one in trace["found"]) == [["entity"], ["triple"]]
    assert [one["relation"] for one in trace["found"]] == [one.memory.id for one in found]
    assert found[0].score >= found[1].score
    assert json.loads(json.dumps(trace)) == trace


def test_by_triple_only_what_is_like_the_question(bag_of_words):
    _, find = told(bag_of_words, by="triple", similarity=0.6)
    (found,), trace = find.find("Where in Bergen does Theo live?")
    assert (found.memory.content, trace["entities"]) == ("Theo lives in Bergen", [])
    assert found.score >= 0.6
    assert find.find("What is for dinner?")[0] == []


def test_a_model_names_the_question_s_entities(bag_of_words):
    asked = [[entity("Mara", "person")], LLMError("gone")]
    _, find = told(bag_of_words, asked, by="entity", query_entities="llm", limit=1)
    # Of the relations around her, the one with the words of the question is the best.
    assert texts(find.find("Does she own a kayak?")) == ["Mara owns kayak"]
    with pytest.raises(LLMError, match="gone"):
        find.find("What floats?")


@pytest.mark.parametrize("question", ["What do I eat?", "What's my dish?", "我喜欢什么?"])
def test_a_question_about_me_is_about_the_user(bag_of_words, question):
    llm = Scripted(entities=[[entity("kelp")]], relations=[[relation("I", "eats", "kelp")]])
    written = Written(llm, bag_of_words, self_name="alice")
    written.read(2, "I eat kelp.", speaker="user")
    find = finder(written, bag_of_words, by="entity")
    found, trace = find.find(question)
    assert (texts((found,)), trace["entities"][-1]) == (["alice eats kelp"], "alice")
    assert find.find("Will somebody be in time?")[0] == []


def test_a_found_relation_is_a_candidate_that_the_graph_added(bag_of_words):
    written, find = told(bag_of_words)
    llm = written.extractor._llm
    llm.plans["relations"] = [[relation("Mara", "owns", "kelp")]]
    written.read(9, "Mara owns kelp.")
    (found,) = [one for one in find.find("kelp")[0] if "kelp" in one.memory.content]
    (stored,) = [one for one in written.graph.relations() if one.target == "kelp"]
    assert (found.origin, found.memory.id) == ("expanded", "r:mara|owns|kelp")
    expected = ("D2:1", "D9:1"), DAY, "Mara"
    assert (found.memory.turns, found.memory.time, found.memory.speaker) == expected
    assert (stored.created, stored.last_seen) == (DAY, DAY.replace(day=9))


def test_words_that_may_name_an_entity():
    assert list(content_words("When did Mara's sister visit the Lantern market?")) == [
        *("mara", "sister", "visit", "mara sister visit", "lantern", "market", "lantern market")
    ]
    assert list(content_words("沈岚 住 在 苏州 吗")) == ["沈岚", "住", "苏州"]
    assert list(content_words("")) == []


def test_a_wrong_setting_is_named(bag_of_words, tmp_path):
    for name, value in [("by", "words"), ("limit", 0), ("similarity", 1.5)]:
        with pytest.raises(InputError, match=f"^strategy.relations.{name}: "):
            finder(Written(Scripted(), bag_of_words), bag_of_words, **{name: value})
    for name, value in [("calls", "words"), ("exchange", 0), ("threshold", 7)]:
        with pytest.raises(InputError, match=f"^strategy.graph.{name}: "):
            settings(**{name: value})
    path = tmp_path / "own.txt"
    path.write_text("{messages} {stored}", encoding="utf-8")
    with pytest.raises(InputError, match=r"own.txt: the place \{new\} is missing"):
        assert settings(conflicts=str(path)).prompts
