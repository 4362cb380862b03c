"""What the ranking of a question determines: cutoffs to the recorded depth, and token budgets."""

from __future__ import annotations

from dataclasses import dataclass

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure
from eval.records.rankings import UnitRanking
from eval.records.run import Run
from eval.summary.closing import IMPORTED


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question with evidence: its id, its ranking in one unit, and both as metrics read it.
    `spent`: tokens of the recorded memories, None if unknown.
    """

    id: str
    selected: bool
    ranking: UnitRanking
    judged: Judged
    spent: int | None


def problem_of(run: Run, question: RankedQuestion, measure: Measure) -> str | None:
    """Return why the ranking does not determine `measure`; None where it does."""
    metric, ranking, judged = measure.metric, question.ranking, question.judged
    cut = measure.cutoff or measure.tokens or measure.turns
    if question.selected:
        if cut or metric.ordered:
            return (
                f"{run.label}: its memories are selected, without an order: {measure} has no "
                "value; use recall, recall_any, recall_all or precision without a cutoff"
            )
        return None
    if not cut and not metric.ordered:
        return f"{run.label}: {measure} of a ranking needs a cutoff, as {measure}@10"
    reached, needed = ranking.known, judged.wanted if metric.at_evidence else cut or 0
    if measure.turns is not None:
        if judged.turns is None:
            return f"{run.label}: whole sessions were ranked; {measure} needs a ranking of turns"
        reached = max(ranking.depth, *judged.turns, 0)
    if measure.tokens is not None:
        if question.spent is None and ranking.ids:
            return f"{run.label}: the tokens of its memories are unknown, and so is {measure}"
        reached = question.spent or 0
        needed = min(needed, reached) if len(judged.ranks) == judged.wanted else needed
    if ranking.complete or needed <= reached:
        return None
    depth = depth_of(run)
    if run.manifest.get("kind") == IMPORTED:
        more = "more ids" if measure.tokens else f"{needed} or more ids"
        remedy = f"import rankings of {more}, or give their --depth if shorter ones are complete"
    elif ranking.depth < (depth or 0):
        remedy = f"let {run.strategy} rank more (docs/extend.md)"
    elif measure.tokens:
        remedy = "run it with a greater retrieval.depth"
    else:
        remedy = f"run it with retrieval.depth={needed} or more"
    return f"{run.label}: depth {depth}: {measure} is unknown; {remedy}"


def depth_of(run: Run) -> int | None:
    """Return the recorded depth; None: all memories, or no rankings."""
    used = run.manifest["retrieval"]
    return None if used is None else used["depth"]
