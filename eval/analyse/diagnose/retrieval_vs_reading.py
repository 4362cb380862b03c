"""Points lost in retrieval and in reading, by how much of the evidence was retrieved."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from eval.analyse.diagnose.gate import TEXTS, found_turns
from eval.metrics.retrieval.registry import UNITS, Unit
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table
from eval.rendering.numbers import interval, points
from eval.rendering.tables import type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import evidence_of
from eval.summary.sample import Sample, by_type, wilson_share
from memsys.core.errors import InputError

ALL, SOME, NONE, NO_EVIDENCE, UNKNOWN = "all", "some", "none", "no evidence given", "unknown"
_TITLE = "Retrieval and reading"
STATES = (ALL, SOME, NONE, NO_EVIDENCE, UNKNOWN)
LEAST = 5  # questions with all evidence per type: fewer show almost no spread
_EDGES = (10, 20, 50, 100)  # last rank of each column


@dataclass(frozen=True, slots=True)
class Marking:
    """The score that counts, by its key in a record, and the least score of a correct answer."""

    score: str
    correct: float

    def value(self, record: Record) -> float | None:
        """Return the score, 0 to 1; None where it does not apply."""
        score = record["scores"].get(self.score)
        return None if score is None else float(score)

    def right(self, record: Record) -> float | None:
        """Return 1.0 if the answer is correct, by the judge's verdict or else by the score; else
        0.0.
        """
        verdict = record["scores"].get("judge")
        if verdict is not None:
            return float(verdict >= 0.5)
        value = self.value(record)
        return None if value is None else float(value >= self.correct)


@dataclass(frozen=True, slots=True)
class PointsLost:
    """Mean score of questions, and the score lost in retrieval and in reading; they add up to 1.

    `whole`: number of questions with all evidence retrieved, whose mean score is 1 - `reading`.
    """

    whole: int
    score: Interval
    retrieval: Interval
    reading: Interval


def state(record: Record) -> str:
    """Return how much of the question's evidence was retrieved: one of STATES."""
    if record["evidence_found"] is None:
        return UNKNOWN
    if not record["evidence"]:
        return NO_EVIDENCE
    wanted = set(record["evidence"])
    got = len(wanted & found_turns(record))
    return ALL if got == len(wanted) else SOME if got else NONE


def points_lost(
    records: Sequence[Record], values: Sequence[float | None], seed: int
) -> PointsLost | None:
    """Split the score that `records` lost, by their `values` (one each, 0 to 1).

    In a type with mean m, whose questions with all evidence have mean M, M - m is lost in retrieval
    and 1 - M in reading; several types are weighted by their questions. Questions without a value
    or without known evidence do not count, nor types with fewer than LEAST questions with all
    evidence; None if nothing remains. The intervals are those of the nonparametric delta method
    (Davison and Hinkley, 1997, section 2.7.2): for reading, of the mean of (1 - M) - w (v - M) / p,
    v a question's value, w 1 with all evidence else 0, p the share of such questions.
    """
    answers = [
        (record, value, evidence == ALL)
        for record, value in zip(records, values, strict=True)
        if value is not None and (evidence := state(record)) in {ALL, SOME, NONE}
    ]
    complete = Counter(record["type"] for record, _, has_all in answers if has_all)
    counted = [answer for answer in answers if complete[answer[0]["type"]] >= LEAST]
    if not counted:
        return None
    whole: dict[str, list[float]] = {}
    for record, value, has_all in counted:
        if has_all:
            whole.setdefault(record["type"], []).append(value)
    size = Counter(record["type"] for record, _, _ in counted)
    means = {type_: sum(scores) / len(scores) for type_, scores in whole.items()}
    reading = []
    for record, value, has_all in counted:
        type_ = record["type"]
        weight = size[type_] / len(whole[type_]) if has_all else 0.0
        reading.append(1 - means[type_] - weight * (value - means[type_]))
    retrieval = [1 - value - lost for (_, value, _), lost in zip(counted, reading, strict=True)]
    rows = [record for record, _, _ in counted]
    score = Sample.of(rows, [value for _, value, _ in counted], seed).score()
    of_retrieval = Sample.of(rows, retrieval, seed).mean(-1.0, 1.0)
    of_reading = Sample.of(rows, reading, seed).score()
    read = [value for scores in whole.values() for value in scores]
    if set(read) in ({0.0}, {1.0}):  # no spread to resample, however few they are
        of_reading = wilson_share([value == 0 for value in read])
    if score is None or of_retrieval is None or of_reading is None:
        return None
    return PointsLost(len(read), score, of_retrieval, of_reading)


