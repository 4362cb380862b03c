"""An item-response model: how able each system is, how hard and how telling each question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.datasets.subset import GRID

Floats = NDArray[np.float64]
_DIFFICULTIES = np.linspace(-6.0, 6.0, 41)
_LOG_SLOPES = np.linspace(-1.6, 1.2, 9)
_FLAT = 1e-4  # no answer is certain: a curve stays this far from 0 and 1
_ABILITY_SD = 3.0  # of the prior that keeps a system with no wrong answer finite


@dataclass(frozen=True, slots=True)
class ItemModel:
    """A fitted model of S systems and Q questions.

    `abilities` (S); `slopes` and `difficulties` (Q): posterior means; `curves` (Q, len(GRID)):
    the chance of a right answer at each ability of GRID, averaged over the posterior of the
    question's parameters; `spread`: standard deviation of the difficulties, `slope_spread` of the
    logarithms of the slopes (0 in the one-parameter model); `log_likelihood`: of all answers.
    """

    abilities: Floats
    slopes: Floats
    difficulties: Floats
    curves: Floats
    spread: float
    slope_spread: float
    log_likelihood: float


def logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), elementwise."""
    result: Floats = 1.0 / (1.0 + np.exp(-x))
    return result


def fit(answers: Floats, *, slopes: bool = True, rounds: int = 80) -> ItemModel:
    """Fit P(right) = 1 / (1 + exp(-a (theta - b))) to `answers` (S, Q): 0, 1, NaN for unknown.

    The two-parameter logistic model (Birnbaum, 1968); `slopes` False: all a are 1 (Rasch, 1960).
    There are few systems and many questions, so the questions are what is integrated out, on a
    grid: b ~ Normal(0, spread), log a ~ Normal(0, slope_spread), both spreads estimated. That is
    the EM of Bock and Aitkin (1981) with the roles of persons and items changed (random items: De
    Boeck, 2008): E, the posterior of each question's parameters; M, a Newton step of each ability
    and the spreads in closed form. `rounds` of it; nothing is drawn at random.
    """
    known = (~np.isnan(answers)).astype(np.float64)
    right: Floats = np.nan_to_num(answers)
    grid = np.exp(_LOG_SLOPES) if slopes else np.ones(1)
    a, b = (axis.ravel() for axis in np.meshgrid(grid, _DIFFICULTIES, indexing="ij"))
    share = np.clip(right.sum(1) / known.sum(1), 0.01, 0.99)
    abilities: Floats = np.log(share / (1 - share))
    spread, slope_spread, posterior, total = 1.5, 0.5 * slopes, np.zeros(0), 0.0
    for _ in range(rounds):
        chance = np.clip(logistic(a * (abilities[:, None] - b)), _FLAT, 1 - _FLAT)
        prior = -0.5 * (b / spread) ** 2
        if slopes:
            prior = prior - 0.5 * (np.log(a) / slope_spread) ** 2
        prior -= np.log(np.exp(prior).sum())
        log = right.T @ np.log(chance) + (known - right).T @ np.log(1 - chance) + prior
        top = log.max(axis=1, keepdims=True)
        posterior = np.exp(log - top)
        mass = posterior.sum(axis=1, keepdims=True)
        posterior /= mass
        total = float((np.log(mass) + top).sum())
        shift = float((posterior @ b).mean())  # the zero of abilities: the mean difficulty
        spread = float(np.sqrt((posterior @ (b - shift) ** 2).mean()))
        if slopes:
            slope_spread = max(0.05, float(np.sqrt((posterior @ np.log(a) ** 2).mean())))
        asked, got = known @ posterior, right @ posterior
        gradient = ((got - asked * chance) * a).sum(1) - abilities / _ABILITY_SD**2
        curvature = (asked * chance * (1 - chance) * a**2).sum(1) + 1 / _ABILITY_SD**2
        abilities = abilities + np.clip(gradient / curvature, -0.5, 0.5) - shift
    curves = posterior @ logistic(a[:, None] * (GRID - b[:, None]))
    return ItemModel(
        abilities,
        posterior @ a,
        posterior @ b,
        np.clip(curves, _FLAT, 1 - _FLAT),
        spread,
        slope_spread,
        total,
    )


def ability(right: Floats, wrong: Floats, answers: Floats) -> Floats:
    """Posterior (len(GRID), sums to 1) of a system's ability from `answers` (n) to n questions.

    `right`, `wrong` (n, len(GRID)): logarithms of the curves and of what they leave; `answers` 0
    to 1, a share where several verdicts were averaged. The prior is wide: Normal(1, 3).
    """
    log = answers @ right + (1 - answers) @ wrong - 0.5 * ((GRID - 1.0) / _ABILITY_SD) ** 2
    weights: Floats = np.exp(log - log.max())
    weights /= weights.sum()
    return weights


def held_out(answers: Floats, seed: int, folds: int = 5) -> dict[str, float]:
    """Mean log-likelihood of answers that were not seen, of both models.

    Each answer of `answers` (S, Q) is hidden in one of `folds` fits. Keys: 1PL, 2PL.
    """
    fold = np.random.default_rng(seed).integers(0, folds, answers.shape)
    found = {}
    for name, slopes in (("1PL", False), ("2PL", True)):
        total = 0.0
        for one in range(folds):
            model = fit(np.where(fold == one, np.nan, answers), slopes=slopes)
            system, question = np.nonzero((fold == one) & ~np.isnan(answers))
            chance = _at(model, system, question)
            got = answers[system, question]
            total += float((got * np.log(chance) + (1 - got) * np.log(1 - chance)).sum())
        found[name] = total / int((~np.isnan(answers)).sum())
    return found


def _at(model: ItemModel, system: NDArray[np.intp], question: NDArray[np.intp]) -> Floats:
    """Chances of these systems at these questions, between the abilities of GRID by a line."""
    place = np.clip((model.abilities[system] - GRID[0]) / (GRID[1] - GRID[0]), 0, len(GRID) - 1.001)
    below = place.astype(np.intp)
    part = place - below
    chance: Floats = (1 - part) * model.curves[question, below] + part * model.curves[
        question, below + 1
    ]
    return chance
