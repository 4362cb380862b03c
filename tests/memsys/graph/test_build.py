from dataclasses import replace
from math import log

import pytest

from memsys.core.errors import InputError
from memsys.core.types import UNDATED, Memory
from memsys.graph.build import GraphSettings, build_graph
from memsys.graph.store import Edge
from tests.memsys.build import memory


def rules(**change: float) -> GraphSettings:
    numbers = {"max_entities": 8, "max_share": 0.6, "keyword_weight": 0.7, "name_weight": 0.9}
    return GraphSettings(**{**numbers, **change})  # type: ignore[arg-type]


# kiln stands in three of five, sea in two, pottery and rain in one
WORDS = {"a": "pottery, kiln", "b": "kiln", "c": "kiln, sea", "d": "sea", "e": "rain"}
FIVE = [memory(id_, f"Mara: {words}") for id_, words in WORDS.items()]
KILN, SEA = 0.7 * log(5 / 3) / log(5), 0.7 * log(5 / 2) / log(5)


def near(edges: list[Edge]) -> dict[str, tuple[str, float]]:
    return {edge.node: (edge.kind, pytest.approx(edge.weight)) for edge in edges}


def test_weights_by_the_formulas():
    graph = build_graph(FIVE, rules())
    nodes = [f"m:{one.id}" for one in FIVE]
    a, b, c, d, e = (near(edges) for edges in graph.store.neighbours(nodes))
    assert a == b == {"e:kiln": ("mentions", KILN)}
    assert c == {"e:kiln": ("mentions", KILN), "e:sea": ("mentions", SEA)}
    assert d == {"e:sea": ("mentions", SEA)}
    assert e == {}
    # Jaccard: together in c, of four memories that have one of them
    assert near(graph.store.neighbours(["e:kiln"])[0])["e:sea"] == ("related_to", 0.25)
    assert graph.start_nodes == {"a": "e:kiln", "b": "e:kiln", "c": "e:sea", "d": "e:sea"}


def test_an_entity_of_too_many_memories_is_dropped_but_two_may_always_share():
    graph = build_graph(FIVE, rules(max_share=0.5))
    assert graph.store.neighbours(["e:kiln"]) == [[]]
    assert graph.start_nodes == {"c": "e:sea", "d": "e:sea"}
    assert build_graph(FIVE, rules(max_share=0.01)).start_nodes == {"c": "e:sea", "d": "e:sea"}


def test_a_phrase_outweighs_a_name_and_a_name_a_keyword():
    said = zip("abcd", ["so red bowl for Oslo", "so red bowl in Oslo", "tea", "tea"], strict=True)
    half = log(4 / 2) / log(4)
    graph = build_graph([memory(id_, f"Mara: {words}") for id_, words in said], rules())
    assert near(graph.store.neighbours(["m:a"])[0]) == {
        "e:red bowl": ("mentions", half),
        "e:oslo": ("mentions", 0.9 * half),
        **dict.fromkeys(("e:red", "e:bowl"), ("mentions", 0.7 * half)),
    }
    assert graph.start_nodes["a"] == "e:red bowl"
    assert near(graph.store.neighbours(["e:oslo"])[0])["e:red"] == ("related_to", 1.0)


def test_a_title_is_a_node_even_if_one_memory_has_it():
    titled = [replace(FIVE[2], title="Evening swims"), *FIVE[:2], *FIVE[3:]]
    graph = build_graph(titled, rules())
    assert graph.start_nodes["c"] == "e:even swim"
    assert graph.start_nodes["d"] == "e:sea"  # without a title: its heaviest entity
    c, swims = (near(edges) for edges in graph.store.neighbours(["m:c", "e:even swim"]))
    assert c == {
        "e:even swim": ("mentions", 1.0),
        "e:kiln": ("mentions", KILN),
        "e:sea": ("mentions", SEA),
    }
    # Together in c, of the three memories that mention kiln and of the two that mention sea
    assert swims == {
        "m:c": ("mentions", 1.0),
        "e:kiln": ("related_to", pytest.approx(1 / 3)),
        "e:sea": ("related_to", 0.5),
    }


def test_a_title_leads_to_the_memories_that_mention_it():
    titled = [replace(FIVE[0], title="By the sea"), *FIVE[1:]]
    graph = build_graph(titled, rules())
    third = pytest.approx(log(5 / 3) / log(5))
    assert graph.start_nodes["a"] == "e:sea"
    sea = near(graph.store.neighbours(["e:sea"])[0])
    assert sea["m:a"] == ("mentions", third)  # a title counts as a phrase
    assert sea["m:c"] == sea["m:d"] == ("mentions", pytest.approx(0.7 * log(5 / 3) / log(5)))


