"""The scores of a card, computed from answers and rankings alone, the same for all who do so."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.cards.card.answers import Answers
from eval.cards.card.rankings import Rankings
from eval.cards.card.schema import DIGITS, Score
from eval.datasets.types import ADVERSARIAL, Dataset, Question, types_in
from eval.imports.rescore.imports import record
from eval.metrics.protocols import PROTOCOLS, Protocol
from eval.metrics.stats.interval import RESAMPLES, ClusterBootstrap
from eval.records.answer_key_views import left_out
from eval.records.schema import Record
from eval.summary import retrieval
from eval.summary.imported import unanswered
from eval.summary.protocols import counted_by_type, protocol_score
from eval.summary.summarise import OVERALL

SEED = 0  # of all intervals of cards, whatever the seed of the run
JUDGE, TOKENS = "judge", "context_tokens"
REPORTED = (JUDGE, TOKENS)


@dataclass(frozen=True)
class Computed:
    """The scores that follow from the files, unrounded, and the questions behind them.

    `counted`: ids of the questions that count under the run's answer key, in the data set's order.
    `matched`: number of questions with an answer or ranking, of so many `conversations`; `errors`:
    those whose row is an error.
    """

    scores: list[Number]
    counted: list[str]
    matched: int
    conversations: int
    errors: int


@dataclass(frozen=True, slots=True)
class Number:
    """A score before it is rounded; fields as in Score."""

    key: str
    protocol: str | None
    type: str
    measure: str
    n: int
    mean: float
    low: float | None
    high: float | None
    reported: bool = False

    @property
    def identity(self) -> tuple[str, str | None, str, str]:
        """What is measured, as of a Score."""
        return self.key, self.protocol, self.type, self.measure

    def rounded(self) -> Score:
        """Return the entry of a card."""
        low, high = (None if end is None else round(end, DIGITS) for end in (self.low, self.high))
        return Score(
            key=self.key,
            protocol=self.protocol,
            type=self.type,
            measure=self.measure,
            n=self.n,
            mean=round(self.mean, DIGITS),
            low=low,
            high=high,
            reported=self.reported,
        )


def compute(
    datasets: Mapping[str, Dataset], answers: Answers | None, rankings: Rankings | None
) -> Computed:
    """Return all scores of a card: of answers under each protocol and key, of verdicts, rankings.

    `datasets`: by answer key, the run's first. Under it every protocol and type has scores; under
    the others, each protocol has its overall F1.
    """
    own, dataset = next(iter(datasets.items()))
    rows = [] if answers is None else answers.records(dataset.questions)
    scores: list[Number] = []
    if answers is not None and rows:
        counted = [row for row in rows if not left_out(row)]
        scores += _of_protocols(own, counted)
        scores += _of_answers(own, dataset, counted, answers)
        for key, other in list(datasets.items())[1:]:
            scores += _under(key, other, {row["id"]: row for row in rows}, answers)
    ranked = rankings is not None and not rows
    if rankings is not None and ranked:
        asked = (one for one in dataset.questions if one.id in rankings.run.rankings)
        rows = [_unanswered(question) for question in asked]
    counted = [row for row in rows if row["status"] == "ok" and not left_out(row)]
    if rankings is not None:
        scores += _of_rankings(own, counted, rankings)
    errors = sum(row["status"] != "ok" for row in rows)
    conversations = len({row["conversation"] for row in rows})
    return Computed(scores, [row["id"] for row in counted], len(rows), conversations, errors)


def _of_protocols(key: str, rows: Sequence[Record]) -> Iterator[Number]:
    for protocol in PROTOCOLS.values():
        for type_, group in counted_by_type(rows, protocol).items():
            for measure, name in (("f1", protocol.f1), ("bleu1", "bleu1")):
                yield from _protocol(key, protocol, type_, measure, name, group)


def _protocol(
    key: str, protocol: Protocol, type_: str, measure: str, name: str, rows: Sequence[Record]
) -> Iterator[Number]:
    values = [protocol_score(row, name) for row in rows]
    yield from _mean(key, protocol.name, type_, measure, rows, values)


def _of_answers(
    key: str, dataset: Dataset, rows: Sequence[Record], answers: Answers
) -> Iterator[Number]:
    """Yield the share of refusals, and the means of what the answers' file reports."""
    answered = [row for row in rows if row["status"] == "ok"]
    questions = {question.id: question for question in dataset.questions}
    verdicts = {row["id"]: answers.verdict(questions[row["id"]]) for row in answered}
    for type_, group in _by_type(answered).items():
        refused = [float(bool(row["abstained"])) for row in group]
        yield from _mean(key, None, type_, "abstained", group, refused)
        judged = [verdicts[row["id"]] for row in group]
        yield from _mean(key, None, type_, JUDGE, group, judged, reported=True)
        if type_ == OVERALL:
            tokens = [row["context_tokens"] for row in group]
            yield from _mean(key, None, type_, TOKENS, group, tokens, math.inf, reported=True)


