"""The subset that is shipped, and what was found of its worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eval.datasets.subset import Chosen, Subset, Validated, logit
from eval.datasets.types import SourceFile
from eval.studies.lite_subset.answers import Answered
from eval.studies.lite_subset.draw import Indices, Strata
from eval.studies.lite_subset.validate import CHOICES, LeftOut
from eval.summary.subset.irt import Floats, fit
from eval.summary.subset.statistics import coverage, least_difference, reach

HOW = (
    "One draw at random within type x conversation, shares proportional by largest remainders; "
    "types 1 to 4 alone. weight: the stratum's share of all questions over its questions here. "
    "judge: p-IRT under a two-parameter model of these systems' verdicts; locomo_f1: weighted mean."
)
SHIPPED = CHOICES[1]
ESTIMATORS_SHIPPED: Mapping[str, str] = {"judge": "p-IRT", "locomo_f1": "weighted mean"}


def choose(
    answered: Answered,
    strata: Strata,
    chosen: Indices,
    data: Sequence[SourceFile],
    seed: int,
    validated: Mapping[str, Validated],
) -> Subset:
    """The subset of the questions `chosen` (n), with a model of all judged systems."""
    judged = answered.judged
    model = fit(answered.verdicts[judged])
    rest = np.delete(model.curves, chosen, axis=0).mean(0)
    return Subset(
        name="locomo_lite",
        how=HOW,
        seed=seed,
        of=len(answered.ids),
        data=tuple(data),
        answers=answered.files,
        systems=tuple(answered.systems[i] for i in judged),
        rest=logit(rest),
        validated=validated,
        questions=tuple(
            Chosen(
                answered.ids[i],
                round(float(strata.weights[i]), 6),
                round(float(model.slopes[i]), 3),
                round(float(model.difficulties[i]), 3),
                logit(model.curves[i]),
            )
            for i in chosen
        ),
    )


def worth(answered: Answered, found: LeftOut) -> dict[str, Validated]:
    """What the shipped estimates are worth, from `found` with families left out."""
    errors: dict[str, tuple[Floats, list[int]]] = {
        "judge": (found.judge[SHIPPED, ESTIMATORS_SHIPPED["judge"]], answered.judged),
        "locomo_f1": (
            found.f1[SHIPPED, ESTIMATORS_SHIPPED["locomo_f1"]],
            list(range(len(answered.systems))),
        ),
    }
    worths = {}
    for score, (table, systems) in errors.items():
        own, groups = table[systems], [found.groups[i] for i in systems]
        worths[score] = Validated(
            estimator=ESTIMATORS_SHIPPED[score],
            mean_absolute_error=round(float(np.abs(own).mean()), 4),
            reach=round(reach(own), 4),
            coverage=round(coverage(own, groups), 4),
            least_difference=round(least_difference(own, groups), 4),
            systems=len(systems),
            families=len(set(groups)),
            draws=own.shape[1],
        )
    return worths
