"""The runs of a study of growth: one per strategy and number of unrelated sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eval.datasets.grown import Grown
from eval.datasets.types import ADVERSARIAL
from eval.metrics.retrieval.registry import parse
from eval.metrics.stats.interval import RESAMPLES, ClusterBootstrap, Interval
from eval.metrics.stats.resamples import Floats
from eval.records.run import Run
from eval.records.schema import Record
from eval.studies.growth.half_life import Decay, fit
from eval.summary.retrieval import is_selected, values
from eval.summary.summarise import percentile
from memsys.core.errors import InputError

_GROWN = f"{Grown.__module__}.{Grown.__name__}"
_RANKED = (parse("recall@10"), parse("ndcg@10"))
_SELECTED = parse("recall")


@dataclass(frozen=True)
class Grew:
    """A run: a strategy at one size of the store.

    `recall`, `ndcg`: by question id, of the questions that count; `ndcg` is empty where the
    strategy only selects memories, and `recall` is then of all that it selected.
    """

    run: Run
    unrelated: int
    recall: Mapping[str, float]
    ndcg: Mapping[str, float]

    @cached_property
    def stores(self) -> dict[str, dict[str, float]]:
        """By conversation: `memories`, `bytes` (where the strategy measures them) and `seconds` of
        ingestion, which has the warm-up query that builds the indexes.
        """
        steps = {(one["conversation"], one["session"]): one for one in self.run.ingests}
        found: dict[str, dict[str, float]] = {}
        for (conversation, _), step in steps.items():  # of a step done again, the last
            store = found.setdefault(conversation, {"memories": 0.0, "seconds": 0.0})
            store["seconds"] += step["latency_ms"] / 1000
            store["memories"] += step["memories"]
        for (conversation, session), step in steps.items():
            if session is None:
                found[conversation] |= {name: float(n) for name, n in step.get("store", {}).items()}
        return found

    def mean(self, name: str) -> Interval | None:
        """Return the mean of a number of `stores` over conversations, with its interval."""
        known = {one: store[name] for one, store in self.stores.items() if name in store}
        return self._mean(list(known), list(known.values()))

    def score(self, scores: Mapping[str, float]) -> Interval | None:
        """Return the mean of `recall` or `ndcg`, with its interval."""
        records = self.run.records
        found = self._mean([records[one]["conversation"] for one in scores], list(scores.values()))
        return found and found.within()

    @property
    def errors(self) -> int:
        """The number of questions that failed, of those with evidence that would count."""
        records = self.run.records
        return sum(
            one["status"] != "ok" and bool(one["evidence"]) and _counts(self.run, id_)
            for id_, one in records.items()
        )

    @property
    def tokens(self) -> Interval | None:
        """The mean of context tokens."""
        rows = [(one["conversation"], one["context_tokens"]) for one in self._asked]
        known = [(of, float(tokens)) for of, tokens in rows if tokens is not None]
        return self._mean([of for of, _ in known], [tokens for _, tokens in known])

    def latency(self, percent: int) -> float | None:
        """Return a percentile of the milliseconds of retrieval."""
        return percentile([one["latency_ms"]["retrieve"] for one in self._asked], percent)

    @property
    def _asked(self) -> list[Record]:
        return [record for id_, record in self.run.records.items() if id_ in self.recall]

    def _mean(self, conversations: Sequence[str], numbers: Sequence[float]) -> Interval | None:
        if not numbers:
            return None
        found = ClusterBootstrap(conversations, self.run.seed, resamples(self.run)).mean(numbers)
        return found and found.within(0.0, float("inf"))


@dataclass(frozen=True)
class Series:
    """The runs of one strategy, smallest store first, over the same questions."""

    strategy: str
    runs: tuple[Grew, ...]

    @cached_property
    def decay(self) -> Decay | None:
        """The curve through the means of recall; None of a single size."""
        if len(self.runs) < 2:
            return None
        ids, first = list(self.runs[0].recall), self.runs[0].run
        conversations = [first.records[one]["conversation"] for one in ids]
        memories = [[one.stores[of]["memories"] for one in self.runs] for of in conversations]
        recall = [[one.recall[id_] for one in self.runs] for id_ in ids]
        return fit(_array(memories), _array(recall), conversations, first.seed, resamples(first))


def resamples(run: Run) -> int:
    """Return the resamples of the run's configuration."""
    return int(run.manifest["config"].get("resamples") or RESAMPLES)


