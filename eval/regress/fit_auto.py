"""`python -m eval.regress.fit_auto`: fit the weights of strategy=auto on four kinds of data."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.cli import code_of
from eval.datasets.selection import LOCOMO, REALTALK
from eval.datasets.types import Question
from eval.regress.fit_fusion import (
    Example,
    check,
    check_writable,
    coverage_of,
    examples_of,
    fitted,
    fitting_parser,
    measured,
    written,
)
from eval.rendering.errors import configuration_errors
from eval.run.build import build
from eval.run.composing import composed
from memsys.core.errors import InputError
from memsys.core.types import UNDATED, Query
from memsys.index.rank import Scores
from memsys.index.weights import AUTO_SETS, AUTO_WEIGHTS, AutoWeights, load_auto_weights
from memsys.strategies.auto import Auto

_GENERATED = "dataset=synthetic", "dataset.conversations=3"
_SEEDS = 11, 13  # of generated data, used nowhere else: facts in chains, and facts that change


def _generated(language: str) -> list[tuple[str, ...]]:
    chains, changes = _SEEDS
    common = (*_GENERATED, f"dataset.language={language}")
    hops = [(*common, f"dataset.seed={chains}", f"dataset.hops={hops}") for hops in (1, 2, 3)]
    updates = (*common, f"dataset.seed={changes}", "dataset.hops=1", "dataset.updates=3")
    return [*hops, updates]


# The settings of each kind's data sets. All kinds weigh the same.
KINDS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "locomo": [("dataset=locomo_dev",)],
    "realtalk": [("dataset=realtalk_dev",)],
    "generated": _generated("en"),
    "chinese": [("dataset=sample",), *_generated("zh")],
}
_CHINESE = "chinese"
_HELD_OUT = {*LOCOMO["held_out"], *REALTALK["held_out"]}


@dataclass(frozen=True, slots=True)
class Kind:
    """The questions of one kind of data, and the data sets that they are of."""

    examples: Sequence[Example]
    datasets: Sequence[Mapping[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print and write or check; return the exit code: 1 if a check finds other weights, 2 for
    bad input, 130 after Ctrl-C.
    """
    options = fitting_parser(
        "auto",
        "Fit the weights of strategy=auto on LoCoMo and REALTALK (the development conversations of "
        "each), generated dialogues in English and Chinese, and the sample's Chinese conversation, "
        "and write them with what they were fitted on. Recall and nDCG of each kind of data are "
        "printed, ranked by these weights and by weights fitted on the other kinds.",
        AUTO_WEIGHTS,
    )
    given = options.parse_args(arguments)
    if given.check:
        return code_of(
            lambda: check(given.out, load_auto_weights, lambda: fit(examples_of_kinds()))
        )
    return code_of(lambda: _fit(given.out))


def _fit(out: Path) -> None:
    check_writable(out)
    kinds = examples_of_kinds()
    weights = fit(kinds)
    for name, kind in kinds.items():
        others = fit({other: kinds[other] for other in kinds if other != name})
        own, without = (mean_measures(kind.examples, each) for each in (weights, others))
        print(
            f"{name}: recall@10 {own[0]:.3f}, nDCG@10 {own[1]:.3f}; fitted on the other kinds "
            f"{without[0]:.3f}, {without[1]:.3f}"
        )
    fitted_on = {name: list(kind.datasets) for name, kind in kinds.items()}
    out.write_text(written(weights, "auto", fitted_on), "utf-8")
    print(
        f"{out}: weights fitted on {sum(len(kind.examples) for kind in kinds.values())} questions"
    )


def examples_of_kinds() -> dict[str, Kind]:
    """Return the questions of every kind of data. Raises InputError for data kept for reports."""
    kinds = {}
    for name, settings in KINDS.items():
        examples: list[Example] = []
        datasets = []
        for overrides in settings:
            with configuration_errors():
                config, choices = composed([*overrides, "strategy=auto", "reader=none"])
                built = build(config, choices)
            if other := [c.id for c in built.dataset.conversations if c.id in _HELD_OUT]:
                raise InputError(f"{other[0]}: results are reported on it; fit on other data")
            batch = examples_of(built, _signals, "zh" if name == _CHINESE else None)
            examples += batch
            datasets.append({"settings": " ".join(overrides), "questions": len(batch)})
            print(f"{name}: {len(batch)} questions of {' '.join(overrides)}", file=sys.stderr)
        kinds[name] = Kind(examples, datasets)
    return kinds


def _signals(strategy: Auto, question: Question) -> Mapping[str, Scores]:
    return strategy.signals(Query(question.id, question.text, question.conversation, UNDATED))


def fit(kinds: Mapping[str, Kind]) -> AutoWeights:
    """Return the weights that minimise the mean over kinds of the listwise cross-entropy (see
    `fit_fusion.fitted`). A set is fitted on the questions that have all of its signals.
    """
    sets = {}
    for name, signals in AUTO_SETS.items():
        having = [
            [case for case in kind.examples if all(signal in case.signals for signal in signals)]
            for kind in kinds.values()
        ]
        having = [examples for examples in having if examples]
        if not having:
            raise InputError(f"{name}: no kind of data has all of its signals")
        shares = [1 / len(having) / len(examples) for examples in having for _ in examples]
        sets[name] = fitted([case for examples in having for case in examples], signals, shares)
    coverage = coverage_of([example for kind in kinds.values() for example in kind.examples])
    return AutoWeights(**sets, coverage=coverage)


def mean_measures(examples: Sequence[Example], weights: AutoWeights) -> tuple[float, float]:
    """Return mean recall@10 and nDCG@10 of `examples` as questions, ranked by `weights`."""
    values = []
    for example in examples:
        own = weights.of(example.signals, "?")
        vector = np.array(list(own.values()))
        values.append(measured(example.matrix(list(own)) @ vector, example))
    recall, ndcg = np.mean(values, axis=0)
    return float(recall), float(ndcg)


if __name__ == "__main__":
    sys.exit(main())
