"""Item-response model: ability of each system, difficulty and discrimination of each question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval.datasets.subset import GRID, Floats
from eval.studies.lite.sampling import Indices
from eval.summary.subset_score import ABILITY_SD

_DIFFICULTIES = np.linspace(-6.0, 6.0, 41)
_LOG_SLOPES = np.linspace(-1.6, 1.2, 9)
_FLAT = 1e-4  # no answer is certain: curves are at least this far from 0 and 1


@dataclass(frozen=True, slots=True)
class ItemModel:
    """A fitted model of S systems and Q questions.

    `abilities` (S,); `slopes` and `difficulties` (Q,): posterior means; `curves` (Q, len(GRID)):
    the chance of a right answer at each ability of GRID, averaged over the posterior of the
    question's parameters; `spread`: standard deviation of the difficulties; `slope_spread`: of the
    logarithms of the slopes (0 in the one-parameter model).
    """

    abilities: Floats
    slopes: Floats
    difficulties: Floats
    curves: Floats
    spread: float
    slope_spread: float


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), elementwise."""
    result: Floats = 1.0 / (1.0 + np.exp(-x))
    return result


def fit(answers: Floats, *, slopes: bool = True, rounds: int = 80) -> ItemModel:
    """Fit P(right) = 1 / (1 + exp(-a (theta - b))) to `answers` (S, Q): 0, 1, NaN if unknown.

    The two-parameter logistic model (Birnbaum, 1968); with `slopes` False all a are 1 (Rasch,
    1960). There are few systems and many questions, so the questions' parameters are integrated
    out on a grid: b ~ Normal(0, spread), log a ~ Normal(0, slope_spread), both spreads estimated.
    This is the EM of Bock and Aitkin (1981) with the roles of persons and items exchanged (random
    items: De Boeck, 2008): E, the posterior of each question's parameters; M, a Newton step of
    each ability and the spreads in closed form; `rounds` times. Deterministic.
    """
    known = (~np.isnan(answers)).astype(np.float64)
    right: Floats = np.nan_to_num(answers)
    grid = np.exp(_LOG_SLOPES) if slopes else np.ones(1)
    a, b = (axis.ravel() for axis in np.meshgrid(grid, _DIFFICULTIES, indexing="ij"))
    share = np.clip(right.sum(1) / known.sum(1), 0.01, 0.99)
    abilities: Floats = np.log(share / (1 - share))
    spread, slope_spread, posterior = 1.5, 0.5 * slopes, np.zeros(0)
    for _ in range(rounds):
        chance = np.clip(logistic(a * (abilities[:, None] - b)), _FLAT, 1 - _FLAT)
        prior = -0.5 * (b / spread) ** 2
        if slopes:
            prior = prior - 0.5 * (np.log(a) / slope_spread) ** 2
        prior -= np.log(np.exp(prior).sum())
        log = right.T @ np.log(chance) + (known - right).T @ np.log(1 - chance) + prior
        posterior = np.exp(log - log.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        shift = float((posterior @ b).mean())  # ability 0 is the mean difficulty
        spread = float(np.sqrt((posterior @ (b - shift) ** 2).mean()))
        if slopes:
            slope_spread = max(0.05, float(np.sqrt((posterior @ np.log(a) ** 2).mean())))
        asked, got = known @ posterior, right @ posterior
        gradient = ((got - asked * chance) * a).sum(1) - abilities / ABILITY_SD**2
        curvature = (asked * chance * (1 - chance) * a**2).sum(1) + 1 / ABILITY_SD**2
        abilities = abilities + np.clip(gradient / curvature, -0.5, 0.5) - shift
    curves = posterior @ logistic(a[:, None] * (GRID - b[:, None]))
    return ItemModel(
        abilities,
        posterior @ a,
        posterior @ b,
        np.clip(curves, _FLAT, 1 - _FLAT),
        spread,
        slope_spread,
    )


def held_out(answers: Floats, seed: int, folds: int = 5) -> dict[str, float]:
    """Mean log-likelihood of held-out `answers` (S, Q) under each model; keys 1PL and 2PL.

    Each answer is hidden in one of `folds` fits.
    """
    fold = np.random.default_rng(seed).integers(0, folds, answers.shape)
    means = {}
    for name, slopes in (("1PL", False), ("2PL", True)):
        total = 0.0
        for one in range(folds):
            model = fit(np.where(fold == one, np.nan, answers), slopes=slopes)
            system, question = np.nonzero((fold == one) & ~np.isnan(answers))
            chance = _chances_at(model, system, question)
            got = answers[system, question]
            total += float((got * np.log(chance) + (1 - got) * np.log(1 - chance)).sum())
        means[name] = total / int((~np.isnan(answers)).sum())
    return means


def _chances_at(model: ItemModel, system: Indices, question: Indices) -> Floats:
    """Chances of these systems at these questions, interpolated linearly between GRID points."""
    place = np.clip((model.abilities[system] - GRID[0]) / (GRID[1] - GRID[0]), 0, len(GRID) - 1.001)
    below = place.astype(np.intp)
    part = place - below
    left, right = model.curves[question, below], model.curves[question, below + 1]
    chance: Floats = (1 - part) * left + part * right
    return chance
