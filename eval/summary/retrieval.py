"""Measures of the rankings of a run: by question, and means with intervals by question type.

Nothing is guessed: a measure that the recorded rankings do not determine is an error. A cutoff is
known where the recorded depth reaches it, or the ranking has as many ranks, or contains the whole
store. A ranking that ends earlier, as one of the distinct sessions of 100 turns may, counts as if
nothing relevant followed (the convention of TREC).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eval.datasets.types import ADVERSARIAL, types_in
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure, Unit, parse
from eval.records.answer_key_views import left_out
from eval.records.jsonl import RANKINGS
from eval.records.rankings import Ranked, session_of
from eval.records.rankings import Unit as Ranking
from eval.records.run import Run
from eval.records.schema import Record
from eval.stats.interval import RESAMPLES, ClusterBootstrap, Interval
from eval.summary.imported import IMPORTED
from eval.summary.summarise import OVERALL
from memsys.errors import InputError

_RANK = "first_rank"


@dataclass(frozen=True, slots=True)
class FirstRanks:
    """Ranks of the first evidence: their `median` over all questions with evidence, None where it
    lies beyond the recorded depth, and the share of these questions with any evidence `found`.
    """

    median: float | None
    found: Interval


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with evidence: its record, its ranking in one unit, and both as metrics read it.
    `spent`: tokens of the recorded memories, None if unknown.
    """

    record: Record
    selected: bool
    ranking: Ranking
    judged: Judged
    spent: int | None


def evidence_of(record: Record, unit: Unit) -> tuple[str, ...]:
    """Return the distinct ids of a question's evidence in `unit`: of sessions, those that the data
    set names, else those of the evidence turns.
    """
    if unit == "turn":
        return tuple(dict.fromkeys(record["evidence"]))
    named = record.get("evidence_sessions")
    return tuple(dict.fromkeys(map(session_of, record["evidence"]) if named is None else named))


def value(run: Run, question: str, measure: Measure) -> float | None:
    """Return the score of a question; None where it failed, is excluded by the answer key or has no
    evidence, where first_rank finds none, and where store_share does not know the store's size.

    Raises InputError where the rankings do not determine the measure.
    """
    record = run.records[question]
    if record["status"] != "ok" or left_out(record):
        return None
    found = _question(run, record, measure.unit)
    return None if found is None else _score(run, found, measure)


def values(run: Run, measures: Sequence[Measure]) -> dict[str, dict[str, float | None]]:
    """Return the score by the name of each measure and by question id, as `value` does, of the
    questions that count and have evidence. Raises InputError as `value` does.
    """
    found: dict[str, dict[str, float | None]] = {str(measure): {} for measure in measures}
    for unit in dict.fromkeys(measure.unit for measure in measures):
        chosen = [(found[str(one)], one) for one in measures if one.unit == unit]
        for question in _questions(run, unit):
            for column, measure in chosen:
                column[question.record["id"]] = _score(run, question, measure)
    return found


def by_type(
    run: Run, measures: Sequence[Measure], seed: int, resamples: int | None = None
) -> dict[str, dict[str, Interval]]:
    """Return the mean of each measure, with its 95% interval, by question type and `overall`.

    Questions count as in `values`; a type has no entry for a measure that none of its questions
    has. A mean of first_rank covers the questions with a find alone: see first_ranks. `resamples`:
    None for those of the run's configuration. Raises InputError as `value` does.
    """
    scored, found = values(run, measures), {}
    for type_, rows in _by_type(run).items():
        bootstrap = _bootstrap(run, rows, seed, resamples)
        means = {
            name: bootstrap.mean([scores.get(row["id"]) for row in rows])
            for name, scores in scored.items()
        }
        found[type_] = {
            name: mean.within(0.0, math.inf if name.endswith(_RANK) else 1.0)
            for name, mean in means.items()
            if mean is not None
        }
    return found


def first_ranks(
    run: Run, unit: Unit, seed: int, resamples: int | None = None
) -> dict[str, FirstRanks]:
    """Return the ranks of the first evidence by question type and `overall`, of types that have
    questions with evidence. Raises InputError as `value` does.
    """
    ranks = values(run, [parse("session_" * (unit == "session") + _RANK)]).popitem()[1]
    found = {}
    for type_, rows in _by_type(run).items():
        asked = [row for row in rows if row["id"] in ranks]
        if not asked:
            continue
        places = [ranks[row["id"]] or math.inf for row in asked]
        share = _bootstrap(run, asked, seed, resamples).mean([float(p < math.inf) for p in places])
        median = float(np.median(places))
        assert share is not None  # noqa: S101 - for the type checker
        found[type_] = FirstRanks(median if median < math.inf else None, share.within())
    return found


def unknown(run: Run, measures: Sequence[Measure]) -> dict[str, str]:
    """Return why the rankings of `run` do not determine a measure, by its name, for those measures
    that they do not: what the InputError of `value` says. Raises InputError without rankings.
    """
    found: dict[str, str] = {}
    for unit in dict.fromkeys(measure.unit for measure in measures):
        chosen = [measure for measure in measures if measure.unit == unit]
        try:
            for question in _questions(run, unit):
                for measure in chosen:
                    if problem := _problem(run, question, measure):
                        found.setdefault(str(measure), problem)
        except InputError as error:
            if not run.rankings:
                raise
            found |= {str(measure): str(error) for measure in chosen}
    return found


