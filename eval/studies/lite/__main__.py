"""`python -m eval.studies.lite`: build LoCoMo-lite, a fixed subset of LoCoMo, and validate it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.subset import FOLDER, Subset, text_of
from eval.rendering.tables import markdown, plain
from eval.studies.lite.answers import PROBES, Answered, read_answered
from eval.studies.lite.build import build, validation_figures
from eval.studies.lite.item_response import held_out
from eval.studies.lite.sampling import Indices, Strata, candidates, shipped_questions
from eval.studies.lite.tables import TableCells, comparisons_table, errors_table, shipped_table
from eval.studies.lite.validation import LeftOut, leave_out
from memsys.errors import InputError

_QUESTIONS, _DRAWS = 150, 200


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, validate, print and write; return the exit code: 2 for bad input."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _lite(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.studies.lite",
        description="Choose a subset of LoCoMo's questions of types 1 to 4, validate estimates of "
        "the score on all of them with the judged answers of many systems, each left out in turn, "
        "and write question ids and model parameters. docs/locomo-lite.md explains the tables.",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        help="folder of judged answers, a file per system; default: $MEMSYS_SHARED/locomo/answers",
    )
    parser.add_argument(
        "--questions", type=int, default=_QUESTIONS, help="questions of the subset (default: 150)"
    )
    parser.add_argument(
        "--draws", type=int, default=_DRAWS, help="random subsets to validate on (default: 200)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=FOLDER / "locomo_lite.json", help="subset file to write"
    )
    parser.add_argument(
        "--table", type=Path, metavar="FILE.md", help="also write the tables to this file"
    )
    return parser


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
    groups = {
        "family": answered.families,
        "system": answered.systems,
        "publisher": answered.publishers,
    }
    validated = {
        name: leave_out(answered, names, strata, subsets, name) for name, names in groups.items()
    }
    chosen = shipped_questions(subsets)
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
    answered: Answered,
    strata: Strata,
    chosen: Indices,
    validated: dict[str, LeftOut],
    seed: int,
) -> dict[str, TableCells]:
    right, f1 = answered.verdicts.mean(axis=1), answered.f1.mean(axis=1)
    likelihoods = held_out(answered.verdicts[answered.judged], seed)
    family = validated["family"]
    return {
        "Judge's verdicts, each family left out": errors_table(
            family.judge, family.groups, right, seed
        ),
        "LoCoMo's F1, each family left out": errors_table(family.f1, family.groups, f1, seed),
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
