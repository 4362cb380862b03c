"""Means, shares and differences."""

from __future__ import annotations

import pytest

from eval.metrics.stats.agreement import wilson
from eval.metrics.stats.interval import Interval
from eval.rendering.contrasts import difference_cells
from eval.summary.contrast import paired_contrasts
from eval.summary.sample import Sample, by_type, wilson_share
from tests.eval.analyse.diagnose.made_runs import record

SEVERAL = "aabbccde"


def sample(values: list, conversations: str = SEVERAL) -> Sample:
    return Sample(values, list(conversations[: len(values)]), seed=0)


def test_unknown_values_are_in_no_figure():
    found = sample([1.0, None, 0.5, None, 0.0]).score()
    assert (found.value, found.n) == (0.5, 3)
    assert sample([None, None]).mean() is None
    assert sample([]).score() is None
    assert sample([]).share() is None


@pytest.mark.parametrize("conversations", ["a" * 8, "aabbccdd", SEVERAL])
def test_a_share_within_fewer_than_five_conversations_is_wilsons(conversations):
    low, high = wilson(3, 8)
    wanted = Interval(0.375, low, high, n=8, clusters=len(set(conversations)))
    found = sample([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], conversations).share()
    assert found.value == 0.375
    assert (repr(found) == repr(wanted)) == (conversations != SEVERAL)
    assert ((found.low, found.high) == (low, high)) == (conversations != SEVERAL)


def test_equal_values_have_a_width():
    found = sample([1.0] * 8).score()
    assert repr(found) == repr(wilson_share([True] * 8))
    assert found.low < 0.7
    alone = sample([0.3]).score()
    assert (alone.value, alone.low, alone.high, alone.n) == (0.3, 0.0, 1.0, 1)


def test_scores_stay_between_0_and_1_and_means_do_not():
    values = [0.0, 0.0, 0.0, 0.1, 0.0, 0.9, 0.0, 0.0]
    assert sample(values).mean().low < sample(values).score().low == 0.0


def test_types_1_to_4_and_then_together():
    rows = [record(f"a/{i}", category=category) for i, category in enumerate((4, 1, 5, 4))]
    found = {name: [row["id"] for row in own] for name, own in by_type(rows)}
    assert list(found) == ["multi_hop", "single_hop", "overall"]
    assert found["overall"] == ["a/0", "a/1", "a/3"]
    assert list(by_type(rows[2:3])) == []


def test_differences_have_holms_p_and_the_verdict_of_a_comparison():
    rows = [record(f"{SEVERAL[i % 8]}/{i}") for i in range(64)]
    better = [0.2 + 0.01 * (i % 3) for i in range(64)]
    worse = [-value for value in better]
    none = [0.1 if i // 8 % 2 else -0.1 for i in range(64)]

    def cells_of(*differences: list[float]) -> list[list[str]]:
        judged = paired_contrasts([Sample.of(rows, one, 0) for one in differences])
        return [difference_cells(one) for one in judged]

    (alone,) = cells_of(better)
    cells = cells_of(better, worse, none, [0.0] * 64)
    assert alone[0] == cells[0][0]
    assert (alone[1], cells[0][1]) == ("< 0.0001", "0.0004")
    assert [row[2].partition(" (")[0] for row in cells] == [
        *("better", "worse", "no difference shown", "no difference shown")
    ]
    assert cells[0][0].startswith("+0.210 [+0.2")
    assert cells[1][0].startswith("-0.210 [-0.2")
    assert "(detectable: 0." in cells[2][2]
    assert cells[3] == [
        "0.000 [0.000, 0.000]",
        "1.0000",
        "no difference shown (all scores are equal)",
    ]
