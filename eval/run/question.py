"""One question: retrieve, answer, judge and record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import NamedTuple

from eval.datasets.types import Question
from eval.judges.judge import Judge, reference
from eval.readers import Reader
from eval.records.jsonl import Row, json_line
from eval.records.rankings import UnitRanking
from eval.records.schema import Record
from eval.records.selections import Selection
from eval.run.failures import END_THE_RUN, Failure
from eval.run.outcome import Outcome, measured
from memsys.context.writers import stamp
from memsys.core.types import Query, Retrieval
from memsys.llm.meter import Meter
from memsys.strategies.strategy import MemoryStrategy


class Asked(NamedTuple):
    """Ids of a question and of what it searches, its line of records.jsonl, wall-clock seconds by
    part, the recorded calls that were used, and the failure of the question or of its judge.

    The runner writes it to the run's files; until then the question is an `Outcome`.
    """

    id: str
    conversation: str
    line: str
    seconds: dict[str, float]
    calls: list[Row]
    failure: Failure | None
    judge_failure: Failure | None = None


class StoredRetrieval(NamedTuple):
    """The sha256 in hex of a context, the ranking of turns behind it (None: there is none), and the
    selection that is stored with the context (None: it belongs into the record).
    """

    context_sha256: str
    ranked: UnitRanking | None
    selection: Selection | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """The system that answers the questions of one store; reader and judge may be absent.

    `strategy` has ingested the store; `ends` has the end of each conversation, when its questions
    without a time are asked.
    """

    strategy: MemoryStrategy
    reader: Reader | None
    judge: Judge | None
    meter: Meter
    ends: Mapping[str, datetime]


def ask(
    question: Question, agent: Agent, write: Callable[[Question, Retrieval], StoredRetrieval]
) -> Callable[[], Asked]:
    """Retrieve for `question` now, and return a job that answers, judges and scores it.

    `write` writes ranking and context to the run's files. A failure becomes a record with status
    `error` and no score; if only the judge failed, a record with the other scores and
    `judge_error`. Raises the exceptions of END_THE_RUN.
    """
    asked_at = question.asked_at or agent.ends[question.conversation]
    query = Query(question.id, question.text, question.conversation, asked_at)
    step = measured("retrieve", agent.meter, lambda: agent.strategy.retrieve(query))
    outcome = Outcome(question, failure=step.failure, readings={"retrieve": step.reading})
    if step.failure is None:
        try:
            stored = write(question, step.result)
            cited = not agent.strategy.written_elsewhere
            found = {"retrieval": step.result, "cited": cited, **stored._asdict()}
            outcome = replace(outcome, **found)
        except (AttributeError, TypeError, ValueError) as error:  # nothing that can be written
            outcome = outcome.unrecordable(error)
    return partial(_answer, outcome, agent.reader, agent.judge, agent.meter)


def _answer(outcome: Outcome, reader: Reader | None, judge: Judge | None, meter: Meter) -> Asked:
    question = outcome.question
    if outcome.failure is None and reader is not None:
        words, retrieval = _words(question, reader), outcome.retrieval
        step = measured("answer", meter, lambda: reader.read(words, retrieval))
        readings = {**outcome.readings, "answer": step.reading}
        outcome = replace(outcome, answer=step.result, failure=step.failure, readings=readings)
    if outcome.failure is None and outcome.answer and judge:
        compared = reference(judge, question)
        if compared is not None:
            outcome = outcome.judged(judge, compared, outcome.answer.text, meter)
    return _asked(outcome)


def read_again(
    question: Question,
    record: Record,
    context: str,
    selection: Selection | None,
    reader: Reader | None,
    judge: Judge | None,
    meter: Meter,
) -> Asked:
    """Answer from the text `context` that another run retrieved, and judge the answer; `record` is
    that run's, whose retrieval, with its cost and latency, remains. `selection`: what the record
    leaves out.
    """
    retrieval = Retrieval((), context, record["context_tokens"] or 0)
    outcome = Outcome(question, retrieval, selection=selection, stored=record)
    return _answer(outcome, reader, judge, meter)


def judge_again(question: Question, record: Record, judge: Judge, meter: Meter) -> Asked:
    """Judge the answer in `record`, whose judge failed; nothing else is asked again."""
    gold, answer = reference(judge, question) or "", record["answer"] or ""
    outcome = Outcome(question).judged(judge, gold, answer, meter)
    return _result(outcome, json_line(outcome.judged_again(record)))


def _words(question: Question, reader: Reader) -> str:
    """Return the question's text, with its time if it has one and the reader uses it: "how many
    days ago" cannot be answered without it.
    """
    if question.asked_at is None or not reader.dated:
        return question.text
    return f"{question.text} (asked on {stamp(question.asked_at)})"


def failed(question: Question, failure: Failure) -> Asked:
    """Return the record of a question whose conversation could not be ingested."""
    return _asked(Outcome(question, failure=failure))


def _asked(outcome: Outcome) -> Asked:
    started = perf_counter()
    try:
        line = json_line(outcome.record())
        line.encode()
    except END_THE_RUN:  # such as a metric of the user's that is wrong for every question
        raise
    except Exception as error:  # the result of a strategy or reader cannot be scored or written
        outcome = outcome.unrecordable(error)
        line = json_line(outcome.record())
    return _result(outcome, line, perf_counter() - started)


def _result(outcome: Outcome, line: str, score_s: float = 0.0) -> Asked:
    seconds = {name: reading.wall_ms / 1000 for name, reading in outcome.readings.items()}
    seconds["score"] = score_s
    question = outcome.question
    failures = outcome.failure, outcome.judge_failure
    return Asked(question.id, question.searched, line, seconds, outcome.calls(), *failures)
