"""What the ranking of a question determines: cutoffs to the recorded depth, and token budgets."""

from __future__ import annotations

from dataclasses import dataclass

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure
from eval.records.rankings import Ranked, UnitRanking
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.imported import IMPORTED


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question with evidence: its record, its ranking in one unit, and both as metrics read it.
    `spent`: tokens of the recorded memories, None if unknown.
    """

    record: Record
    selected: bool
    ranking: UnitRanking
    judged: Judged
    spent: int | None


def spent(ranked: Ranked) -> int | None:
    """Return the tokens of the memories down to the last one that added a turn or session."""
    units = [unit.tokens for unit in (ranked.turns, ranked.sessions) if unit is not None]
    return max((tokens[-1] for tokens in units if tokens), default=None)


def problem_of(run: Run, question: RankedQuestion, measure: Measure) -> str | None:
    """Return why the ranking does not determine `measure`; None where it does."""
    metric, ranking = measure.metric, question.ranking
    cut = any(cut is not None for cut in (measure.cutoff, measure.tokens, measure.turns))
    if question.selected:
        if cut or metric.ordered:
            return (
                f"{run.label}: its memories are selected, without an order: {measure} has no "
                "value; use recall, recall_any, recall_all or precision without a cutoff"
            )
        return None
    if not cut and not metric.ordered:
        return f"{run.label}: {measure} of a ranking needs a cutoff, as {measure}@10"
    if measure.tokens is not None:
        if question.spent is None and ranking.ids:
            return f"{run.label}: the tokens of its memories are unknown, and so is {measure}"
        reached = question.spent or 0
        found_all = len(question.judged.ranks) == question.judged.wanted
        if ranking.complete or found_all or reached >= measure.tokens:
            return None
        return (
            f"{run.label}: depth {depth_of(run)}: {measure} is unknown, since the ranking of "
            f"{question.record['id']:.60} ends at {reached} tokens; {_remedy(run, None)}"
        )
    reached = ranking.known
    needed = question.judged.wanted if metric.at_evidence else measure.cutoff
    if measure.turns is not None:
        if question.judged.turns is None:
            return f"{run.label}: whole sessions were ranked; {measure} needs a ranking of turns"
        reached = max(ranking.depth, *question.judged.turns, 0)
        needed = measure.turns
    if needed is None or ranking.complete or needed <= reached:
        return None
    depth = depth_of(run)
    if ranking.depth < (depth or 0) and run.manifest.get("kind") != IMPORTED:
        return (
            f"{run.label}: {measure} is unknown, since {run.strategy} ranked only {ranking.depth} "
            f"memories for {question.record['id']:.60}; let it rank more (docs/extend.md)"
        )
    return f"{run.label}: depth {depth}: {measure} is unknown; {_remedy(run, needed)}"


def _remedy(run: Run, depth: int | None) -> str:
    """Return how to get rankings to `depth`; None: any greater one."""
    if run.manifest.get("kind") == IMPORTED:
        more = f"{depth} or more ids" if depth else "more ids"
        return (
            f"import rankings of {more}, or give their depth (--depth) if shorter ones are complete"
        )
    return "run it with " + (
        f"retrieval.depth={depth} or more" if depth else "a greater retrieval.depth"
    )


def depth_of(run: Run) -> int | None:
    """Return the recorded depth; None: all memories, or no rankings."""
    used = run.manifest["retrieval"]
    return None if used is None else used["depth"]


def ends_before(question: RankedQuestion, measure: Measure) -> bool:
    """Return whether the ranking has fewer ranks than the cutoff of `measure`."""
    ranking = question.ranking
    return len(ranking.ids) < (measure.cutoff or 0) and not ranking.complete