def series_of(runs: Sequence[Run], largest: int | None = None) -> list[Series]:
    """Return the series of each strategy, in the order of `runs`; `largest`: leave out runs with
    more unrelated sessions.

    A question that failed in a run of a strategy counts in none of its runs. Raises InputError
    unless all runs are on dataset=grown, with the same data, questions and settings except for the
    strategy and the number of unrelated sessions.
    """
    for run in runs:
        if (run.manifest["config"].get("dataset") or {}).get("_target_") != _GROWN:
            raise InputError(f"{run.label}: not a run on dataset=grown; name runs on it alone")
        _check_alike(runs[0], run)
    sizes: dict[str, dict[int, Run]] = {}
    for run in runs:
        unrelated = int(run.manifest["config"]["dataset"]["unrelated"])
        if largest is not None and unrelated > largest:
            continue
        of_strategy = sizes.setdefault(run.strategy, {})
        if unrelated in of_strategy:
            raise InputError(
                f"{run.folder} and {of_strategy[unrelated].folder}: both of {run.strategy} with "
                f"{unrelated:,} unrelated sessions; name one of them"
            )
        of_strategy[unrelated] = run
    if not sizes:
        raise InputError(f"--largest {largest}: every run has more unrelated sessions")
    return [_series(strategy, of_strategy) for strategy, of_strategy in sizes.items()]


def _check_alike(first: Run, run: Run) -> None:
    both = f"{run.label} and {first.label}"
    if run.manifest["data"] != first.manifest["data"]:
        raise InputError(f"{both}: are on different data; name runs on the same files and seed")
    if _questions(run) != _questions(first):
        raise InputError(f"{both}: asked different questions; name runs with the same ones")
    settings = [_settings(one) for one in (run, first)]
    differing = sorted(
        {
            name
            for name in settings[0].keys() | settings[1].keys()
            if settings[0].get(name) != settings[1].get(name)
        }
    )
    if differing:
        raise InputError(
            f"{both}: differ in {', '.join(differing)}; only strategy and dataset.unrelated may"
        )


def _questions(run: Run) -> dict[str, tuple[str, ...]]:
    return {id_: (record["question"], *record["evidence"]) for id_, record in run.records.items()}


def _settings(run: Run) -> dict[str, Any]:
    config = run.manifest["config"]
    dataset = {
        k: v for k, v in config["dataset"].items() if k not in ("unrelated", "conversations")
    }
    return {**{k: v for k, v in config.items() if k != "strategy"}, "dataset": dataset}


def _series(strategy: str, by_size: Mapping[int, Run]) -> Series:
    scored = {size: _scores(run) for size, run in sorted(by_size.items())}
    counted = set.intersection(*(set(scores[0]) for scores in scored.values()))
    if not counted:
        raise InputError(f"{strategy}: no question with evidence was answered at every size")
    return Series(
        strategy,
        tuple(
            Grew(
                by_size[size],
                size,
                *(
                    {id_: score for id_, score in scores.items() if id_ in counted}
                    for scores in both
                ),
            )
            for size, both in scored.items()
        ),
    )


def _scores(run: Run) -> tuple[dict[str, float], dict[str, float]]:
    """Return recall and nDCG by question id; no nDCG where the strategy only selects memories."""
    measures = (_SELECTED,) if is_selected(run) else _RANKED
    found = values(run, measures)
    known = [
        {
            id_: score
            for id_, score in found[str(one)].items()
            if score is not None and _counts(run, id_)
        }
        for one in measures
    ]
    return known[0], known[1] if len(known) > 1 else {}


def _counts(run: Run, question: str) -> bool:
    return run.records[question]["category"] != ADVERSARIAL


def _array(rows: Sequence[Sequence[float]]) -> Floats:
    return np.array(rows, dtype=np.float64)
