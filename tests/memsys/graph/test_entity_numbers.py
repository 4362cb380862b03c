"""Entities under numbers are the entities under text."""

from __future__ import annotations

import pytest

from memsys.graph.entities import NumberedKeys, entities, entities_in, names_of

TEXTS = [
    "Mara: We drove to Old Harbour, to old harbour! the red bowl",
    'She read "the long tides" and long tide tables; "one two three four"',
    "用camera拍照，我读《三 体》，《活着 的 人》",
    "red 2023 bowl and a Red Bowl in Oslo. Oslo Red",
    "",
]


@pytest.mark.parametrize("speakers", [[], ["Mara"], ["Mara", "Old Harbour", "三 体"]])
def test_numbers_stand_for_the_same_keys_in_the_same_order(speakers: list[str]) -> None:
    keys = NumberedKeys()
    ignored = frozenset(keys.number(name) for name in names_of(frozenset(speakers)))
    for text in TEXTS:
        found = entities_in(text, ignored, keys)
        texts = keys.texts(list(found))
        expected = entities(text, speakers)
        assert list(zip(texts, found.values(), strict=True)) == list(expected.items())


def test_a_key_has_one_number_whatever_it_came_from() -> None:
    keys = NumberedKeys()
    quoted = keys.quoted("high tides")
    high, tide = keys.read("high")[0], keys.read("tides")[0]
    assert high is not None
    assert tide is not None
    assert quoted == keys.phrase(high, tide) == keys.number("high tide")
    assert keys.phrase(tide, high) != quoted
    assert len({high, tide, quoted, keys.number("one two three")}) == 4
    assert keys.quoted("of the") is None
