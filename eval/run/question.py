"""One question: retrieve, answer, judge and record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import NamedTuple, cast

from eval.datasets.types import Question
from eval.judges.judge import Judge, Judgement, reference
from eval.metrics import registry
from eval.metrics.abstention import abstains
from eval.readers import Answer, Reader
from eval.records.jsonl import Row, json_line
from eval.records.rankings import DIGITS, Unit
from eval.records.schema import Record, Retrieved
from eval.run.failures import END_THE_RUN, Failure
from eval.run.ingest import used
from eval.summary.scoring import evidence_fields, plant_fields, question_fields, score_record
from memsys.context.writers import stamp
from memsys.core.tokens import count_tokens
from memsys.core.types import Query, Retrieval
from memsys.llm.meter import Meter, Reading
from memsys.strategies.strategy import MemoryStrategy

_NOTHING = Retrieval((), "", 0)
_CONTEXT = ("context_tokens", "context_sha256")
# Fields of a record that follow from retrieval alone.
_RETRIEVED = frozenset({"retrieved", "titles", "evidence_found", "k", *_CONTEXT, "trace", "plant"})


class Asked(NamedTuple):
    """Ids of a question and of what it searches, its line of records.jsonl, wall-clock seconds by
    part, the recorded calls that were used, and the failure of the question or of its judge.
    """

    id: str
    conversation: str
    line: str
    seconds: dict[str, float]
    calls: list[Row]
    failure: Failure | None
    judge_failure: Failure | None = None


class Stored(NamedTuple):
    """The sha256 in hex of a context, and the ranking of turns behind it; None if there is none."""

    context_sha256: str
    ranked: Unit | None


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


@dataclass(slots=True)
class Trial:
    """A question in progress. A `failure` ends it; earlier results are preserved. After a
    `judge_failure` the answer counts, without a verdict.
    """

    question: Question
    retrieval: Retrieval = _NOTHING
    context_sha256: str | None = None
    ranked: Unit | None = None
    answer: Answer | None = None
    judgement: Judgement | None = None
    score_key: str = "judge"  # of the judge's verdict
    failure: Failure | None = None
    judge_failure: Failure | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    stored: Record | None = None  # whose retrieval is used again

    @contextmanager
    def phase(self, name: str, meter: Meter) -> Iterator[None]:
        """Measure a block as the phase `name`; an exception becomes the failure, or is raised if it
        is one of END_THE_RUN.
        """
        try:
            with meter.phase() as self.readings[name]:
                yield
        except END_THE_RUN:
            raise
        except Exception as error:
            self.failure = Failure.of(name, error)

    def judge(self, judge: Judge, gold: str, answer: str, meter: Meter) -> None:
        """Ask the judge about `answer`."""
        self.score_key = judge.score_key
        with self.phase("judge", meter):
            self.judgement = judge.judge(self.question.text, gold, answer)
        self.judge_failure, self.failure = self.failure, None

    def calls(self) -> list[Row]:
        """Return one row for each recorded model call that was used."""
        return [
            {"key": key, "phase": phase, "question": self.question.id}
            for phase, reading in self.readings.items()
            for key in reading.keys
        ]

    def record(self) -> Record:
        """Return the scored record; see eval.records.schema."""
        record = cast(Record, self._unscored() | self._measured())
        record = cast(Record, record | score_record(record, ranked=self.ranked))
        if self.stored is not None and self.failure is None:
            record["scores"] |= registry.of_rankings(self.stored["scores"])
        if self.judgement is not None and self.failure is None:
            record["scores"][self.score_key] = self.judgement.value
        return record

    def _unscored(self) -> Row:
        question, answer, failed = self.question, self.answer, self.failure is not None
        text = None if answer is None else answer.text
        refused = answer is not None and (answer.abstained or abstains(answer.text))
        retrieved: list[Retrieved] = [
            (one.memory.id, list(one.memory.turns), round(one.score, DIGITS), one.origin)
            for one in self.retrieval.candidates
        ]
        return {
            **question_fields(question),
            "status": "error" if failed else "ok",
            "error": self.failure.entry() if self.failure else None,
            "answer": text,
            "abstained": None if failed or answer is None else refused,
            "retrieved": retrieved,
            "titles": [c.memory.title for c in self.retrieval.candidates],
            "k": len(self.retrieval.candidates),
            "context_tokens": self.retrieval.context_tokens,
            "context_sha256": self.context_sha256,
            "answer_tokens": self._answer_tokens(),
            **evidence_fields(question, retrieved),
            **plant_fields(question, None if failed else self.retrieval.context),
            "scores": {},
            "scores_original": None,
            **self._verdicts(),
            "trace": dict(self.retrieval.trace),
            **self._stored_retrieval(),
        }

    def _answer_tokens(self) -> int | None:
        """Return the length of the answer; 0 of a question that failed, None without a reader."""
        if self.answer is None:
            return 0 if self.failure is not None else None
        return count_tokens(self.answer.text)

    def _stored_retrieval(self) -> Row:
        stored = self.stored
        return {name: value for name, value in (stored or {}).items() if name in _RETRIEVED}

    def fail_record(self, error: Exception) -> None:
        """Drop the results, which cannot be scored or written."""
        self.failure = Failure.of("record", error)
        self.retrieval, self.context_sha256, self.ranked = _NOTHING, None, None
        self.answer, self.judgement, self.judge_failure = None, None, None

    def _verdicts(self) -> Row:
        fields = self.judgement.fields() if self.judgement else {"judge": None}
        failure = self.judge_failure
        return {**fields, "judge_error": failure.entry() if failure else None}

    def judged_again(self, record: Record) -> Record:
        """Return `record`, which had no verdict, with the verdict and the cost of this one."""
        reading = self._reading("judge")
        verdict = {self.score_key: self.judgement.value} if self.judgement else {}
        fields = {
            **self._verdicts(),
            "scores": {**record["scores"], **verdict},
            "usage": {**(record["usage"] or {}), "judge": used(reading)},
            "latency_ms": {**record["latency_ms"], "judge": round(reading.ms, 4)},
            "waited_ms": {**record["waited_ms"], "judge": round(reading.waited_ms, 4)},
        }
        return cast(Record, {**record, **fields})

    def _measured(self) -> Row:
        """Tokens and milliseconds by phase. The total excludes the judge, and latencies exclude
        the time spent on queues and failed attempts.
        """
        phases = ["retrieve", "answer", *(["judge"] if "judge" in self.readings else [])]
        readings = {phase: self._reading(phase) for phase in phases}
        usage = {phase: used(reading) for phase, reading in readings.items()}
        latency = {phase: reading.ms for phase, reading in readings.items()}
        waited = {name: round(one.waited_ms, 4) for name, one in readings.items()}
        system = (readings["retrieve"], readings["answer"])
        replayed = any(one.replayed for one in system)
        dates = [one.recorded for one in system if one.recorded]
        if (stored := self.stored) is not None:
            usage["retrieve"] = (stored["usage"] or usage)["retrieve"]
            latency["retrieve"] = stored["latency_ms"]["retrieve"] or 0.0
            waited["retrieve"] = stored["waited_ms"].get("retrieve", 0.0)
            replayed = replayed or stored["latency_source"] == "recorded"
            dates += [stored["recorded"]] if stored["recorded"] else []
        latency["total"] = latency["retrieve"] + latency["answer"]
        return {
            "usage": usage,
            "latency_ms": {name: round(ms, 4) for name, ms in latency.items()},
            "latency_source": "recorded" if replayed else "live",
            "waited_ms": waited,
            "recorded": min(dates, default=None),
        }

    def _reading(self, name: str) -> Reading:
        return self.readings.get(name) or Reading()


def ask(
    question: Question, agent: Agent, store: Callable[[Question, Retrieval], Stored]
) -> Callable[[], Asked]:
    """Retrieve for `question` now, and return a job that answers, judges and scores it.

    `store` stores ranking and context. A failure becomes a record with status `error` and no score;
    if only the judge failed, a record with the other scores and `judge_error`. Raises the
    exceptions of END_THE_RUN.
    """
    trial = Trial(question)
    asked_at = question.asked_at or agent.ends[question.conversation]
    query = Query(question.id, question.text, question.conversation, asked_at)
    with trial.phase("retrieve", agent.meter):
        trial.retrieval = agent.strategy.retrieve(query)
    if trial.failure is None:
        try:
            trial.context_sha256, trial.ranked = store(question, trial.retrieval)
        except (AttributeError, TypeError, ValueError) as error:  # nothing that can be written
            trial.fail_record(error)

    return partial(_answer, trial, agent.reader, agent.judge, agent.meter)


def _answer(trial: Trial, reader: Reader | None, judge: Judge | None, meter: Meter) -> Asked:
    question = trial.question
    if trial.failure is None and reader is not None:
        with trial.phase("answer", meter):
            trial.answer = reader.read(_words(question, reader), trial.retrieval)
    if trial.failure is None and trial.answer and judge:
        compared = reference(judge, question)
        if compared is not None:
            trial.judge(judge, compared, trial.answer.text, meter)
    return _asked(trial)


def read_again(
    question: Question,
    record: Record,
    context: str,
    reader: Reader | None,
    judge: Judge | None,
    meter: Meter,
) -> Asked:
    """Answer from the text `context` that another run retrieved, and judge the answer; `record` is
    that run's, whose retrieval, with its cost and latency, remains.
    """
    retrieval = Retrieval((), context, record["context_tokens"] or 0)
    return _answer(Trial(question, retrieval, stored=record), reader, judge, meter)


def judge_again(question: Question, record: Record, judge: Judge, meter: Meter) -> Asked:
    """Judge the answer in `record`, whose judge failed; nothing else is asked again."""
    trial = Trial(question)
    trial.judge(judge, reference(judge, question) or "", record["answer"] or "", meter)
    return _result(trial, json_line(trial.judged_again(record)))


def _words(question: Question, reader: Reader) -> str:
    """Return the question's text, with its time if it has one and the reader uses it: "how many
    days ago" cannot be answered without it.
    """
    if question.asked_at is None or not reader.dated:
        return question.text
    return f"{question.text} (asked on {stamp(question.asked_at)})"


def failed(question: Question, failure: Failure) -> Asked:
    """Return the record of a question whose conversation could not be ingested."""
    return _asked(Trial(question, failure=failure))


def _asked(trial: Trial) -> Asked:
    started = perf_counter()
    try:
        line = json_line(trial.record())
        line.encode()
    except END_THE_RUN:  # such as a metric of the user's that is wrong for every question
        raise
    except Exception as error:  # the result of a strategy or reader cannot be scored or written
        trial.fail_record(error)
        line = json_line(trial.record())
    return _result(trial, line, perf_counter() - started)


def _result(trial: Trial, line: str, score_s: float = 0.0) -> Asked:
    seconds = {name: reading.wall_ms / 1000 for name, reading in trial.readings.items()}
    seconds["score"] = score_s
    question = trial.question
    failures = trial.failure, trial.judge_failure
    return Asked(question.id, question.searched, line, seconds, trial.calls(), *failures)
