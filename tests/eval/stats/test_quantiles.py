"""Quantiles against printed tables and closed forms."""

from __future__ import annotations

import math

import pytest

from eval.stats.quantiles import normal_quantile, t_quantile

# Student's t as tables of the distribution print it.
TABLE = [
    *((0.975, 1, 12.706), (0.995, 1, 63.657), (0.975, 2, 4.303), (0.95, 3, 2.353)),
    *((0.975, 3, 3.182), (0.975, 4, 2.776), (0.995, 5, 4.032), (0.9995, 5, 6.869)),
    *((0.90, 9, 1.383), (0.975, 9, 2.262), (0.995, 9, 3.250), (0.9995, 9, 4.781)),
    *((0.75, 10, 0.700), (0.975, 20, 2.086), (0.975, 30, 2.042), (0.975, 120, 1.980)),
]


@pytest.mark.parametrize(("probability", "degrees", "printed"), TABLE)
def test_t_is_that_of_the_tables(probability: float, degrees: int, printed: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(printed, abs=6e-4)


def chance_below(x: float, degrees: int, steps: int = 4000) -> float:
    """Student's t below x: by x = sqrt(n) tan(a) its density is c cos(a)^(n - 1) (Simpson)."""
    end = math.atan(x / math.sqrt(degrees))
    heights = [math.cos(end * i / steps) ** (degrees - 1) for i in range(steps + 1)]
    area = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    log_c = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(math.pi) / 2
    return 0.5 + math.exp(log_c) * area * end / steps / 3


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 19, 50])
@pytest.mark.parametrize("probability", [0.51, 0.6, 0.8, 0.975, 0.9995])
def test_t_inverts_the_distribution(probability: float, degrees: int) -> None:
    found = chance_below(t_quantile(probability, degrees), degrees)
    assert found == pytest.approx(probability, abs=2e-6)


def test_t_is_symmetric_and_0_at_one_half() -> None:
    for degrees in (1, 2, 3, 9, 100):
        assert t_quantile(0.5, degrees) == pytest.approx(0, abs=1e-12)
        assert t_quantile(0.025, degrees) == -t_quantile(0.975, degrees)


def test_t_becomes_the_normal() -> None:
    assert normal_quantile(0.975) == pytest.approx(1.959964, abs=1e-6)
    assert t_quantile(0.975, 10**6) == pytest.approx(normal_quantile(0.975), abs=1e-5)


@pytest.mark.parametrize(("probability", "degrees"), [(0, 3), (1, 3), (1.5, 3), (0.9, 0)])
def test_t_of_what_is_none_is_refused(probability: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="t_quantile"):
        t_quantile(probability, degrees)
