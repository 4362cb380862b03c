"""Results of servers as items, and the turns that they are evidence of."""

from __future__ import annotations

from typing import Any

import pytest

from baselines.libraries.pipe import LibraryError
from baselines.mcp.results import Item, Stored, items_of
from memsys.core.types import UNDATED
from tests.memsys.build import NOON, memory


def items(structured: Any = None, *texts: str) -> list[Item]:
    return items_of({"structured": structured, "texts": list(texts)})


def stored(*texts: str) -> Stored:
    made = Stored()
    for number, text in enumerate(texts, 1):
        made.add(memory(f"D1:{number}", text), {})
    return made


@pytest.mark.parametrize(
    ("structured", "texts"),
    [
        ({"results": [{"memory": "a"}, {"memory": "b"}]}, ()),
        ({"result": [{"text": "a"}, {"text": "b"}]}, ()),
        ({"result": '["a", "b"]'}, ()),
        (None, ('{"memories": [{"content": "a"}, {"content": "b"}]}',)),
        (None, ('{"content": "a"}', '{"content": "b"}')),
        ({"data": {"items": [{"memory": {"content": "a"}}, {"fact": "b"}]}}, ()),
        ({"entities": [{"name": "x", "observations": ["a"]}, {"observations": ["b"]}]}, ()),
    ],
)
def test_the_layouts_of_servers_are_items_in_their_order(structured, texts):
    assert [one.text for one in items(structured, *texts)] == ["a", "b"]


@pytest.mark.parametrize("structured", [{"results": []}, {"entities": [], "relations": []}, {}])
def test_nothing_found_is_no_item(structured):
    assert items(structured) == []


@pytest.mark.parametrize(
    ("structured", "text"),
    [
        (None, "Error searching memories: no storage"),
        ({"error": "no storage"}, ""),
        ({"success": False, "message": "no storage"}, ""),
    ],
)
def test_an_error_that_is_not_marked_is_an_error(structured, text):
    with pytest.raises(LibraryError, match="no storage"):
        items(structured, text)


def test_a_stored_text_is_its_memory_and_a_score_is_the_servers():
    rows = items({"results": [{"text": "Bo: I moved to Rome", "score": 0.7}]})
    (found,) = stored("Ada: Hi", "Bo: I moved  to Rome").candidates(rows)
    assert (found.memory.turns, found.memory.time, found.score) == (("D1:2",), NOON, 0.7)


def test_each_of_two_results_with_one_text_is_evidence_of_one_turn():
    of = stored("Ada: Thanks!", "Bo: Why?", "Ada: Thanks!")
    found = of.candidates(items({"result": ["Ada: Thanks!", "Ada: Thanks!", "Ada: Thanks!"]}))
    assert [one.memory.turns for one in found] == [("D1:1",), ("D1:3",)]
    named = {"text": "Ada: Thanks!", "metadata": {"turns": ["D1:3"]}}
    assert of.candidates(items({"results": [named]}))[0].memory.turns == ("D1:3",)


def test_plain_text_is_divided_at_stored_texts_the_longest_first():
    of = stored("Ada: I moved", "Ada: I moved to Rome", "Bo: Why did you?")
    text = "Found 2:\n1. Bo: Why did\nyou? (score 0.9)\n2. Ada: I moved to Rome (score 0.1)"
    found = of.candidates(items(None, text))
    assert [one.memory.turns for one in found] == [("D1:3",), ("D1:2",)]
    assert [one.score for one in found] == [1, 1 / 2]


def test_parts_of_a_cut_text_are_evidence_and_all_that_is_shown():
    of = stored(
        "Ada: I moved to Rome in May with my two old dogs", "Bo: I moved to Rome in May too"
    )
    text = (
        '<results> <item id="7">...d to Rome in May with my two old...</item> '
        "<item>Ada: I moved...</item> <item>I moved to Rome in May...</item></results>"
    )
    (found,) = of.candidates(items(None, text))
    assert found.memory.turns == ("D1:1",)
    assert found.memory.content == "d to Rome in May with my two old"


def test_a_rewritten_text_has_the_turns_that_it_names_and_no_others():
    of = stored("Ada: I moved to Rome", "Bo: Why?")
    rows = [
        {"text": "Ada lives in Rome", "turns": ["D1:1", "D9:9"]},
        {"text": "Somebody asked why", "turns": ["D9:9"]},
    ]
    first, second = of.candidates(items({"results": rows}))
    assert (first.memory.turns, first.memory.time) == (("D1:1",), NOON)
    assert (second.memory.turns, second.memory.time) == ((), UNDATED)
    assert second.memory.content == "Somebody asked why"