def retrieval_and_reading(run: Run, marking: Marking) -> Section:
    """Return the section on `run`; raises InputError if no answer of types 1 to 4 has the score."""
    groups = list(by_type(run.counted))
    if not groups:
        return Section(_TITLE, ["No question of types 1-4 was answered."])
    if not run.has_answers:
        missed = missed_by_rank(run)
        return Section(_TITLE, [f"{run.label} has no answers: only its ranking is known.", *missed])
    overall = groups[-1][1]
    if all(marking.value(record) is None for record in overall):
        if all(record["gold"] is None for record in overall):
            reason = f"the questions have no gold answers, so that no answer has {marking.score}"
            if any(record["judge"] for record in overall):
                reason += "; --score judge analyses the verdicts"
            return Section(_TITLE, [f"{run.label}: {reason}.", *missed_by_rank(run)])
        names = {key for r in overall for key, value in r["scores"].items() if value is not None}
        raise InputError(
            f"{run.label}: no answer of types 1-4 has the score {marking.score!r}; use --score "
            f"with one of {', '.join(sorted(names))}"
        )
    types = types_of([run])
    named = [(type_name(name, types), records) for name, records in groups]
    rows = []
    for name, records in named:
        pairs = [(state(record), record) for record in records]
        states = [(label, [record for its, record in pairs if its == label]) for label in STATES]
        occurring = [(label, group) for label, group in states if group]
        if len(occurring) > 1:
            occurring.append(("(any)", records))
        rows += [[name, label, *_cells(group, marking, run.seed)] for label, group in occurring]
    judged = sum(record["scores"].get("judge") is not None for record in overall)
    rule = f"{marking.score} of {marking.correct:g} or more"
    if judged == len(overall):
        rule = "the judge's verdict"
    elif judged:
        rule = f"the judge's verdict on {judged} of {len(overall)} answers, else {rule}"
    else:
        rule += " (no judge ran)"
    header = ["type", "evidence retrieved", "n", marking.score, "share correct"]
    parts: list[str | Table] = [f"Correct: {rule}.", Table(header, rows)]
    if run.memory_by_model:
        parts.append(TEXTS["reading"]["by_model"])
    if not run.retrieval_known:
        return Section(_TITLE, [*parts, TEXTS["reading"]["unknown"]])
    return Section(_TITLE, [*parts, *_split(named, marking, run.seed), *missed_by_rank(run)])


def _cells(records: Sequence[Record], marking: Marking, seed: int) -> list[str]:
    score = Sample.of(records, [marking.value(record) for record in records], seed).score()
    right = Sample.of(records, [marking.right(record) for record in records], seed).share()
    scored = 0 if score is None else score.n
    n = str(len(records)) + (f" ({scored} scored)" if scored < len(records) else "")
    return [n, interval(score), interval(right)]


def _split(
    groups: Sequence[tuple[str, Sequence[Record]]], marking: Marking, seed: int
) -> list[str | Table]:
    """Return the table of points lost, and a sentence on the types that are not in it."""
    rows, missing = [], []
    for name, records in groups:
        for of, mark in ((marking.score, marking.value), ("share correct", marking.right)):
            loss = points_lost(records, [mark(record) for record in records], seed)
            if loss is None:
                missing.append(name)
                continue
            lost = [interval(mean, 1, points) for mean in (loss.retrieval, loss.reading)]
            counts = [str(loss.score.n), str(loss.whole)]
            rows.append([name, of, *counts, interval(loss.score), *lost])
    if not rows:
        return [f"Cannot be split: no type has {LEAST} questions with all evidence."]
    header = ["type", "of", "n", "with all evidence", "mean", "lost in retrieval"]
    parts: list[str | Table] = [TEXTS["reading"]["lost"], Table([*header, "lost in reading"], rows)]
    if missing:
        parts.append(
            f"Neither split nor in overall: {', '.join(dict.fromkeys(missing))} (fewer than "
            f"{LEAST} questions with all evidence)."
        )
    return parts


@dataclass(frozen=True, slots=True)
class EvidenceRanks:
    """Rank, from 1, of each evidence `unit` (turn or session) of a question in its ranking.

    A rank is None where the ranking does not contain the id. `listed`: number of ids in the
    ranking. `complete`: the ranking contains the whole store. `selected`: it has no order.
    """

    unit: Unit
    ranks: dict[str, int | None]
    listed: int
    complete: bool
    selected: bool


def evidence_ranks(run: Run, record: Record) -> EvidenceRanks | None:
    """Return the ranks of a question's evidence turns, or of its sessions where it names no turns
    or only sessions were ranked; None without evidence or a recorded ranking.
    """
    ranked = run.rankings.get(record["id"])
    if ranked is None:
        return None
    for unit in UNITS:
        ranking = ranked.turns if unit == "turn" else ranked.sessions
        wanted = evidence_of(record, unit)
        if ranking is not None and wanted:
            ids = ranking.ids
            ranks = {id_: ids.index(id_) + 1 if id_ in ids else None for id_ in wanted}
            return EvidenceRanks(unit, ranks, len(ranking.ids), ranking.complete, ranked.selected)
    return None


def missed_by_rank(run: Run) -> list[str | Table]:
    """Return a sentence and a table: evidence turns outside of the context (all, where no context
    is recorded), counted by rank and question type; [] if there are none, or no ranking of turns.
    """
    used = run.manifest["retrieval"]
    if used is None:
        return []
    deepest = min(used["depth"] or _EDGES[-1], _EDGES[-1])
    edges = [*(edge for edge in _EDGES if edge < deepest), deepest]
    starts = [1, *(edge + 1 for edge in edges)]
    names = [f"rank {low}-{high}" for low, high in zip(starts, edges, strict=False)]
    rows = []
    for name, records in by_type(run.counted):
        ranks: list[int | None] = []
        for record in records:
            ranking = evidence_ranks(run, record)
            if ranking is not None and ranking.unit == "turn" and not ranking.selected:
                read = found_turns(record)
                ranks += [rank for turn, rank in ranking.ranks.items() if turn not in read]
        if ranks:
            columns = [0] * (len(edges) + 1)
            for rank in ranks:
                columns[len(edges) if rank is None else bisect_left(edges, rank)] += 1
            rows.append([type_name(name, types_of([run])), str(len(ranks)), *map(str, columns)])
    if not rows:
        return []
    which = (
        "Evidence turns that are not in the context" if run.retrieval_known else "Evidence turns"
    )
    return [
        f"{which}, by their rank among the turns of the recorded ranking:",
        Table(["type", "turns", *names, f"not within {deepest}"], rows),
    ]
