"""Systems are ranked together only where data set, questions, protocol and answer key agree."""

from pathlib import Path

import pytest

from eval.cards.card.schema import Card
from eval.cards.site.board import Group, board
from eval.cards.site.cards import read_entries
from tests.eval.cards.site.made_cards import ALL_TYPES, HALF, LOCOMO, card, keyless, sha, write


def groups(folder: Path, *cards: Card, key: str = "original", protocol: str = "mem0"):
    return board(read_entries([write(folder, *cards)]), key, protocol).groups


def ranks(group: Group) -> dict[str, str]:
    return {one.system: rank for one, rank in zip(group.entries, group.ranks, strict=True)}


def test_ranks_go_by_f1_and_equal_scores_share_one(tmp_path):
    (group,) = groups(tmp_path, card("low", 0.2), card("b", 0.5), card("a", 0.5), card("mid", 0.3))
    assert list(ranks(group).items()) == [("a", "1"), ("b", "1"), ("mid", "3"), ("low", "4")]


@pytest.mark.parametrize(
    "other",
    [
        card("other", data=sha("another file")),
        card("other", dataset=LOCOMO | {"conversations": ["conv-26"]}),
        card("other", dataset=LOCOMO | {"limit": 5}),
        card("other", dataset=LOCOMO | {"_target_": "eval.datasets.locomo_plus.LoCoMoPlus"}),
        keyless("other"),
    ],
)
def test_systems_that_are_not_comparable_are_ranked_apart(tmp_path, other):
    found = groups(tmp_path, card("one"), other)
    assert sorted(map(ranks, found), key=str) == [{"one": "1"}, {"other": "1"}]
    elsewhere = LOCOMO | {"path": "mine.json", "name": "locomo10", "captions": False}
    (group,) = groups(tmp_path, card("one", 0.5), card("same questions", dataset=elsewhere))
    assert ranks(group) == {"one": "1", "same questions": "2"}


def test_a_protocol_with_more_types_parts_those_who_answered_more(tmp_path):
    cards = (card("four types", 0.3), card("five types", 0.4, types=ALL_TYPES))
    (together,) = groups(tmp_path, *cards)
    assert ranks(together) == {"five types": "1", "four types": "2"}
    for key in ("original", "excluded"):
        found = groups(tmp_path, *cards, protocol="locomo", key=key)
        assert list(map(ranks, found)) == [{"five types": "1"}, {"four types": "1"}]


@pytest.mark.parametrize("key", ["original", "corrected"])
def test_answers_to_some_of_the_questions_have_no_rank(tmp_path, key):
    whole, part = groups(tmp_path, card("whole", 0.2), card("part", 0.9, types=HALF), key=key)
    assert ranks(whole) == {"whole": "1"}
    assert ranks(part) == {"part": ""}
    assert "not all of the data set" in part.title
    assert "no ranks" in part.caption


def test_another_list_of_errors_is_another_key(tmp_path):
    one = card("one")
    errors = {"role": "key", "name": "mine.json", "bytes": 1, "sha256": sha("my errors")}
    fields = one.model_dump() | {"system": "other"}
    other = Card.model_validate(fields | {"files": [*fields["files"], errors]})
    assert len(groups(tmp_path, one, other)) == 1
    assert len(groups(tmp_path, one, other, key="corrected")) == 2


def test_a_system_without_a_score_there_is_listed_apart(tmp_path):
    scores = [one for one in card("x").model_dump()["scores"] if one["protocol"] != "memos"]
    entries = read_entries([write(tmp_path, card("one"), card("other", scores=scores))])
    found = board(entries, "original", "memos")
    assert [one.system for one in found.without] == ["other"]
    assert [ranks(group) for group in found.groups] == [{"one": "1"}]


def test_the_table_shows_what_the_card_says(tmp_path):
    group = groups(tmp_path, card("one", 0.41))[0]
    texts = {one.title: (one.cells[0].text, one.cells[0].note) for one in group.columns}
    assert texts["F1"] == ("0.400 [0.370, 0.430]", "")
    assert texts["temporal"] == ("0.360 [0.330, 0.390]", "")
    assert texts["BLEU-1"] == ("0.320 [0.290, 0.350]", "")
    assert texts["answered"] == ("1,540", "of 1,986")
    assert (texts["reader"][0], texts["judged by"][0]) == ("gpt-4.1-mini", "gpt-4o-mini")
    assert [column.note for column in group.columns if column.title == "judge"] == ["reported"]
    assert group.caption.startswith("multi_hop 282, temporal 321,")
    assert group.caption.endswith("data sha256 79fa87e90f04")


def test_a_verdict_of_this_project_is_not_marked_as_reported(tmp_path):
    own = [one | {"reported": False} for one in card("own").model_dump()["scores"]]
    (group,) = groups(tmp_path, card("theirs", 0.5), card("own", scores=own))
    judge = {column.title: column for column in group.columns}["judge"]
    assert (judge.note, [cell.note for cell in judge.cells]) == ("", ["reported", ""])


def test_a_reader_that_is_a_language_model_is_named_and_an_unknown_one_is_not_called_so(tmp_path):
    models = {"reader": "llm", "llm": "qwen3", "judge": None}
    (group,) = groups(tmp_path / "known", card("own", kind="run", models=models))
    assert "answers of language models" in group.title
    assert "unknown readers" not in group.title
    assert "qwen3" in [column.cells[0].text for column in group.columns]
    (group,) = groups(tmp_path / "unknown", card("one"), card("other", reader=None))
    assert "answers of language models or unknown readers" in group.title