def _under(
    key: str, dataset: Dataset, rows: Mapping[str, Record], answers: Answers
) -> Iterator[Number]:
    """Yield the overall F1 of each protocol under another answer key than that of `rows`."""
    again = (
        record(question, answers.rows[question.id]) if _changed(question, row) else row
        for question in dataset.questions
        if (row := rows.get(question.id)) is not None
    )
    counted = [row for row in again if not left_out(row)]
    for protocol in PROTOCOLS.values():
        group = counted_by_type(counted, protocol)[OVERALL]
        yield from _protocol(key, protocol, OVERALL, "f1", protocol.f1, group)


def _changed(question: Question, row: Record) -> bool:
    return question.key_change is not None or row["key"] is not None


def _of_rankings(key: str, rows: Sequence[Record], rankings: Rankings) -> Iterator[Number]:
    of_store = [_in_store(row, rankings.questions[row["id"]]) for row in rows]
    run, measures = rankings.measured(of_store)
    if not measures or not run.counted:
        return
    for type_, means in retrieval.by_type(run, measures, SEED, RESAMPLES).items():
        for measure, found in means.items():
            low, high = _ends(found.low, found.high)
            yield Number(key, None, type_, measure, found.n, found.value, low, high)


def _in_store(row: Record, question: Question) -> Record:
    """Return `row` with the evidence of `question`, whose ids are those of the ranked store."""
    named: dict[str, Any] = {} if question.store is None else {"store": question.store}
    sessions = question.evidence_sessions
    named |= {} if sessions is None else {"evidence_sessions": list(sessions)}
    return row | {"evidence": list(question.evidence), **named}  # type: ignore[return-value]


def _unanswered(question: Question) -> Record:
    return unanswered(question)  # type: ignore[return-value]


def _by_type(rows: Sequence[Record]) -> dict[str, list[Record]]:
    groups = {name: [r for r in rows if r["type"] == name] for name in types_in(rows).values()}
    return groups | {OVERALL: [row for row in rows if row["category"] != ADVERSARIAL]}


def _mean(
    key: str,
    protocol: str | None,
    type_: str,
    measure: str,
    rows: Iterable[Record],
    values: Sequence[float | None],
    most: float = 1.0,
    *,
    reported: bool = False,
) -> Iterator[Number]:
    """Yield the mean of the values that are not None with its interval; nothing without any."""
    clusters = [row["conversation"] for row in rows]
    found = ClusterBootstrap(clusters, SEED, RESAMPLES).mean(values) if clusters else None
    if found is not None:
        possible = found.within(0.0, most)
        ends = _ends(possible.low, possible.high)
        yield Number(key, protocol, type_, measure, found.n, found.value, *ends, reported)


def _ends(low: float, high: float) -> tuple[float | None, float | None]:
    return (None, None) if math.isnan(low) or math.isnan(high) else (low, high)
