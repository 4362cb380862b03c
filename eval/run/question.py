"""One question: retrieve, answer, judge and record, with what each phase came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import NamedTuple, cast

from eval.datasets.types import Question
from eval.judges.judge import Judge, Judgement, reference
from eval.metrics import registry
from eval.metrics.abstention import abstains
from eval.readers import Answer, Reader
from eval.records.files import Row, json_line
from eval.records.rankings import Selection, UnitRanking, selection_of
from eval.records.schema import Record
from eval.records.scoring import evidence_fields, plant_fields, question_fields, score_record
from eval.run.failures import END_THE_RUN, Failure, measured, usage_entry
from memsys.context.writers import stamp
from memsys.core.tokens import count_tokens
from memsys.core.types import Query, Retrieval
from memsys.llm.meter import SOURCES, Meter, Reading
from memsys.strategies.strategy import MemoryStrategy

_NOTHING = Retrieval((), "", 0)
_CONTEXT = ("context_tokens", "context_sha256")
# Fields of a record that follow from retrieval alone.
_RETRIEVED = frozenset({"retrieved", "titles", "evidence_found", "k", *_CONTEXT, "trace", "plant"})


@dataclass(frozen=True, slots=True)
class Agent:
    """The system that answers the questions of one store; reader and judge may be absent.

    `strategy` has ingested the store; `ends`: by conversation, the time of its last session, at
    which its questions without a time of their own are asked.
    """

    strategy: MemoryStrategy
    reader: Reader | None
    judge: Judge | None
    meter: Meter
    ends: Mapping[str, datetime]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a question so far. A `failure` ends it; earlier results are preserved. After
    a `judge_failure` the answer counts, without a verdict.
    """

    question: Question
    retrieval: Retrieval = _NOTHING
    context_sha256: str | None = None
    selection: Selection | None = None  # that is stored with the context, not in the record
    ranked: UnitRanking | None = None  # of turns; None: there is none
    answer: Answer | None = None
    judgement: Judgement | None = None
    score_key: str = "judge"  # of the judge's verdict
    failure: Failure | None = None
    judge_failure: Failure | None = None
    readings: Mapping[str, Reading] = field(default_factory=dict)  # by phase
    stored: Record | None = None  # whose retrieval is used again
    cited: bool = True  # whether it is known of which turns the memories are

    def judged(self, judge: Judge, gold: str, answer: str, meter: Meter) -> Outcome:
        """Return the outcome with what the judge says about `answer`."""
        step = measured("judge", meter, lambda: judge.judge(self.question.text, gold, answer))
        return replace(
            self,
            judgement=step.result,
            score_key=judge.score_key,
            judge_failure=step.failure,
            readings={**self.readings, "judge": step.reading},
        )

    def unrecordable(self, error: Exception) -> Outcome:
        """Return the outcome without its results, which cannot be scored or written."""
        return Outcome(
            self.question,
            score_key=self.score_key,
            failure=Failure.of("record", error),
            readings=self.readings,
            stored=self.stored,
        )

    def calls(self) -> list[Row]:
        """Return one row for each recorded model call that was used."""
        return [
            {"key": key, "phase": phase, "question": self.question.id}
            for phase, reading in self.readings.items()
            for key in reading.keys
        ]

    def record(self) -> Record:
        """Return the scored record as it is written; see eval.records.schema."""
        question, answer, failed = self.question, self.answer, self.failure is not None
        retrieved, titles = self.selection or selection_of(self.retrieval)
        cited = retrieved if self.cited else None
        refused = answer is not None and (answer.abstained or abstains(answer.text))
        length = 0 if failed else None  # None without a reader
        row: Row = {
            **question_fields(question),
            "status": "error" if failed else "ok",
            "error": self.failure.entry() if self.failure else None,
            "answer": None if answer is None else answer.text,
            "abstained": None if failed or answer is None else refused,
            "retrieved": cited,
            "titles": titles,
            "k": len(self.retrieval.candidates),
            "context_tokens": self.retrieval.context_tokens,
            "context_sha256": self.context_sha256,
            "answer_tokens": length if answer is None else count_tokens(answer.text),
            **evidence_fields(question, cited),
            **plant_fields(question, None if failed else self.retrieval.context),
            "scores": {},
            "scores_original": None,
            **self._verdicts(),
            "trace": dict(self.retrieval.trace),
        }
        row |= {name: value for name, value in (self.stored or {}).items() if name in _RETRIEVED}
        record = cast(Record, row | self._usage_and_latency())
        record = cast(Record, record | score_record(record, ranked=self.ranked))
        if self.stored is not None and not failed:
            record["scores"] |= registry.of_rankings(self.stored["scores"])
        if self.judgement is not None and not failed:
            record["scores"][self.score_key] = self.judgement.value
        if self.selection is not None:
            del record["retrieved"], record["titles"]
        return record

    def judged_again(self, record: Record) -> Record:
        """Return `record`, which had no verdict, with the verdict and the cost of this one."""
        reading = self._reading("judge")
        verdict = {self.score_key: self.judgement.value} if self.judgement else {}
        fields = {
            **self._verdicts(),
            "scores": {**record["scores"], **verdict},
            "usage": {**(record["usage"] or {}), "judge": usage_entry(reading)},
            "latency_ms": {**record["latency_ms"], "judge": round(reading.ms, 4)},
            "waited_ms": {**record["waited_ms"], "judge": round(reading.waited_ms, 4)},
        }
        return cast(Record, {**record, **fields})

    def _verdicts(self) -> Row:
        fields = self.judgement.fields() if self.judgement else {"judge": None}
        failure = self.judge_failure
        return {**fields, "judge_error": failure.entry() if failure else None}

    def _usage_and_latency(self) -> Row:
        """Tokens and milliseconds by phase. The total excludes the judge, and latencies exclude
        the time spent on queues and failed attempts.
        """
        phases = ["retrieve", "answer"]
        if "judge" in self.readings:
            phases.append("judge")
        readings = {phase: self._reading(phase) for phase in phases}
        usage = {phase: usage_entry(reading) for phase, reading in readings.items()}
        latency = {phase: reading.ms for phase, reading in readings.items()}
        waited = {name: round(reading.waited_ms, 4) for name, reading in readings.items()}
        system = (readings["retrieve"], readings["answer"])
        sources = {reading.source for reading in system}
        dates = [reading.recorded for reading in system if reading.recorded]
        if (stored := self.stored) is not None:
            usage["retrieve"] = (stored["usage"] or usage)["retrieve"]
            latency["retrieve"] = stored["latency_ms"]["retrieve"] or 0.0
            waited["retrieve"] = stored["waited_ms"].get("retrieve", 0.0)
            sources.add(stored["latency_source"] or SOURCES[0])
            dates += [stored["recorded"]] if stored["recorded"] else []
        latency["total"] = latency["retrieve"] + latency["answer"]
        return {
            "usage": usage,
            "latency_ms": {name: round(ms, 4) for name, ms in latency.items()},
            "latency_source": max(sources, key=SOURCES.index),
            "waited_ms": waited,
            "recorded": min(dates, default=None),
        }

    def _reading(self, name: str) -> Reading:
        return self.readings.get(name) or Reading()


