"""`python -m eval.studies.lite`: build LoCoMo-lite, a fixed subset of LoCoMo, and validate it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from eval.cli import code_of, parser
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.subset import FOLDER, Chosen, Subset, Validated, logit, text_of
from eval.datasets.types import SourceFile
from eval.rendering.terminal import markdown, plain
from eval.studies.lite.answers import PROBES, AnsweredSystem, read_answered
from eval.studies.lite.item_response import fit, held_out
from eval.studies.lite.sampling import Indices, Strata, candidates
from eval.studies.lite.tables import (
    ESTIMATORS_SHIPPED,
    SHIPPED,
    TableCells,
    comparisons_table,
    errors_table,
    shipped_table,
)
from eval.studies.lite.validation import LeftOut, coverage, least_difference, leave_out, reach
from memsys.core.errors import InputError

HOW = (
    "One draw at random within type x conversation, shares proportional by largest remainders; "
    "types 1 to 4 alone. weight: the stratum's share of all questions over its questions here. "
    "judge: p-IRT under a two-parameter model of these systems' verdicts; locomo_f1: weighted mean."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, validate, print and write; return the exit code: 2 for bad input."""
    options = parser(
        "studies.lite",
        "Choose a subset of LoCoMo's questions of types 1 to 4, validate estimates of the score on "
        "all of them with the judged answers of many systems, each left out in turn, and write "
        "question ids and model parameters. docs/locomo-lite.md explains the tables.",
    )
    add = options.add_argument
    where = "folder of judged answers, a file per system; default: $MEMSYS_SHARED/locomo/answers"
    add("--answers", type=Path, help=where)
    add("--questions", type=int, default=150, help="questions of the subset (default: 150)")
    add("--draws", type=int, default=200, help="random subsets to validate on (default: 200)")
    add("--seed", type=int, default=0, help="seed of the draws (default: 0)")
    add("--out", type=Path, default=FOLDER / "locomo_lite.json", help="subset file to write")
    add("--table", type=Path, metavar="FILE.md", help="also write the tables to this file")
    given = options.parse_args(arguments)
    return code_of(lambda: _lite(given))


def build(
    answered: AnsweredSystem,
    strata: Strata,
    chosen: Indices,
    data: Sequence[SourceFile],
    seed: int,
    validated: Mapping[str, Validated],
) -> Subset:
    """Return the subset of the questions `chosen` (n), with a model of all judged systems.

    `data`: the data set's files; `seed`: of the draw; `validated`: see `validation_figures`.
    """
    model = fit(answered.verdicts[answered.judged])
    return Subset(
        name="locomo_lite",
        how=HOW,
        seed=seed,
        of=len(answered.ids),
        data=tuple(data),
        answers=answered.files,
        systems=tuple(answered.systems[i] for i in answered.judged),
        rest=logit(np.delete(model.curves, chosen, axis=0).mean(0)),
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


def validation_figures(answered: AnsweredSystem, left_out: LeftOut) -> dict[str, Validated]:
    """Validation figures of the shipped estimates by score, from families left out."""
    everyone = list(range(len(answered.systems)))
    errors = {"judge": (left_out.judge, answered.judged), "locomo_f1": (left_out.f1, everyone)}
    figures = {}
    for score, (tables, systems) in errors.items():
        estimator = ESTIMATORS_SHIPPED[score]
        chosen = tables[SHIPPED, estimator][systems]
        groups = [left_out.groups[i] for i in systems]
        figures[score] = Validated(
            estimator=estimator,
            mean_absolute_error=round(float(np.abs(chosen).mean()), 4),
            reach=round(reach(chosen), 4),
            coverage=round(coverage(chosen, groups), 4),
            least_difference=round(least_difference(chosen, groups), 4),
            systems=len(systems),
            families=len(set(groups)),
            draws=chosen.shape[1],
        )
    return figures


def _lite(options: argparse.Namespace) -> None:
    if options.draws < 2 or options.seed < 0:
        raise InputError("--draws must be 2 or more and --seed 0 or more")
    folder = options.answers or shared_folder() / "locomo" / "answers"
    paths = [p for p in sorted(folder.glob("*.jsonl.gz")) if not p.name.startswith(PROBES)]
    if not paths:
        raise InputError(
            f"{folder}: no *.jsonl.gz files; name a folder of judged answers with --answers"
        )
    dataset = LoCoMo(name="locomo").load()
    answered = read_answered(paths, dataset)
    strata = Strata(answered.strata, options.questions)
    subsets = candidates(strata, options.draws, options.seed)
    groups = (answered.families, answered.systems, answered.publishers)
    validated = {
        name: leave_out(answered, names, strata, subsets, name)
        for name, names in zip(("family", "system", "publisher"), groups, strict=True)
    }
    chosen: Indices = subsets[0][0].astype(np.intp)  # the first draw, not picked for its result
    figures = validation_figures(answered, validated["family"])
    subset = build(answered, strata, chosen, dataset.files, options.seed, figures)
    tables = _tables(answered, strata, chosen, validated, options.seed)
    for title, (header, rows) in tables.items():
        print(f"\n{title}\n\n{plain(header, rows)}")
    print("\n" + "\n".join(_figure_lines(subset)))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text_of(subset), encoding="utf-8")
    print(f"\nwritten: {options.out}")
    if options.table is not None:
        text = "\n\n".join(f"### {title}\n\n{markdown(*cells)}" for title, cells in tables.items())
        options.table.write_text(text + "\n", encoding="utf-8")


def _tables(
    answered: AnsweredSystem,
    strata: Strata,
    chosen: Indices,
    validated: dict[str, LeftOut],
    seed: int,
) -> dict[str, TableCells]:
    right, f1 = answered.verdicts.mean(axis=1), answered.f1.mean(axis=1)
    likelihoods = held_out(answered.verdicts[answered.judged], seed)
    left = validated["family"]
    return {
        "Judge's verdicts, each family left out": errors_table(
            left.judge, left.groups, right, seed
        ),
        "LoCoMo's F1, each family left out": errors_table(left.f1, left.groups, f1, seed),
        "What the model adds": comparisons_table(validated, answered.judged, seed),
        "The shipped questions": shipped_table(answered, strata, chosen),
        "Fit: mean log-likelihood of hidden verdicts": (
            ["model", "log-likelihood"],
            [[name, f"{value:.4f}"] for name, value in likelihoods.items()],
        ),
    }


def _figure_lines(subset: Subset) -> list[str]:
    return [
        f"{score}: {one.estimator}, mean absolute error {one.mean_absolute_error:.4f}, "
        f"95% interval +-{one.reach:.3f} (contained the truth {one.coverage:.1%} of the time), "
        f"least difference of two systems {one.least_difference:.3f}; "
        f"{one.systems} systems of {one.families} families, {one.draws} draws"
        for score, one in subset.validated.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
