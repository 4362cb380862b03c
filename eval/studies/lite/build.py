"""The shipped subset with its item-response model and validation figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eval.datasets.subset import Chosen, Floats, Subset, Validated, logit
from eval.datasets.types import SourceFile
from eval.studies.lite.answers import Answered
from eval.studies.lite.error_statistics import coverage, least_difference, reach
from eval.studies.lite.item_response import fit
from eval.studies.lite.sampling import Indices, Strata
from eval.studies.lite.validation import CHOICES, LeftOut

HOW = (
    "One draw at random within type x conversation, shares proportional by largest remainders; "
    "types 1 to 4 alone. weight: the stratum's share of all questions over its questions here. "
    "judge: p-IRT under a two-parameter model of these systems' verdicts; locomo_f1: weighted mean."
)
SHIPPED = CHOICES[1]
ESTIMATORS_SHIPPED: Mapping[str, str] = {"judge": "p-IRT", "locomo_f1": "weighted mean"}


def build(
    answered: Answered,
    strata: Strata,
    chosen: Indices,
    data: Sequence[SourceFile],
    seed: int,
    validated: Mapping[str, Validated],
) -> Subset:
    """Return the subset of the questions `chosen` (n), with a model of all judged systems.

    `data`: the data set's files; `seed`: of the draw; `validated`: see `validation_figures`.
    """
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


def validation_figures(answered: Answered, left_out: LeftOut) -> dict[str, Validated]:
    """Validation figures of the shipped estimates by score, from families left out."""
    errors: dict[str, tuple[Floats, list[int]]] = {
        "judge": (left_out.judge[SHIPPED, ESTIMATORS_SHIPPED["judge"]], answered.judged),
        "locomo_f1": (
            left_out.f1[SHIPPED, ESTIMATORS_SHIPPED["locomo_f1"]],
            list(range(len(answered.systems))),
        ),
    }
    figures = {}
    for score, (table, systems) in errors.items():
        chosen, groups = table[systems], [left_out.groups[i] for i in systems]
        figures[score] = Validated(
            estimator=ESTIMATORS_SHIPPED[score],
            mean_absolute_error=round(float(np.abs(chosen).mean()), 4),
            reach=round(reach(chosen), 4),
            coverage=round(coverage(chosen, groups), 4),
            least_difference=round(least_difference(chosen, groups), 4),
            systems=len(systems),
            families=len(set(groups)),
            draws=chosen.shape[1],
        )
    return figures
