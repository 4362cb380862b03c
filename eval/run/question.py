"""One question: retrieve, answer, judge and record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import NamedTuple, cast

from eval.datasets.types import Question
from eval.judges.judge import Judge, Judgement
from eval.metrics.abstention import abstains
from eval.readers import Answer, Reader
from eval.records.jsonl import Row, json_line
from eval.records.schema import EvidenceFound, Record
from eval.run.failures import END_THE_RUN, Failure
from eval.run.ingest import used
from eval.summary.scoring import question_fields, score_record
from memsys.context.writers import stamp
from memsys.llm.meter import Meter, Reading
from memsys.strategy import MemoryStrategy
from memsys.text.tokens import count_tokens
from memsys.types import Query, Retrieval

_NOTHING = Retrieval((), "", 0)
_DIGITS = 6  # of candidates' scores


class Asked(NamedTuple):
    """A record, its line of records.jsonl, wall-clock seconds by part, the recorded calls it used,
    and its failure.
    """

    record: Record
    line: str
    seconds: dict[str, float]
    calls: list[Row]
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class Agent:
    """The system that answers the questions of one conversation, and its judge, if there is one.

    `strategy` has ingested the conversation; questions without a time are asked at `asked_at`.
    """

    strategy: MemoryStrategy
    reader: Reader
    judge: Judge | None
    meter: Meter
    asked_at: datetime


@dataclass(slots=True)
class Trial:
    """A question in progress. A `failure` ends it; earlier results are preserved."""

    question: Question
    retrieval: Retrieval = _NOTHING
    answer: Answer | None = None
    judgement: Judgement | None = None
    score_key: str = "judge"  # of the judge's verdict
    failure: Failure | None = None
    readings: dict[str, Reading] = field(default_factory=dict)

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
        record = cast(Record, record | score_record(record))
        if self.judgement is not None and self.failure is None:
            record["scores"][self.score_key] = self.judgement.value
        return record

    def _unscored(self) -> Row:
        question, answer, failed = self.question, self.answer, self.failure is not None
        text = None if answer is None else answer.text
        refused = answer is not None and (answer.abstained or abstains(answer.text))
        return {
            **question_fields(question),
            "status": "error" if failed else "ok",
            "error": self.failure.entry() if self.failure else None,
            "answer": text,
            "abstained": None if failed else refused,
            "retrieved": [
                [c.memory.id, list(c.memory.turns), round(c.score, _DIGITS), c.origin]
                for c in self.retrieval.candidates
            ],
            "k": len(self.retrieval.candidates),
            "context_tokens": self.retrieval.context_tokens,
            "answer_tokens": 0 if text is None else count_tokens(text),
            "evidence": list(question.evidence),
            "evidence_found": _evidence_found(question, self.retrieval),
            "scores": {},
            "scores_original": None,
            **(self.judgement.fields() if self.judgement else {"judge": None}),
            "trace": dict(self.retrieval.trace),
        }

    def _measured(self) -> Row:
        """Tokens and milliseconds by phase. The total excludes the judge, and latencies exclude
        the time spent on queues and failed attempts.
        """
        phases = ["retrieve", "answer", *(["judge"] if "judge" in self.readings else [])]
        readings = {phase: self._reading(phase) for phase in phases}
        latency = {phase: reading.ms for phase, reading in readings.items()}
        latency["total"] = latency["retrieve"] + latency["answer"]
        system = (readings["retrieve"], readings["answer"])
        return {
            "usage": {phase: used(reading) for phase, reading in readings.items()},
            "latency_ms": {name: round(ms, 4) for name, ms in latency.items()},
            "latency_source": "recorded" if any(one.replayed for one in system) else "live",
            "waited_ms": {name: round(one.waited_ms, 4) for name, one in readings.items()},
            "recorded": min((one.recorded for one in system if one.recorded), default=None),
        }

    def _reading(self, name: str) -> Reading:
        return self.readings.get(name) or Reading()


def ask(question: Question, agent: Agent) -> Callable[[], Asked]:
    """Retrieve for `question` now, and return a job that answers, judges and scores it.

    A failure becomes a record with status `error` and no score. Raises the exceptions of
    END_THE_RUN.
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
        record = trial.record()
        line = json_line(record)
        line.encode()
    except Exception as error:
        # The result of a strategy or reader cannot be scored or written.
        trial.failure = Failure.of("record", error)
        trial.retrieval, trial.answer, trial.judgement = _NOTHING, None, None
        record = trial.record()
        line = json_line(record)
    seconds = {name: reading.wall_ms / 1000 for name, reading in trial.readings.items()}
    seconds["score"] = perf_counter() - started
    return Asked(record, line, seconds, trial.calls(), trial.failure)


def _evidence_found(question: Question, retrieval: Retrieval) -> EvidenceFound:
    """Return the retrieved evidence turns by origin; one found both ways counts as direct."""
    direct, expanded = (
        {t for c in retrieval.candidates if c.origin == origin for t in c.memory.turns}
        for origin in ("direct", "expanded")
    )
    return {
        "direct": [turn for turn in question.evidence if turn in direct],
        "expanded": [turn for turn in question.evidence if turn in expanded - direct],
    }