class Asked(NamedTuple):
    """The outcome of a question, its line of records.jsonl, and the seconds of scoring."""

    outcome: Outcome
    line: str
    score_s: float = 0.0


def ask(
    question: Question, agent: Agent, write_retrieval: Callable[[Outcome], Outcome]
) -> Callable[[], Asked]:
    """Retrieve for `question` now, and return a job that answers, judges and scores it.

    `write_retrieval`, a method of the runner, writes ranking and context to the run's files, and
    returns the outcome with the hash of the context and what is stored of its ranking. A failure
    becomes a record with status `error` and no score; if only the judge failed, a record with the
    other scores and `judge_error`. Raises the exceptions of END_THE_RUN.
    """
    asked_at = question.asked_at or agent.ends[question.conversation]
    query = Query(question.id, question.text, question.conversation, asked_at)
    step = measured("retrieve", agent.meter, lambda: agent.strategy.retrieve(query))
    outcome = Outcome(question, failure=step.failure, readings={"retrieve": step.reading})
    if step.failure is None:
        cited = not agent.strategy.written_elsewhere
        try:
            outcome = write_retrieval(replace(outcome, retrieval=step.result, cited=cited))
        except (AttributeError, TypeError, ValueError) as error:  # nothing that can be written
            outcome = outcome.unrecordable(error)
    return partial(_answer, outcome, agent.reader, agent.judge, agent.meter)


def _answer(outcome: Outcome, reader: Reader | None, judge: Judge | None, meter: Meter) -> Asked:
    question, retrieval = outcome.question, outcome.retrieval
    if outcome.failure is None and reader is not None:
        words = question.text
        if question.asked_at is not None and reader.dated:  # as "how many days ago" needs
            words += f" (asked on {stamp(question.asked_at)})"
        step = measured("answer", meter, lambda: reader.read(words, retrieval))
        readings = {**outcome.readings, "answer": step.reading}
        outcome = replace(outcome, answer=step.result, failure=step.failure, readings=readings)
    if outcome.failure is None and outcome.answer and judge:
        compared = reference(judge, question)
        if compared is not None:
            outcome = outcome.judged(judge, compared, outcome.answer.text, meter)
    return _recorded(outcome)


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
    return Asked(outcome, json_line(outcome.judged_again(record)))


def failed(question: Question, failure: Failure) -> Asked:
    """Return the record of a question whose conversation could not be ingested."""
    return _recorded(Outcome(question, failure=failure))


def _recorded(outcome: Outcome) -> Asked:
    started = perf_counter()
    try:
        line = json_line(outcome.record())
        line.encode()
    except END_THE_RUN:  # such as a metric of the user's that is wrong for every question
        raise
    except Exception as error:  # the result of a strategy or reader cannot be scored or written
        outcome = outcome.unrecordable(error)
        line = json_line(outcome.record())
    return Asked(outcome, line, perf_counter() - started)
