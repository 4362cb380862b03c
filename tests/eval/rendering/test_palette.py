"""Colours and marks of charts."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from eval.rendering.charts import curves, places
from eval.rendering.page import render
from eval.rendering.palette import COLOURS, MARKERS, Look, css, looks
from eval.rendering.plots import pareto

CONF = Path(__file__).parents[3] / "conf" / "strategy"
SHIPPED = sorted(path.stem for path in CONF.glob("*.yaml"))
GROUNDS = ("#ffffff", "#14171b")  # of pages, by light and in the dark


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _pairs(labels: list[str]) -> set[tuple[int, int]]:
    return {(look.colour, look.marker) for look in looks(labels)}


def test_shipped_strategies_differ_and_look_the_same_in_all_company():
    assert len(_pairs(SHIPPED)) == len(SHIPPED) > 20
    for name in SHIPPED:
        others = [one for one in ("mine", "bm25", "other", "a") if one != name]
        assert looks([*others, name])[-1] == looks([name])[0]
        for label in (f"k=5 strategy={name}", f"2026-01-01_10-00-00_{name}"):
            assert _pairs([label]) == _pairs([name])


def test_unknown_strategies_differ_in_any_order():
    names = [f"mine_{n}" for n in range(30)]
    assert len(_pairs([*names, *SHIPPED[:20]])) == 50
    found = {look.name: look for look in looks([*names, *SHIPPED[:20]])}
    again = looks([*reversed(names)])
    assert all(found[look.name] == look for look in again)


def test_runs_of_one_strategy_differ():
    beside = looks(["bm25", "graph_expand k=1", "graph_expand k=2", "graph_expand k=3"])
    assert len({look.colour for look in beside[1:]}) == 1
    assert len({look.marker for look in beside[1:]}) == 3
    alone = looks([f"graph_expand k={k}" for k in range(6)])
    assert len({look.colour for look in alone}) == 6
    for name in ("bm25 k=", "mine_"):  # there are fewer looks
        assert len(looks([f"{name}{k}" for k in range(200)])) == 200


@pytest.mark.parametrize("ground", [0, 1])
def test_colours_are_seen_on_their_ground(ground):
    for pair in COLOURS.values():
        low, high = sorted([_luminance(pair[ground]), _luminance(GROUNDS[ground])])
        assert (high + 0.05) / (low + 0.05) >= 3


def test_pages_define_the_colours_and_no_marker_is_a_dash():
    assert css() in render("report.html.j2", title="", policy="", blocks=[])
    assert not {*MARKERS} & {*"_|-,."}


def test_names_cover_neither_points_nor_names():
    points = [(100.0, 100.0), (102.0, 101.0), (104.0, 99.0), (200.0, 50.0)]
    found = places(
        points, ["vector_only", "graph_expand", "hybrid_gate", "bm25"], (44, 14, 358, 250)
    )
    areas = [place.rectangle for place in found if place is not None]
    assert len(areas) == 4
    marks = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    for one, other in [*combinations(areas, 2), *((a, m) for a in areas for m in marks)]:
        apart = one[2] <= other[0] or other[2] <= one[0]
        assert apart or one[3] <= other[1] or other[3] <= one[1]
    assert places([(60.0, 60.0)], ["a very long name of a run"], (44, 14, 100, 100)) == [None]


@pytest.mark.parametrize(("number", "marked"), [(1, [50]), (3, [20, 50, 80])])
def test_a_curve_is_marked_at_its_median_and_like_curves_apart(number, marked):
    points = [(float(n), n / 100) for n in range(1, 101)]
    looks = [Look(f"run {n}", n, 0) for n in range(number)]
    svg = curves("Latencies", [points] * number, looks, ("ms", "share"))
    places = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', svg)]
    shares = [100 * (215 - y) / (215 - 22) for y in places]  # the axis has 0 at 215 and 1 at 22
    assert shares == pytest.approx(marked, abs=0.1)
    assert svg.count("median 50.0") == number


def test_pareto_front():
    assert pareto([(1, 1), (2, 2), (3, 2), (2, 1), (4, 3)]) == [True, True, False, False, True]
    assert pareto([(1, 1), (1, 1)]) == [True, True]
    assert pareto([(1, 1), (1, 2)]) == [False, True]
