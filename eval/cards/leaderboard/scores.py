"""Scores of systems on the same questions, under each protocol and answer key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from eval.datasets.answer_key import KEYS
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question
from eval.metrics.protocols import PROTOCOLS, Protocol
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.metrics.stats.resamples import Floats
from eval.records.answer_key_views import left_out
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.measures import JUDGE, value
from eval.summary.protocols import protocol_score
from eval.summary.scoring import question_fields, score_record
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

F1, BLEU1 = "f1", "bleu1"
ORIGINAL, CORRECTED, EXCLUDED = KEYS
Mask = NDArray[np.bool_]


class Column(NamedTuple):
    """What is compared: a measure under an answer key and a protocol, '' where none defines it."""

    protocol: str
    measure: str
    key: str

    @property
    def name(self) -> str:
        """The protocol, or the measure that no protocol defines."""
        return self.protocol or self.measure


@dataclass(frozen=True)
class Scores:
    """Scores of S systems on Q questions: `scores` (S, Q) by column, nan where there is none.

    `types`, `conversations` (Q).
    """

    names: tuple[str, ...]
    types: NDArray[np.str_]
    conversations: NDArray[np.str_]
    scores: Mapping[Column, Floats]

    def ranked(self) -> Iterator[Column]:
        """Yield the columns that systems are ranked by: F1 of each protocol, and verdicts."""
        for column, scores in self.scores.items():
            if column.measure != BLEU1 and not np.isnan(scores).all():
                yield column

    def masks(self, column: Column) -> Iterator[tuple[str, Mask]]:
        """Yield each type with a score in `column` and its questions (Q), then overall: all of
        them, of verdicts all but adversarial ones.
        """
        scored = np.asarray(~np.isnan(self.scores[column]).all(axis=0), dtype=np.bool_)
        for type_ in TYPES.values():
            chosen = np.asarray(scored & (self.types == type_), dtype=np.bool_)
            if chosen.any():
                yield type_, chosen
        answerable = np.asarray(self.types != TYPES[ADVERSARIAL], dtype=np.bool_)
        everything = scored if column.protocol else scored & answerable
        if everything.any():
            yield OVERALL, everything

    def shared(self, column: Column, chosen: Mask) -> tuple[list[int], Mask]:
        """Return the systems with a score in `column`, and those of the `chosen` questions that all
        of them have a score on, which may be none.
        """
        some = ~np.isnan(self.scores[column])
        systems = [i for i, known in enumerate(some) if known[chosen].any()]
        return systems, chosen & some[systems].all(axis=0)

    def bootstrap(self, chosen: Mask, seed: int) -> ClusterBootstrap:
        """Return the bootstrap over the conversations of the `chosen` questions."""
        return ClusterBootstrap(self.conversations[chosen].tolist(), seed)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean score of a system over the questions of a type that it has a score on."""

    column: Column
    type: str
    system: str
    found: Interval


def means(scores: Scores, seed: int) -> Iterator[Mean]:
    """Yield all means with their intervals, by column, type and system."""
    for column, values in scores.scores.items():
        for type_, chosen in scores.masks(column):
            bootstrap = scores.bootstrap(chosen, seed)
            for name, row in zip(scores.names, values[:, chosen], strict=True):
                found = bootstrap.mean(row.tolist())
                if found is not None:
                    yield Mean(column, type_, name, found.within())


def scores_of(runs: Iterable[tuple[str, Run]], corrected: Dataset) -> Scores:
    """Return the scores of runs, by the names of their systems, under all protocols and answer
    keys. The runs are read one after the other, and none is needed again.

    `corrected`: the data set of the runs under its corrected answer key. Raises InputError for a
    run on other data, or scored under another key than the original one.
    """
    questions = corrected.questions
    at = {question.id: i for i, question in enumerate(questions)}
    columns = [Column(name, one, key) for key in KEYS for name in PROTOCOLS for one in (F1, BLEU1)]
    columns += [Column("", JUDGE, key) for key in KEYS]
    rows: dict[Column, list[Floats]] = {column: [] for column in columns}
    names = []
    for name, run in runs:
        _check(run, corrected)
        names.append(name)
        views = _views(run, corrected)
        for column, scored in rows.items():
            scored.append(_row(views[column.key], at, column))
    return Scores(
        tuple(names),
        np.array([question.type for question in questions]),
        np.array([question.conversation for question in questions]),
        {column: np.array(scored) for column, scored in rows.items()},
    )


def _check(run: Run, dataset: Dataset) -> None:
    if {file["sha256"] for file in run.manifest["data"]} != {one.sha256 for one in dataset.files}:
        raise InputError(f"{run.folder}: answers other data than {dataset.name}; leave it out")
    if (key := run.manifest["key"]["name"]) != ORIGINAL:
        raise InputError(
            f"{run.folder}: scored under the {key} answer key; first: python -m eval rescore "
            f"{run.folder} --key {ORIGINAL}"
        )


def _views(run: Run, corrected: Dataset) -> dict[str, list[Record]]:
    """Return the records of `run` under each answer key, without those that it excludes."""
    questions = {question.id: question for question in corrected.questions}
    wrong = set(corrected.key.wrong)
    records = list(run.records.values())
    again = [_corrected(record, questions[record["id"]]) for record in records]
    return {
        ORIGINAL: records,
        CORRECTED: [record for record in again if not left_out(record)],
        EXCLUDED: [record for record in records if record["id"] not in wrong],
    }


def _corrected(record: Record, question: Question) -> Record:
    """Return the record as scored under the key of `question`."""
    if question.key_change is None:
        return record
    changed = cast(Record, record | question_fields(question))
    return cast(Record, changed | score_record(changed))


def _row(records: Sequence[Record], at: Mapping[str, int], column: Column) -> Floats:
    """Return the scores of one system (Q), nan where it has none; `at`: place of each question."""
    row = np.full(len(at), np.nan)
    protocol = PROTOCOLS.get(column.protocol)
    for record in records:
        found = value(record, JUDGE) if protocol is None else _score(record, protocol, column)
        if found is not None:
            row[at[record["id"]]] = found
    return row


def _score(record: Record, protocol: Protocol, column: Column) -> float | None:
    if record["category"] not in protocol.categories:
        return None
    if protocol.errors == "excluded" and record["status"] != "ok":
        return None
    return protocol_score(record, protocol.f1 if column.measure == F1 else BLEU1)
