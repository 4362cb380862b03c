"""The scores of a card, computed from answers and rankings alone, the same for all who do so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from eval.cards.card.schema import ANSWERS, DIGITS, RANKINGS, CardFile, Role, Score
from eval.cards.card.sources import Answers, Rankings
from eval.cards.scores import BLEU1, TOKENS, Column, Scores, of_protocols, of_records, under_keys
from eval.datasets.types import Dataset, Question
from eval.metrics.protocols import PROTOCOLS
from eval.metrics.stats.interval import RESAMPLES, Interval
from eval.records.answer_key_views import left_out
from eval.records.schema import Record
from eval.summary import retrieval
from eval.summary.imported import unanswered
from eval.summary.measures import ABSTAINED, JUDGE
from eval.summary.summarise import OVERALL

SEED = 0  # of all intervals of cards, whatever the seed of the run
REPORTED = (JUDGE, TOKENS)  # by the file of answers


@dataclass(frozen=True)
class Computed:
    """What a card says that follows from the files: scores, unrounded, the counts `rows` and the
    `files` of answers and rankings by role.
    """

    scores: list[Number]
    rows: dict[str, int]
    files: Mapping[Role, CardFile]


class Number(NamedTuple):
    """A score before it is rounded: a mean with its interval, whose ends may be nan."""

    key: str
    protocol: str | None
    type: str
    measure: str
    interval: Interval

    @property
    def identity(self) -> tuple[str, str | None, str, str]:
        """What is measured, as of a Score."""
        return self[:4]

    @property
    def exact(self) -> dict[str, float]:
        """The numbers of a Score by name, without those that are not determined."""
        mean = self.interval
        numbers = {"n": mean.n, "mean": mean.value, "low": mean.low, "high": mean.high}
        return {name: number for name, number in numbers.items() if not math.isnan(number)}

    def rounded(self) -> Score:
        """Return the entry of a card."""
        what = {name: part for name, part in self._asdict().items() if name != "interval"}
        numbers = {name: round(number, DIGITS) for name, number in self.exact.items()}
        return Score.model_validate({**what, **numbers, "reported": self.measure in REPORTED})


def compute(
    datasets: Mapping[str, Dataset], answers: Answers | None, rankings: Rankings | None
) -> Computed:
    """Return all scores of a card: of answers under each protocol and key, of verdicts, rankings.

    `datasets`: by answer key, the run's first. Under it every protocol and type has scores; under
    the others, each protocol has its overall F1.
    """
    own, dataset = next(iter(datasets.items()))
    rows = [] if answers is None else answers.records(dataset.questions)
    scores = _of_answers(datasets, rows) if rows else []
    if rankings is not None and not rows:
        asked = (one for one in dataset.questions if one.id in rankings.run.rankings)
        rows = [cast(Record, unanswered(question)) for question in asked]
    counted = [row for row in rows if row["status"] == "ok" and not left_out(row)]
    files: dict[Role, CardFile] = {}
    if answers is not None:
        files[ANSWERS] = answers.card_file(dataset.questions)
    if rankings is not None:
        scores += _of_rankings(own, counted, rankings)
        files[RANKINGS] = rankings.card_file(row["id"] for row in counted)
    counts = {
        "questions": len(dataset.questions),
        "matched": len(rows),
        "conversations": len({row["conversation"] for row in rows}),
        "errors": sum(row["status"] != "ok" for row in rows),
    }
    return Computed(scores, counts | (dict(answers.read) if answers is not None else {}), files)


def _of_answers(datasets: Mapping[str, Dataset], rows: Sequence[Record]) -> list[Number]:
    """Return the means by answer key, protocol, type and measure."""
    own, dataset = next(iter(datasets.items()))
    columns: dict[Column, Mapping[str, float]] = {}
    for key, records in under_keys(rows, datasets).items():
        columns |= of_protocols(records, key)
        for measure in (ABSTAINED, JUDGE, TOKENS) if key == own else ():
            columns |= of_records(records, key, measure)
    table = Scores.of({"": columns}, dataset.questions)
    numbers = [
        Number(column.key, column.protocol or None, type_, column.measure, interval)
        for column, type_, _, interval in table.means(SEED)
        if type_ == OVERALL or (column.key == own and column.measure != TOKENS)
        if column.key == own or column.measure != BLEU1
    ]
    keys, protocols, types = [*datasets], [*PROTOCOLS, None], [*table.order, OVERALL]

    def place(one: Number) -> tuple[int, int, int]:
        return keys.index(one.key), protocols.index(one.protocol), types.index(one.type)

    return sorted(numbers, key=place)


def _of_rankings(key: str, rows: Sequence[Record], rankings: Rankings) -> Iterator[Number]:
    of_store = [_in_store(row, rankings.questions[row["id"]]) for row in rows]
    run, measures = rankings.measured(of_store)
    if not measures or not run.counted:
        return
    for type_, means in retrieval.by_type(run, measures, SEED, RESAMPLES).items():
        for measure, mean in means.items():
            yield Number(key, None, type_, measure, mean)


def _in_store(row: Record, question: Question) -> Record:
    """Return `row` with the evidence of `question`, whose ids are those of the ranked store."""
    named: dict[str, Any] = {} if question.store is None else {"store": question.store}
    sessions = question.evidence_sessions
    named |= {} if sessions is None else {"evidence_sessions": list(sessions)}
    return cast(Record, row | {"evidence": list(question.evidence), **named})
