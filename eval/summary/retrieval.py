"""Measures of the rankings of a run: by question, and means with intervals by question type.

Nothing is guessed: a measure that the recorded rankings do not determine is an error. A cutoff is
known where the recorded depth reaches it, or the ranking has as many ranks, or contains the whole
store; a token budget where the recorded ranking fills it or contains all evidence. A ranking that
ends before a known cutoff, as one of the distinct sessions of 100 turns may, counts as if nothing
relevant followed (the convention of TREC).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure, Unit, parse
from eval.metrics.stats.interval import RESAMPLES, ClusterBootstrap, Interval
from eval.records.answer_key_views import left_out
from eval.records.files import RANKINGS
from eval.records.rankings import SESSION, Ranked, UnitRanking, session_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.closing import IMPORTED
from eval.summary.summarise import groups
from memsys.core.errors import InputError

Means = dict[str, dict[str, Interval]]  # by question type and name of the measure
FIRST_RANK = "first_rank"  # its mean over questions means little: see first_ranks
OF_SETS = ("recall", "recall_any", "recall_all", "precision", "store_share")  # without an order


@dataclass(frozen=True, slots=True)
class FirstRanks:
    """Ranks of the first evidence: their `median` over all questions with evidence, None where it
    lies beyond the recorded depth, and the share of these questions with any evidence `found`.
    """

    median: float | None
    found: Interval


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


def evidence_of(record: Record, unit: Unit) -> tuple[str, ...]:
    """Return the distinct ids of a question's evidence in `unit`: of sessions, those that the data
    set names, else those of the evidence turns.
    """
    if unit == "turn":
        return tuple(dict.fromkeys(record["evidence"]))
    named = record.get("evidence_sessions")
    return tuple(dict.fromkeys(map(session_of, record["evidence"]) if named is None else named))


def is_selected(run: Run) -> bool:
    """Return whether the strategy of `run` only selects memories. Raises InputError where no
    rankings are recorded.
    """
    return all(ranked.selected for ranked in _rankings(run).values())


def _rankings(run: Run) -> dict[str, Ranked]:
    """Return the rankings of `run` by question id. Raises InputError where none are recorded."""
    if not run.rankings:
        more = "" if run.manifest.get("memories") else "; run it again with retrieval.depth=100"
        raise InputError(f"{run.label}: no rankings are recorded{more}")
    return run.rankings


def unit_of(runs: Sequence[Run]) -> Unit:
    """Return the unit that all runs can be measured in: sessions if a run ranked whole ones."""
    used = [run.manifest.get("retrieval") for run in runs]
    return "session" if any(field and field["unit"] == SESSION for field in used) else "turn"


def value(run: Run, question: str, measure: Measure) -> float | None:
    """Return the score of a question; None where it failed, is excluded by the answer key or has no
    evidence, where first_rank finds none, and where store_share does not know the store's size.

    Raises InputError where the ranking does not determine the measure.
    """
    record = run.records[question]
    if record["status"] != "ok" or left_out(record):
        return None
    ranked_question = _question(run, record, measure.unit)
    if ranked_question is None:
        return None
    if problem := problem_of(run, ranked_question, measure):
        raise InputError(problem)
    return measure.score(ranked_question.judged)


def values(run: Run, measures: Sequence[Measure]) -> dict[str, dict[str, float | None]]:
    """Return the score by the name of each measure and by question id, as `value` does, of the
    questions that count and have evidence. Raises InputError where `unknown` has a reason.
    """
    scores, problems = _gathered(run, measures)
    for problem in problems.values():
        raise InputError(problem)
    return scores


def unknown(run: Run, measures: Sequence[Measure]) -> dict[str, str]:
    """Return by name why the rankings of `run` do not determine a measure, for those measures that
    they do not. Raises InputError without rankings.
    """
    return _gathered(run, measures)[1]


def refuse_first_rank(measures: Sequence[Measure]) -> None:
    """Raise InputError on first_rank, whose mean would cover the questions with a find alone."""
    for measure in measures:
        if measure.metric.name == FIRST_RANK:
            raise InputError(
                f"{measure}: has no value where nothing is found; use mrr instead, or the median "
                f"by python -m eval retrieval RUN --measure {measure}"
            )


def by_type(
    run: Run, measures: Sequence[Measure], seed: int, resamples: int | None = None
) -> tuple[Means, dict[str, str]]:
    """Return the mean of each known measure, with its 95% interval, by question type and `overall`,
    and the results of `unknown`.

    Questions count as in `values`; a type has no entry for a measure that none of its questions
    has. A mean of first_rank covers the questions with a find alone: see first_ranks. `resamples`:
    None for those of the run's configuration. Raises InputError without rankings.
    """
    scored, problems = _gathered(run, measures)
    means_by_type = {}
    for type_, rows in _by_type(run).items():
        bootstrap = _bootstrap(run, rows, seed, resamples)
        means = {
            name: bootstrap.mean([scores.get(row["id"]) for row in rows])
            for name, scores in scored.items()
        }
        means_by_type[type_] = {
            name: mean.within(1.0, math.inf) if name.endswith(FIRST_RANK) else mean.within()
            for name, mean in means.items()
            if mean is not None
        }
    return means_by_type, problems


def first_ranks(run: Run, unit: Unit, seed: int) -> dict[str, FirstRanks]:
    """Return the ranks of the first evidence by question type and `overall`, of types that have
    questions with evidence. Raises InputError as `value` does.
    """
    ranks = values(run, [parse("session_" * (unit == "session") + FIRST_RANK)]).popitem()[1]
    ranks_by_type = {}
    for type_, rows in _by_type(run).items():
        asked = [row for row in rows if row["id"] in ranks]
        if not asked:
            continue
        places = [ranks[row["id"]] or math.inf for row in asked]
        share = _bootstrap(run, asked, seed).mean([float(p < math.inf) for p in places])
        median = float(np.median(places))
        assert share is not None  # noqa: S101 - for the type checker
        ranks_by_type[type_] = FirstRanks(median if median < math.inf else None, share.within())
    return ranks_by_type


def ended_early(run: Run, measure: Measure) -> int:
    """Return the number of questions whose ranking, without the whole store in it, ends before the
    cutoff: those where the convention of TREC counts.
    """
    rankings = (question.ranking for question in _questions(run, measure.unit))
    return sum(len(ranks.ids) < (measure.cutoff or 0) and not ranks.complete for ranks in rankings)


def _gathered(
    run: Run, measures: Sequence[Measure]
) -> tuple[dict[str, dict[str, float | None]], dict[str, str]]:
    """Return the results of `values` for the measures that are known, and of `unknown`."""
    _rankings(run)
    by_measure: dict[str, dict[str, float | None]] = {str(measure): {} for measure in measures}
    problems: dict[str, str] = {}
    for unit in dict.fromkeys(measure.unit for measure in measures):
        of_unit = {str(measure): measure for measure in measures if measure.unit == unit}
        try:
            for question in _questions(run, unit):
                for name, measure in of_unit.items():
                    if problem := problem_of(run, question, measure):
                        problems.setdefault(name, problem)
                    elif name not in problems:
                        by_measure[name][question.id] = measure.score(question.judged)
        except InputError as error:
            problems |= dict.fromkeys(of_unit, str(error))
    return {name: scores for name, scores in by_measure.items() if name not in problems}, problems


def _by_type(run: Run) -> dict[str, list[Record]]:
    """Return the counted records by question type and `overall`, without empty groups."""
    return {type_: rows for type_, rows in groups(run.counted).items() if rows}


def _bootstrap(
    run: Run, rows: Sequence[Record], seed: int, resamples: int | None = None
) -> ClusterBootstrap:
    resamples = resamples or (run.manifest.get("config") or {}).get("resamples") or RESAMPLES
    return ClusterBootstrap([row["conversation"] for row in rows], seed, resamples)


def _questions(run: Run, unit: Unit) -> Iterator[RankedQuestion]:
    """Yield the questions that count and have evidence."""
    yield from filter(None, (_question(run, record, unit) for record in run.counted))


def _question(run: Run, record: Record, unit: Unit) -> RankedQuestion | None:
    """Return a question with its ranking, None without evidence."""
    wanted = evidence_of(record, unit)
    if not wanted:
        return None
    ranked = _rankings(run).get(record["id"])
    if ranked is None:
        where = f"{run.label}: {RANKINGS}"
        raise InputError(f"{where}: no ranking of {record['id']:.60}; run it again whole")
    ranking = ranked.turns if unit == "turn" else ranked.sessions
    if ranking is None:
        raise InputError(
            f"{run.label}: whole sessions were ranked, not turns; use session_ measures"
            if unit == "turn"
            else f"{run.label}: its sessions are unknown; use measures of turns"
        )
    turns = None
    if unit == "session" and ranked.turns is not None:  # rank of the first turn of each session
        first: dict[str, int] = {}
        for rank, turn in enumerate(ranked.turns.ids, 1):
            first.setdefault(session_of(turn), rank)
        turns = tuple(first.values())
    judged = Judged(ranking.ids, wanted, ranking.size, ranking.tokens, turns)
    units = [unit.tokens for unit in (ranked.turns, ranked.sessions) if unit is not None]
    spent = max((tokens[-1] for tokens in units if tokens), default=None)
    return RankedQuestion(record["id"], ranked.selected, ranking, judged, spent)
