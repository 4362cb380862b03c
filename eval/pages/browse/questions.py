"""All questions of some runs: a row each for the list, and a card with answers and contexts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eval.datasets.types import types_in
from eval.pages.browse.calls import RecordedCalls
from eval.pages.report.cards import ERROR, RIGHT, UNSCORED, WRONG, question_card, verdict
from eval.pages.report.changes import score_in, score_of
from eval.pages.report.runs import ReportedRun
from eval.records.schema import Record
from eval.rendering.blocks import Card

PAGE = 50  # questions that the list shows at once
ABSTAINED = "abstained"
VERDICTS = (RIGHT, WRONG, ERROR, ABSTAINED, UNSCORED)


class Result(NamedTuple):
    """What a run has of a question: ABSTAINED follows the verdict on a refusal."""

    score: float | None
    answer: str | None
    verdicts: list[str]


class Questions:
    """All questions of some runs, in the order of the first."""

    def __init__(self, runs: Sequence[ReportedRun], calls: RecordedCalls | None = None) -> None:
        """`calls`: None if cards show no calls to models."""
        self.runs, self._measure, self._calls = runs, score_of(runs), calls
        self.key = self._measure.key
        records = [record for run in runs for record in run.records.values()]
        self.types = tuple(types_in(records).values())
        self.ids = tuple(dict.fromkeys(id_ for run in runs for id_ in run.records))

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield id, type, question, gold answer, and `runs` with a list for each run: its score,
        its answer and its verdicts; null for a run that did not ask the question.
        """
        for id_ in self.ids:
            asked = self.asked(id_)
            yield {
                **{"id": id_, "type": asked["type"], "question": asked["question"]},
                "gold": asked["gold"],
                "runs": [self.result(run, id_) for run in self.runs],
            }

    def asked(self, id_: str) -> Record:
        """Return the record of a question in the first run that asked it."""
        return next(run.records[id_] for run in self.runs if id_ in run.records)

    def score(self, run: ReportedRun, id_: str) -> float | None:
        """Return the score of a question in `run` by `key`. None where there is none, and where
        the first run that asked the question has another text of it.
        """
        return score_in(run, self.asked(id_), self._measure)

    def card(self, id_: str) -> Card | None:
        """Return the card of a question with the answers of all runs; None if no run asked it."""
        if not any(id_ in run.records for run in self.runs):
            return None
        calls = self._calls
        return question_card(id_, self.runs, lambda run: calls.of(run, id_) if calls else ())

    def result(self, run: ReportedRun, id_: str) -> Result | None:
        """Return what `run` has of a question; None if it did not ask it."""
        record = run.records.get(id_)
        if record is None:
            return None
        verdicts = [verdict(record, run.marking), *([ABSTAINED] if record["abstained"] else [])]
        return Result(self.score(run, id_), record["answer"], verdicts)
