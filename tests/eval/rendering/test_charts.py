"""Where charts of reports put their marks."""

import re

import pytest

from eval.rendering.charts import curves
from eval.rendering.palette import Look


@pytest.mark.parametrize(("number", "marked"), [(1, [50]), (3, [20, 50, 80])])
def test_a_curve_is_marked_at_its_median_and_like_curves_apart(number, marked):
    points = [(float(n), n / 100) for n in range(1, 101)]
    looks = [Look(f"run {n}", n, 0) for n in range(number)]
    svg = curves("Latencies", [points] * number, looks, ("ms", "share"))
    places = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', svg)]
    shares = [100 * (215 - y) / (215 - 22) for y in places]  # the axis has 0 at 215 and 1 at 22
    assert shares == pytest.approx(marked, abs=0.1)
    assert svg.count("median 50.0") == number