def ended_early(run: Run, measure: Measure) -> int:
    """Return the number of questions whose ranking has fewer units than the cutoff although it does
    not contain the whole store: those where the convention of TREC counts.
    """
    return sum(
        len(question.ranking.ids) < (measure.cutoff or 0) and not question.ranking.complete
        for question in _questions(run, measure.unit)
    )


def _by_type(run: Run) -> dict[str, list[Record]]:
    """Return the counted records by question type and `overall`, without empty groups."""
    rows = run.counted
    groups = {
        **{type_: [r for r in rows if r["type"] == type_] for type_ in types_in(rows).values()},
        OVERALL: [row for row in rows if row["category"] != ADVERSARIAL],
    }
    return {type_: rows for type_, rows in groups.items() if rows}


def _bootstrap(
    run: Run, rows: Sequence[Record], seed: int, resamples: int | None
) -> ClusterBootstrap:
    resamples = resamples or (run.manifest.get("config") or {}).get("resamples") or RESAMPLES
    return ClusterBootstrap([row["conversation"] for row in rows], seed, resamples)


def _questions(run: Run, unit: Unit) -> Iterator[_Question]:
    """Yield the questions that count and have evidence; raises InputError without rankings."""
    if not run.rankings:
        raise InputError(_no_ranking(run, ""))
    for record in run.counted:
        if question := _question(run, record, unit):
            yield question


def _question(run: Run, record: Record, unit: Unit) -> _Question | None:
    wanted = evidence_of(record, unit)
    if not wanted:
        return None
    ranked = run.rankings.get(record["id"])
    if ranked is None:
        raise InputError(_no_ranking(run, record["id"]))
    ranking = ranked.turns if unit == "turn" else ranked.sessions
    if ranking is None:
        raise InputError(
            f"{run.label}: whole sessions were ranked, not turns; use session_ measures"
            if unit == "turn"
            else f"{run.label}: its sessions are unknown; use measures of turns"
        )
    judged = Judged(ranking.ids, wanted, ranking.size, ranking.tokens)
    return _Question(record, ranked.selected, ranking, judged, _spent(ranked))


def _no_ranking(run: Run, question: str) -> str:
    if not run.rankings:
        return f"{run.label}: no rankings are recorded; run it again with retrieval.depth=100"
    return f"{run.label}: {RANKINGS}: no ranking of {question:.60}; run it again whole"


def _spent(ranked: Ranked) -> int | None:
    """Return the tokens of the memories down to the last one that added a turn or session."""
    units = [unit.tokens for unit in (ranked.turns, ranked.sessions) if unit is not None]
    return max((tokens[-1] for tokens in units if tokens), default=None)


def _score(run: Run, question: _Question, measure: Measure) -> float | None:
    if problem := _problem(run, question, measure):
        raise InputError(problem)
    return measure.score(question.judged)


def _problem(run: Run, question: _Question, measure: Measure) -> str | None:
    """Return why the ranking does not determine `measure`; None where it does."""
    metric, ranking = measure.metric, question.ranking
    cut = measure.cutoff is not None or measure.tokens is not None
    if question.selected:
        if cut or metric.ordered:
            return (
                f"{run.label}: its memories are selected, without an order: {measure} has no "
                "value; use recall, recall_any, recall_all or precision without a cutoff"
            )
        return None
    if not cut and not metric.ordered:
        return f"{run.label}: {measure} of a ranking needs a cutoff, as {measure}@10"
    used = run.manifest["retrieval"]
    depth = (used and used["depth"]) or len(ranking.ids)
    where = f"{run.label}: depth {depth}"
    if measure.tokens is not None:
        if question.spent is None and ranking.ids:
            return f"{run.label}: the tokens of its memories are unknown, and so is {measure}"
        if ranking.complete or (question.spent or 0) >= measure.tokens:
            return None
        return (
            f"{where}: {measure} is unknown, since the ranking of {question.record['id']:.60} "
            f"ends at {question.spent or 0} tokens; {_remedy(run, None)}"
        )
    needed = question.judged.wanted if metric.at_evidence else measure.cutoff
    if needed is None or ranking.complete or needed <= max(depth, len(ranking.ids)):
        return None
    return f"{where}: {measure} is unknown; {_remedy(run, needed)}"


def _remedy(run: Run, depth: int | None) -> str:
    """Return how to get rankings to `depth`; None: any greater one."""
    if run.manifest.get("kind") == IMPORTED:
        more = f"{depth} or more ids" if depth else "more ids"
        return (
            f"import rankings of {more}, or give their depth (--depth) if shorter ones are complete"
        )
    return (
        f"run it with retrieval.depth={depth} or more"
        if depth
        else ("run it with a greater retrieval.depth")
    )
