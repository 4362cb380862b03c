"""What answers to some questions tell of the mean score on all."""

from __future__ import annotations

import numpy as np

from eval.studies.lite_subset.draw import Indices
from eval.summary.subset.irt import Floats, ability

ESTIMATORS = ("mean", "weighted mean", "p-IRT", "gp-IRT")


def weighted_mean(weights: Floats, scores: Floats) -> float:
    """The stratified (Hansen-Hurwitz) mean: sum of w s over sum of w; both (n)."""
    return float(weights @ scores / weights.sum())


def p_irt(curves: Floats, rest: Floats, unseen: int, answers: Floats) -> float:
    """Performance-IRT (Maia Polo et al., 2024, tinyBenchmarks, arXiv 2402.14992).

    The answers that were seen, and what the model expects of the `unseen` others: `curves` (n, T)
    of those seen, `rest` (T) the sum of the others' curves, `answers` (n) 0 to 1.
    """
    posterior = ability(np.log(curves), np.log(1 - curves), answers)
    return float((answers.sum() + rest @ posterior) / (len(answers) + unseen))


def gp_irt(weighted: float, model: float) -> float:
    """Generalised p-IRT (the same paper): between the weighted mean and p-IRT.

    The share of each is a half here: with so few systems an estimate of it would be noise.
    """
    return (weighted + model) / 2


class Estimators:
    """ESTIMATORS for subsets of Q questions, under one fitted model."""

    def __init__(self, weights: Floats, curves: Floats) -> None:
        """`weights` (Q): what a question stands for if chosen; `curves` (Q, T)."""
        self._weights, self._curves, self._total = weights, curves, curves.sum(0)

    def estimate(self, chosen: Indices, answers: Floats) -> list[float]:
        """By each of ESTIMATORS, from a system's `answers` (n) to the questions `chosen` (n)."""
        own = self._curves[chosen]
        unseen = len(self._curves) - len(chosen)
        model = p_irt(own, self._total - own.sum(0), unseen, answers)
        weighted = weighted_mean(self._weights[chosen], answers)
        return [float(np.mean(answers)), weighted, model, gp_irt(weighted, model)]
