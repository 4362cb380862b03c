"""`python -m eval.studies.lite`: build the small subset of LoCoMo and report its errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eval.cli import code_of
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.subset import FOLDER, Subset, text_of
from eval.rendering.tables import markdown, plain
from eval.studies.lite_subset.answers import PROBES, Answered, read_answered
from eval.studies.lite_subset.choose import choose, worth
from eval.studies.lite_subset.draw import Indices, Strata
from eval.studies.lite_subset.show import by_leaving, errors_table, shipped_table
from eval.studies.lite_subset.validate import LeftOut, candidates, leave_out
from eval.summary.subset.irt import held_out
from memsys.errors import InputError

_QUESTIONS, _DRAWS = 150, 200


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, validate, print and write; returns the exit code: 2 for wrong input."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _lite(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.studies.lite",
        description="Choose a subset of LoCoMo's questions of types 1 to 4, validate estimates of "
        "the score on all of them by real judged answers of many systems, each left out in turn, "
        "and write ids and numbers. docs/locomo-lite.md explains the tables.",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        help="folder of judged answers, a file a system (default: $MEMSYS_SHARED/locomo/answers)",
    )
    parser.add_argument("--questions", type=int, default=_QUESTIONS, help="default: 150")
    parser.add_argument("--draws", type=int, default=_DRAWS, help="random subsets (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument(
        "--out", type=Path, default=FOLDER / "locomo_lite.json", help="the file to write"
    )
    parser.add_argument("--table", type=Path, metavar="FILE.md", help="write the tables there too")
    return parser


def _lite(options: argparse.Namespace) -> None:
    if options.draws < 2 or options.seed < 0:
        raise InputError("--draws must be 2 or more and --seed 0 or more")
    folder = options.answers or shared_folder() / "locomo" / "answers"
    paths = [p for p in sorted(folder.glob("*.jsonl.gz")) if not p.name.startswith(PROBES)]
    if not paths:
        raise InputError(f"{folder}: no *.jsonl.gz there; name a folder of answers by --answers")
    dataset = LoCoMo(name="locomo").load()
    answered = read_answered(paths, dataset)
    strata = Strata(answered.strata, options.questions)
    subsets = candidates(strata, options.draws, options.seed)
    groups = {
        "family": answered.families,
        "system": answered.systems,
        "publisher": answered.publishers,
    }
    found = {name: leave_out(answered, own, strata, subsets, name) for name, own in groups.items()}
    chosen = shipped_questions(subsets)
    validated = worth(answered, found["family"])
    subset = choose(answered, strata, chosen, dataset.files, options.seed, validated)
    tables = _tables(answered, strata, chosen, found, options.seed)
    for title, (header, rows) in tables.items():
        print(f"\n{title}\n\n{plain(header, rows)}")
    print("\n" + "\n".join(_told(subset)))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text_of(subset), encoding="utf-8")
    print(f"\nwritten: {options.out}")
    if options.table is not None:
        text = "\n\n".join(f"### {title}\n\n{markdown(*own)}" for title, own in tables.items())
        options.table.write_text(text + "\n", encoding="utf-8")


def shipped_questions(subsets: Sequence[Indices]) -> Indices:
    """Of all draws the first: none is picked for what came of it."""
    first: Indices = subsets[0][0].astype(np.intp)
    return first


def _tables(
    answered: Answered,
    strata: Strata,
    chosen: Indices,
    found: dict[str, LeftOut],
    seed: int,
) -> dict[str, tuple[list[str], list[list[str]]]]:
    right, f1 = answered.verdicts.mean(axis=1), answered.f1.mean(axis=1)
    scores = held_out(answered.verdicts[answered.judged], seed)
    family = found["family"]
    return {
        "Judge's verdicts, each family left out": errors_table(family.judge, family, right, seed),
        "LoCoMo's F1, each family left out": errors_table(family.f1, family, f1, seed),
        "What the model adds": by_leaving(found, answered.judged, seed),
        "The shipped questions": shipped_table(answered, strata, chosen),
        "Fit: mean log-likelihood of hidden verdicts": (
            ["model", "log-likelihood"],
            [[name, f"{value:.4f}"] for name, value in scores.items()],
        ),
    }


def _told(subset: Subset) -> list[str]:
    return [
        f"{score}: {one.estimator}, mean absolute error {one.mean_absolute_error:.4f}, "
        f"95% interval +-{one.reach:.3f} (held the truth {one.coverage:.1%} of the time), "
        f"least difference of two systems {one.least_difference:.3f}; "
        f"{one.systems} systems of {one.families} families, {one.draws} draws"
        for score, one in subset.validated.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
