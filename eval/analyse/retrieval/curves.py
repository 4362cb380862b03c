"""Curves of recall: over the cutoff, and over the tokens of the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.analyse.retrieval.choice import KINDS, known
from eval.analyse.retrieval.measured import measured
from eval.datasets.types import ADVERSARIAL
from eval.metrics.retrieval.registry import BUDGETS, Unit, parse
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.summary.retrieval import values
from eval.summary.summarise import OVERALL

_GRID = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # cutoffs of a curve


@dataclass(frozen=True, slots=True)
class Point:
    """Mean recall of a run on a question type, at a cutoff of `at` ranks, or `within` a budget of
    `at` tokens. `tokens`: mean of the context at the cutoff, None where it is unknown.
    """

    run: Run
    type: str
    at: int
    within: bool
    tokens: float | None
    recall: Interval


def points(run: Run, unit: Unit, kind: str, seed: int) -> list[Point]:
    """Return the points of both curves for each question type, as far as rankings determine them;
    `kind`: see KINDS.
    """
    name = "session_" * (unit == "session") + KINDS[kind]
    wanted = [parse(f"{name}@{at}") for at in _GRID]
    wanted += [parse(f"{name}@{budget}tokens") for budget in BUDGETS]
    measures = known(run, wanted)
    if not measures:
        return []
    ids = list(values(run, measures[:1])[str(measures[0])])
    found = measured(run, measures, seed)
    return [
        Point(
            run,
            type_,
            measure.tokens or measure.cutoff or 0,
            measure.tokens is not None,
            _tokens(run, [id_ for id_ in ids if _in(run, id_, type_)], unit, measure.cutoff),
            cells[str(measure)],
        )
        for type_, cells in found.means.items()
        for measure in measures
    ]


def _in(run: Run, question: str, type_: str) -> bool:
    record = run.records[question]
    return record["type"] == type_ or (type_ == OVERALL and record["category"] != ADVERSARIAL)


def _tokens(run: Run, ids: Sequence[str], unit: Unit, cutoff: int | None) -> float | None:
    """Return the mean number of tokens of the first `cutoff` ranks of the questions `ids`."""
    spent = []
    for id_ in ids if cutoff is not None else ():
        ranked = run.rankings[id_]
        ranking = ranked.turns if unit == "turn" else ranked.sessions
        if ranking is None or ranking.tokens is None:
            return None
        spent.append(ranking.tokens[:cutoff][-1] if ranking.tokens else 0)
    return fmean(spent) if spent else None
