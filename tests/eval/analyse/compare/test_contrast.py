"""Differences, their tests and verdicts on scores whose truth is chosen."""

import pytest

from eval.metrics.stats.interval import Interval
from eval.metrics.stats.paired import holm, mcnemar
from eval.summary.contrast import Row, contrast, needed_difference, verdict
from eval.summary.measures import Measure, share
from tests.eval.analyse.compare.made_runs import (
    ALL_TYPES,
    CONVERSATIONS,
    judged,
    noisy,
    records,
    run,
)

F1 = Measure("locomo_f1", ALL_TYPES)


def rows_of(measure: Measure, *runs: list[dict]) -> dict[str, Row]:
    compared = [run(f"run{i}", rows) for i, rows in enumerate(runs)]
    (found,) = contrast([(measure, share(compared, measure))], seed=0)
    return {row.type: row for row in found}


def test_a_row_for_each_type_with_n_and_means():
    found = rows_of(F1, records(), records(shift=0.1))
    assert tuple(found) == ALL_TYPES
    assert (found["temporal"].n, found["temporal"].clusters) == (80, 8)
    assert found["overall"].n == 320  # without type 5
    # .3 + .01 * 3.5 + .02 * 4.5
    assert [own.value for own in found["temporal"].means] == pytest.approx([0.425, 0.525])
    assert all(own.low < own.value < own.high for own in found["temporal"].means)


def test_a_clear_difference_is_better_and_its_mirror_worse():
    for by, told in ((0.1, "better"), (-0.1, "worse")):
        found = rows_of(F1, records(), noisy(by, 0.05))["overall"].contrasts[0]
        assert found.verdict == told
        assert found.difference.value == pytest.approx(by)
        assert found.effect == pytest.approx(20 * by, rel=0.01)  # .1 in .05
        assert found.p_holm < 0.05


def test_noise_without_a_difference_shows_none_and_says_what_it_takes():
    noise = rows_of(F1, records(), noisy(0.0, 0.2))["temporal"].contrasts[0]
    equal = rows_of(F1, records(), records())["overall"].contrasts[0]
    assert noise.verdict == equal.verdict == "no difference shown"
    assert noise.p_holm == equal.p_holm == 1.0
    assert noise.needed > 0.05
    assert (equal.difference.value, equal.needed) == (0.0, 0.0)


def test_p_is_adjusted_over_every_comparison_shown():
    runs = [run("x"), run("y", noisy(0.01, 0.2)), run("z", noisy(0.02, 0.2))]
    measures = [F1, Measure("abstained", ("adversarial", "overall"))]
    tables = contrast([(measure, share(runs, measure)) for measure in measures], seed=0)
    shown = [one for rows in tables for row in rows for one in row.contrasts]
    assert len(shown) == 2 * (6 + 2)
    assert [one.p_holm for one in shown] == pytest.approx(holm([one.p for one in shown]))
    assert any(one.p_holm > one.p for one in shown)


def test_mcnemar_stands_beside_scores_that_are_right_or_wrong_and_no_others():
    ids = [f"{c}/{400 + i}" for c in CONVERSATIONS for i in range(10)]
    first, second = judged(records(), *ids[:40]), judged(records(), *ids[30:60])
    found = rows_of(Measure("judge", ALL_TYPES), first, second)
    assert found["single_hop"].contrasts[0].p_mcnemar == mcnemar(30, 20)
    assert found["temporal"].contrasts[0].p_mcnemar == 1.0
    found = rows_of(F1, records(), records(shift=0.1))
    # Type 5 is right or wrong here, but the score is not one of two values.
    assert {row.contrasts[0].p_mcnemar for row in found.values()} == {None}


def test_abstaining_is_right_on_adversarial_and_wrong_elsewhere():
    refusing = records({5: 0.0})
    eager = [row | {"abstained": True} for row in refusing]
    found = rows_of(Measure("abstained", ("adversarial", "overall")), refusing, eager)
    contrasts = {name: row.contrasts[0] for name, row in found.items()}
    told = {name: (one.difference.value, one.verdict) for name, one in contrasts.items()}
    assert told == {"adversarial": (1.0, "better"), "overall": (1.0, "worse")}


def test_differences_are_those_of_the_means_to_the_first_run():
    short = noisy(0.1, 0.05)[25:]  # not all questions
    found = rows_of(F1, records(), short, noisy(0.2, 0.1))
    for row in found.values():
        first, *others = (own.value for own in row.means)
        differences = [one.difference.value for one in row.contrasts]
        assert differences == pytest.approx([own - first for own in others])
    overall = [one.difference.value for one in found["overall"].contrasts]
    assert overall == pytest.approx([0.1, 0.2], abs=0.01)


@pytest.mark.parametrize(
    ("low", "high", "p", "lower", "expected"),
    [
        (0.01, 0.05, 0.049, False, "better"),
        (0.01, 0.05, 0.05, False, "no difference shown"),
        (0.0, 0.05, 0.001, False, "no difference shown"),
        (-0.01, 0.05, 0.001, False, "no difference shown"),
        (-0.05, -0.01, 0.001, False, "worse"),
        (-0.05, -0.01, 0.001, True, "better"),
        (0.01, 0.05, 0.001, True, "worse"),
    ],
)
def test_a_verdict_needs_both_p_and_interval(low, high, p, lower, expected):
    between = Interval((low + high) / 2, low, high, 0.01, 100, 10)
    assert verdict(between, p, lower=lower) == expected


def test_what_is_needed_is_the_greater_of_both_conditions():
    assert needed_difference(0.05, 0.0, 1) == 0.05
    # 1.959964 + .841621 for one comparison; z of 1 - .025 / 10 is 2.807034
    assert needed_difference(0.0, 0.01, 1) == pytest.approx(0.02801585, rel=1e-6)
    assert needed_difference(0.0, 0.01, 10) == pytest.approx(0.03648655, rel=1e-6)
