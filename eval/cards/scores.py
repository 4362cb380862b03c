"""Scores of systems on the same questions under each protocol and answer key, their means, and the
scores of a card, which follow from answers and rankings alone.

Score cards and the leaderboard compute all means here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from eval.cards.card.schema import ANSWERS, DIGITS, RANKINGS, CardFile, Role, Score
from eval.cards.card.sources import Answers, Rankings
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question, types_in
from eval.metrics.protocols import PROTOCOLS
from eval.metrics.stats.interval import RESAMPLES, ClusterBootstrap, Floats, Interval
from eval.records.answer_key_views import left_out
from eval.records.schema import Record
from eval.records.scoring import question_fields, score_record
from eval.summary import retrieval
from eval.summary.closing import unanswered
from eval.summary.measures import ABSTAINED, JUDGE, value
from eval.summary.protocols import counted_by_type, protocol_score
from eval.summary.summarise import OVERALL

F1, BLEU1, TOKENS = "f1", "bleu1", "context_tokens"
SEED = 0  # of all intervals of cards, whatever the seed of the run
REPORTED = (JUDGE, TOKENS)  # by the file of answers
Mask = NDArray[np.bool_]


class Column(NamedTuple):
    """A measure under an answer key and a protocol, '' where no protocol defines the measure."""

    protocol: str
    measure: str
    key: str


ByQuestion = Mapping[Column, Mapping[str, float]]  # scores by question id


class Mean(NamedTuple):
    """The mean score of a system over the questions of a type on which it has a score."""

    column: Column
    type: str
    system: str
    mean: Interval


@dataclass(frozen=True)
class Scores:
    """Scores of S systems on Q questions: `scores` (S, Q) by column, nan where there is none.

    `types`, `conversations` (Q). `order`: names of the types as tables list them.
    """

    names: tuple[str, ...]
    types: NDArray[np.str_]
    conversations: NDArray[np.str_]
    scores: Mapping[Column, Floats]
    order: Sequence[str] = tuple(TYPES.values())

    @classmethod
    def of(cls, systems: Mapping[str, ByQuestion], questions: Sequence[Question]) -> Self:
        """Return the scores of `systems`, which have the same columns, on `questions`."""
        ids = [question.id for question in questions]
        tables = {
            column: np.array(
                [[own[column].get(id_, nan) for id_ in ids] for own in systems.values()]
            )
            for column in next(iter(systems.values()))
        }
        return cls(
            tuple(systems),
            np.array([question.type for question in questions]),
            np.array([question.conversation for question in questions]),
            tables,
            tuple(types_in({"category": q.category, "type": q.type} for q in questions).values()),
        )

    def ranked(self) -> Iterator[Column]:
        """Yield the columns that systems are ranked by: F1 of each protocol, and verdicts."""
        for column, scores in self.scores.items():
            if column.measure != BLEU1 and not np.isnan(scores).all():
                yield column

    def masks(self, column: Column) -> Iterator[tuple[str, Mask]]:
        """Yield each type with a score in `column` and its questions (Q), then overall: all of
        them, of what no protocol defines all but adversarial ones.
        """
        scored = np.asarray(~np.isnan(self.scores[column]).all(axis=0), dtype=np.bool_)
        for type_ in self.order:
            mask = np.asarray(scored & (self.types == type_), dtype=np.bool_)
            if mask.any():
                yield type_, mask
        answerable = np.asarray(self.types != TYPES[ADVERSARIAL], dtype=np.bool_)
        everything = scored if column.protocol else scored & answerable
        if everything.any():
            yield OVERALL, everything

    def shared(self, column: Column, mask: Mask) -> tuple[list[int], Mask]:
        """Return the systems with a score in `column`, and those questions of `mask` on which all
        of them have a score, which may be none.
        """
        some = ~np.isnan(self.scores[column])
        systems = [i for i, own in enumerate(some) if own[mask].any()]
        return systems, mask & some[systems].all(axis=0)

    def bootstrap(self, mask: Mask, seed: int) -> ClusterBootstrap:
        """Return the bootstrap over the conversations of the questions of `mask`."""
        return ClusterBootstrap(self.conversations[mask].tolist(), seed)

    def means(self, seed: int) -> Iterator[Mean]:
        """Yield all means with their 95% intervals, by column, type and system."""
        for column, values in self.scores.items():
            most = inf if column.measure == TOKENS else 1.0
            for type_, mask in self.masks(column):
                bootstrap = self.bootstrap(mask, seed)
                for name, row in zip(self.names, values[:, mask], strict=True):
                    mean = bootstrap.mean(row.tolist())
                    if mean is not None:
                        yield Mean(column, type_, name, mean.within(0.0, most))


def under_keys(
    records: Iterable[Record], datasets: Mapping[str, Dataset]
) -> dict[str, list[Record]]:
    """Return the records as scored under each answer key, without those that it excludes.

    `datasets`: the data set of the records by answer key. A record that is already under a key
    remains as it is; another has no verdict there, which was given on another gold answer.
    """
    listed = list(records)
    views = {}
    for key, dataset in datasets.items():
        questions = {question.id: question for question in dataset.questions}
        again = (_under(record, questions[record["id"]]) for record in listed)
        views[key] = [record for record in again if not left_out(record)]
    return views


def _under(record: Record, question: Question) -> Record:
    fields = question_fields(question)
    if record["key"] == fields["key"]:
        return record
    changed = cast(Record, record | fields)
    return cast(Record, changed | score_record(changed))


def of_protocols(records: Sequence[Record], key: str) -> dict[Column, dict[str, float]]:
    """Return F1 and BLEU-1 of the questions that each protocol counts. `key`: that of `records`."""
    scores = {}
    for name, protocol in PROTOCOLS.items():
        counted = counted_by_type(records, protocol)[OVERALL]
        for measure, score in ((F1, protocol.f1), (BLEU1, BLEU1)):
            values = ((record["id"], protocol_score(record, score)) for record in counted)
            scores[Column(name, measure, key)] = _known_scores(values)
    return scores


def of_records(records: Sequence[Record], key: str, measure: str = JUDGE) -> ByQuestion:
    """Return the column of `measure`, which no protocol defines, of the questions with an answer:
    a score, whether the answer is a refusal, or the tokens of the context.
    """
    values = (
        (record["id"], record["context_tokens"] if measure == TOKENS else value(record, measure))
        for record in records
        if record["status"] == "ok"
    )
    return {Column("", measure, key): _known_scores(values)}


def _known_scores(values: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    return {id_: score for id_, score in values if score is not None}


@dataclass(frozen=True)
class Computed:
    """What a card says that follows from the files: the means, the counts `rows` and the `files` of
    answers and rankings by role.
    """

    means: list[Mean]
    rows: dict[str, int]
    files: Mapping[Role, CardFile]


def exact(mean: Mean) -> dict[str, float]:
    """Return the numbers of a Score by name, unrounded, without those that are not determined."""
    interval = mean.mean
    numbers = {"n": interval.n, "mean": interval.value, "low": interval.low, "high": interval.high}
    return {name: number for name, number in numbers.items() if not isnan(number)}


def rounded(mean: Mean) -> Score:
    """Return the entry of a card."""
    protocol, measure, key = mean.column
    what = {"key": key, "protocol": protocol or None, "type": mean.type, "measure": measure}
    numbers = {name: round(number, DIGITS) for name, number in exact(mean).items()}
    return Score.model_validate({**what, **numbers, "reported": measure in REPORTED})


def compute(
    datasets: Mapping[str, Dataset], answers: Answers | None, rankings: Rankings | None
) -> Computed:
    """Return all scores of a card: of answers under each protocol and key, of verdicts, rankings.

    `datasets`: by answer key, the run's first. Under it every protocol and type has scores; under
    the others, each protocol has its overall F1.
    """
    own, dataset = next(iter(datasets.items()))
    rows = [] if answers is None else list(answers.records)
    means = _of_answers(datasets, rows) if rows else []
    if rankings is not None and not rows:
        asked = (question for question in dataset.questions if question.id in rankings.run.rankings)
        rows = [cast(Record, unanswered(question)) for question in asked]
    counted = [row for row in rows if row["status"] == "ok" and not left_out(row)]
    files: dict[Role, CardFile] = {}
    if answers is not None:
        files[ANSWERS] = answers.card_file
    if rankings is not None:
        means += _of_rankings(own, counted, rankings)
        files[RANKINGS] = rankings.card_file(row["id"] for row in counted)
    counts = {
        "questions": len(dataset.questions),
        "matched": len(rows),
        "conversations": len({row["conversation"] for row in rows}),
        "errors": sum(row["status"] != "ok" for row in rows),
    }
    return Computed(means, counts | (dict(answers.read) if answers is not None else {}), files)


def _of_answers(datasets: Mapping[str, Dataset], rows: Sequence[Record]) -> list[Mean]:
    """Return the means by answer key, protocol, type and measure."""
    own, dataset = next(iter(datasets.items()))
    columns: dict[Column, Mapping[str, float]] = {}
    for key, records in under_keys(rows, datasets).items():
        columns |= of_protocols(records, key)
        for measure in (ABSTAINED, JUDGE, TOKENS) if key == own else ():
            columns |= of_records(records, key, measure)
    table = Scores.of({"": columns}, dataset.questions)
    means = [
        mean
        for mean in table.means(SEED)
        if mean.type == OVERALL or (mean.column.key == own and mean.column.measure != TOKENS)
        if mean.column.key == own or mean.column.measure != BLEU1
    ]
    keys, protocols, types = [*datasets], [*PROTOCOLS, ""], [*table.order, OVERALL]

    def place(mean: Mean) -> tuple[int, int, int]:
        column = mean.column
        return keys.index(column.key), protocols.index(column.protocol), types.index(mean.type)

    return sorted(means, key=place)


def _of_rankings(key: str, rows: Sequence[Record], rankings: Rankings) -> Iterator[Mean]:
    of_store = [_in_store(row, rankings.questions[row["id"]]) for row in rows]
    run, measures = rankings.measured(of_store)
    if not measures or not run.counted:
        return
    by_type, _ = retrieval.by_type(run, measures, SEED, RESAMPLES)
    for type_, means in by_type.items():
        for measure, mean in means.items():
            yield Mean(Column("", measure, key), type_, "", mean)


def _in_store(row: Record, question: Question) -> Record:
    """Return `row` with the evidence of `question`, whose ids are those of the ranked store."""
    named: dict[str, Any] = {} if question.store is None else {"store": question.store}
    sessions = question.evidence_sessions
    named |= {} if sessions is None else {"evidence_sessions": list(sessions)}
    return cast(Record, row | {"evidence": list(question.evidence), **named})