def test_the_rarest_are_selected_and_a_title_takes_no_place_of_an_entity():
    titled = [replace(one, title="Summer") for one in FIVE]  # of all memories: of weight 0
    rarest = build_graph(FIVE, rules(max_entities=1))
    assert near(rarest.store.neighbours(["m:c"])[0]) == {"e:sea": ("mentions", SEA)}
    assert set(near(rarest.store.neighbours(["e:kiln"])[0])) == {"m:a", "m:b"}
    graph = build_graph(titled, rules(max_entities=1))
    found = near(graph.store.neighbours(["m:c"])[0])
    assert found == {"e:sea": ("mentions", SEA), "e:summer": ("mentions", 0.0)}


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["Mara: pottery, kiln"],
        ["Mara: kiln", "Mara: kiln"],  # all memories share it
        ["Mara: kiln", "Mara: sea", "Mara: ..."],
        ["Mara: bread", "Theo: for Mara", "Theo: rain", "Mara: snow"],  # speakers link nothing
    ],
)
def test_without_a_shared_entity_there_is_no_edge(texts):
    said = zip("abcd", texts, strict=False)
    memories = [memory(id_, text, speaker=text.partition(":")[0]) for id_, text in said]
    graph = build_graph(memories, rules())
    assert graph.start_nodes == {}
    assert graph.store.neighbours(["m:a", "m:b", "e:kiln"]) == [[], [], []]
    titled = build_graph([memory("a", "Mara: pottery", title="A hobby")], rules())
    assert titled.start_nodes == {"a": "e:hobbi"}  # a title is a node even so
    assert titled.store.neighbours(["m:a"]) == [[Edge("e:hobbi", "mentions", 1.0)]]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_entities", 0),
        ("min_association", -1),
        *(("max_share", value) for value in (0, 1.1)),
        *((f"{kind}_weight", -0.1) for kind in ("speaker", "date", "adjacent")),
        *((f"{kind}_weight", 1.1) for kind in ("phrase", "keyword", "name")),
    ],
)
def test_settings_out_of_range_are_named(field, value):
    with pytest.raises(InputError, match=rf"graph\.{field}: {value}"):
        rules(**{field: value})
    rules(max_share=1, keyword_weight=1, name_weight=1, max_entities=1)


def mentioned(memories: list[Memory], node: str, **change: float) -> dict[str, float]:
    """What a memory mentions, or the memories that mention an entity, with weights."""
    graph = build_graph(memories, rules(**{"max_share": 1, **change}))
    edges = graph.store.neighbours([node], mentions_only=True)[0]
    return {edge.node: edge.weight for edge in edges}


@pytest.mark.parametrize("kind", ["keyword", "phrase", "name"])
def test_a_kind_without_weight_is_no_node(kind):
    three = [memory("a", "so red bowl in Oslo"), memory("b", "so red bowl in Oslo")]
    three.append(memory("c", "tea"))
    nodes = {"keyword": ["e:red", "e:bowl"], "phrase": ["e:red bowl"], "name": ["e:oslo"]}
    assert mentioned(three, "m:a").keys() == {one for many in nodes.values() for one in many}
    left = mentioned(three, "m:a", **{f"{kind}_weight": 0})
    assert left.keys() == {one for other in nodes if other != kind for one in nodes[other]}


def test_phrases_of_words_that_meet_by_chance_link_nothing():
    # "stained glass" are never apart; "red bowl" are usually
    texts = ["stained glass", "red bowl", "stained glass", "red bowl", "red", "red", "bowl"]
    many = [memory(f"{i}", text) for i, text in enumerate([*texts, "bowl", "tea", "tea"])]
    assert mentioned(many, "m:1").keys() == {"e:red bowl", "e:red", "e:bowl"}
    assert mentioned(many, "m:1", min_association=5.0).keys() == {"e:red", "e:bowl"}
    assert "e:stain glass" in mentioned(many, "m:0", min_association=5.0)


def test_a_word_of_every_session_links_nothing_and_that_of_a_few_does():
    texts = {day: "bread, kiln" if day == 3 else "bread" for day in range(1, 7)}
    many = [memory(f"{day}{i}", text, day) for day, text in texts.items() for i in "abc"]
    many += [memory("z", "tea")]
    assert mentioned(many, "m:3a").keys() == {"e:bread", "e:kiln"}
    assert mentioned(many, "m:3a", min_concentration=0.3).keys() == {"e:kiln"}


def test_adjacent_memories_of_a_session_share_a_node_and_documents_do_not():
    three = [memory("a", "kiln"), memory("b", "sea"), memory("c", "rain", day=3)]
    weight = 0.5 * log(3 / 2) / log(3)
    found = mentioned(three, "e:after:a", adjacent_weight=0.5)
    assert found == pytest.approx({"m:a": weight, "m:b": weight})
    assert mentioned(three, "m:c", adjacent_weight=0.5) == {}  # of another session
    assert mentioned(three, "m:b", adjacent_weight=0.5).keys() == {"e:after:a"}
    documents = [memory(name, name, time=UNDATED) for name in ("kiln", "sea", "rain")]
    assert mentioned(documents, "m:sea", adjacent_weight=1, date_weight=1) == {}


def test_speakers_are_nodes_however_common_and_dates_by_day_and_month():
    three = [memory("a", "x"), memory("b", "y"), memory("c", "z", speaker="Theo")]
    found = mentioned(three, "e:speaker:Mara", speaker_weight=1, max_share=0.1)
    assert found == pytest.approx(dict.fromkeys(["m:a", "m:b"], log(3 / 2) / log(3)))
    said = [
        memory("a", "it was yesterday", day=2),
        memory("b", "not today, not in any way", day=1),
        memory("c", "two days ago!", day=8),
        memory("d", "it was last year"),
    ]
    found = mentioned(said, "e:date:2024-03-01", date_weight=1)
    assert found == pytest.approx(dict.fromkeys(["m:a", "m:b"], 0.5))
    assert mentioned(said, "e:date:2024-03", date_weight=1).keys() == {"m:a", "m:b", "m:c"}


def test_nodes_that_are_no_words_take_no_place_and_are_no_title():
    three = [memory("a", "kiln"), memory("b", "kiln sea"), memory("c", "sea", day=3)]
    more = {"max_entities": 1, "adjacent_weight": 1, "speaker_weight": 1, "keyword_weight": 0.1}
    assert mentioned(three, "m:a", **more).keys() == {"e:kiln", "e:after:a"}
    assert build_graph(three, rules(**more, max_share=1)).start_nodes["a"] == "e:kiln"
