"""What a question comes to: the results of its phases, and the record of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from eval.datasets.types import Question
from eval.judges.judge import Judge, Judgement
from eval.metrics import registry
from eval.metrics.abstention import abstains
from eval.readers import Answer
from eval.records.jsonl import Row
from eval.records.rankings import UnitRanking
from eval.records.schema import Record
from eval.records.scoring import evidence_fields, plant_fields, question_fields, score_record
from eval.records.selections import Selection, selection_of
from eval.run.failures import END_THE_RUN, Failure
from eval.run.ingest import usage_entry
from memsys.core.tokens import count_tokens
from memsys.core.types import Retrieval
from memsys.llm.meter import SOURCES, Meter, Reading

_NOTHING = Retrieval((), "", 0)
_CONTEXT = ("context_tokens", "context_sha256")
# Fields of a record that follow from retrieval alone.
_RETRIEVED = frozenset({"retrieved", "titles", "evidence_found", "k", *_CONTEXT, "trace", "plant"})


class Step(NamedTuple):
    """The result of a phase, or its failure, and the reading of the meter."""

    result: Any
    failure: Failure | None
    reading: Reading


def measured(phase: str, meter: Meter, job: Callable[[], Any]) -> Step:
    """Do `job` as a phase. An exception becomes a failure, or is raised if it ends the run."""
    reading = Reading()
    try:
        with meter.phase() as reading:
            return Step(job(), None, reading)
    except END_THE_RUN:
        raise
    except Exception as error:
        return Step(None, Failure.of(phase, error), reading)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a question so far. A `failure` ends it; earlier results are preserved. After
    a `judge_failure` the answer counts, without a verdict.
    """

    question: Question
    retrieval: Retrieval = _NOTHING
    context_sha256: str | None = None
    selection: Selection | None = None  # that is stored with the context
    ranked: UnitRanking | None = None
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
        record = cast(Record, self._unscored() | self._usage_and_latency())
        record = cast(Record, record | score_record(record, ranked=self.ranked))
        if self.stored is not None and self.failure is None:
            record["scores"] |= registry.of_rankings(self.stored["scores"])
        if self.judgement is not None and self.failure is None:
            record["scores"][self.score_key] = self.judgement.value
        if self.selection is not None:
            del record["retrieved"], record["titles"]
        return record

    def _unscored(self) -> Row:
        question, answer, failed = self.question, self.answer, self.failure is not None
        text = None if answer is None else answer.text
        refused = answer is not None and (answer.abstained or abstains(answer.text))
        retrieved, titles = self.selection or selection_of(self.retrieval)
        return {
            **question_fields(question),
            "status": "error" if failed else "ok",
            "error": self.failure.entry() if self.failure else None,
            "answer": text,
            "abstained": None if failed or answer is None else refused,
            "retrieved": retrieved if self.cited else None,
            "titles": titles,
            "k": len(self.retrieval.candidates),
            "context_tokens": self.retrieval.context_tokens,
            "context_sha256": self.context_sha256,
            "answer_tokens": self._answer_tokens(),
            **evidence_fields(question, retrieved if self.cited else None),
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
            "usage": {**(record["usage"] or {}), "judge": usage_entry(reading)},
            "latency_ms": {**record["latency_ms"], "judge": round(reading.ms, 4)},
            "waited_ms": {**record["waited_ms"], "judge": round(reading.waited_ms, 4)},
        }
        return cast(Record, {**record, **fields})

    def _usage_and_latency(self) -> Row:
        """Tokens and milliseconds by phase. The total excludes the judge, and latencies exclude
        the time spent on queues and failed attempts.
        """
        phases = ["retrieve", "answer", *(["judge"] if "judge" in self.readings else [])]
        readings = {phase: self._reading(phase) for phase in phases}
        usage = {phase: usage_entry(reading) for phase, reading in readings.items()}
        latency = {phase: reading.ms for phase, reading in readings.items()}
        waited = {name: round(one.waited_ms, 4) for name, one in readings.items()}
        system = (readings["retrieve"], readings["answer"])
        sources = {one.source for one in system}
        dates = [one.recorded for one in system if one.recorded]
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
