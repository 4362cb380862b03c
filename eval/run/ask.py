"""One question to one strategy, reader and judge, as a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import NamedTuple

from eval.datasets.types import Question
from eval.judges.judge import Judge
from eval.readers.base import Reader
from eval.records.jsonl import Record, json_line
from eval.run.ingest import Failure, describe
from eval.run.trial import NOTHING, Trial
from memsys.context.base import stamp
from memsys.llm.meter import Meter
from memsys.strategy import MemoryStrategy
from memsys.types import Query


class Spent(NamedTuple):
    """Milliseconds on the wall that one question took, by part."""

    retrieve_ms: float
    answer_ms: float
    judge_ms: float
    score_ms: float


class Asked(NamedTuple):
    """A record, its line of records.jsonl, where the time went, and the recorded calls it used."""

    record: Record
    line: str
    spent: Spent
    calls: list[Record]


@dataclass(frozen=True, slots=True)
class Agent:
    """What answers the questions of one conversation: a strategy that was fed it, and a reader;
    and what judges the answers, if anything does.
    """

    strategy: MemoryStrategy
    reader: Reader
    judge: Judge | None
    meter: Meter
    asked_at: datetime


def ask(question: Question, agent: Agent) -> Callable[[], Asked]:
    """Retrieve for `question` now; the rest, which may wait for models, is done when called.

    A failure becomes a record with status `error` and no score. InputError and BudgetReached are
    raised through.
    """
    trial = Trial(question)
    asked_at = question.asked_at or agent.asked_at
    query = Query(question.id, question.text, question.conversation, asked_at)
    with trial.phase("retrieve", agent.meter):
        trial.retrieval = agent.strategy.retrieve(query)

    def answer() -> Asked:
        if trial.failure is None:
            with trial.phase("answer", agent.meter):
                trial.answer = agent.reader.read(_words(question, agent.reader), trial.retrieval)
        if trial.failure is None and trial.answer and agent.judge and question.gold is not None:
            trial.score_key = agent.judge.score_key
            with trial.phase("judge", agent.meter):
                trial.judgement = agent.judge.judge(question.text, question.gold, trial.answer.text)
        return _asked(trial)

    return answer


def _words(question: Question, reader: Reader) -> str:
    """The question, with the time it is asked at where it has one of its own and the reader heeds
    it: "how many days ago" has no answer without.
    """
    if question.asked_at is None or not getattr(reader, "dated", False):
        return question.text
    return f"{question.text} (asked on {stamp(question.asked_at)})"


def failed(question: Question, failure: Failure) -> Asked:
    """What comes of a question that could not be asked."""
    return _asked(Trial(question, failure=failure))


def _asked(trial: Trial) -> Asked:
    started = perf_counter()
    try:
        record = trial.record()
        line = json_line(record)
        line.encode()
    except Exception as error:
        # What a strategy or reader returned cannot be scored or written.
        trial.failure = describe("record", error)
        trial.retrieval, trial.answer, trial.judgement = NOTHING, None, None
        record = trial.record()
        line = json_line(record)
    score_ms = (perf_counter() - started) * 1000
    spent = Spent(
        trial.wall_ms("retrieve"), trial.wall_ms("answer"), trial.wall_ms("judge"), score_ms
    )
    return Asked(record, line, spent, trial.calls())
