"""Numbers of entity keys."""

from __future__ import annotations

from memsys.graph.entities import NumberedKeys


def test_a_key_has_one_number_whatever_it_came_from() -> None:
    keys = NumberedKeys()
    quoted = keys.quoted("high tides")
    high, tide = keys["high"][0], keys["tides"][0]
    assert high is not None
    assert tide is not None
    assert quoted == keys.phrase(high, tide) == keys.number("high tide")
    assert keys.phrase(tide, high) != quoted
    assert len({high, tide, quoted, keys.number("one two three")}) == 4
    assert keys.quoted("of the") is None
