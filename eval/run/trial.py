"""One question on its way to a record: what was found, answered and judged, and what it took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from eval.datasets.types import Question
from eval.judges.judge import Judgement
from eval.metrics.abstention import abstains
from eval.readers.base import Answer
from eval.records.jsonl import Record
from eval.run.ingest import THROUGH, Failure, describe, used
from eval.summary.scoring import question_fields, score_record
from memsys.llm.meter import Meter, Reading
from memsys.text.tokens import count_tokens
from memsys.types import Retrieval

NOTHING = Retrieval((), "", 0)
_DIGITS = 6  # of scores of candidates: enough to rank by, few enough to read


@dataclass(slots=True)
class Trial:
    """A question, and what is known so far. A `failure` ends it; what came before it stays."""

    question: Question
    retrieval: Retrieval = NOTHING
    answer: Answer | None = None
    judgement: Judgement | None = None
    score_key: str = "judge"  # of the judge's verdict
    failure: Failure | None = None
    readings: dict[str, Reading] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str, meter: Meter) -> Iterator[None]:
        """Measure a block as the phase `name`; what it raises becomes the failure, but what fails
        the run and not its questions is raised through.
        """
        try:
            with meter.phase() as self.readings[name]:
                yield
        except THROUGH:
            raise
        except Exception as error:
            self.failure = describe(name, error)

    def wall_ms(self, name: str) -> float:
        """Milliseconds on the wall of a phase, 0 if it was not come to."""
        return self._reading(name).wall_ms

    def calls(self) -> list[Record]:
        """The recorded answers of models that this trial used, one row each."""
        return [
            {"key": key, "phase": phase, "question": self.question.id}
            for phase, reading in self.readings.items()
            for key in reading.keys
        ]

    def record(self) -> Record:
        """The record, scored; docs/records.md has the fields."""
        record = self._unscored() | self._measured()
        record |= score_record(record)
        if self.judgement is not None and self.failure is None:
            record["scores"][self.score_key] = self.judgement.value
        return record

    def _unscored(self) -> Record:
        question, answer, failed = self.question, self.answer, self.failure is not None
        text = None if answer is None else answer.text
        refused = answer is not None and (answer.abstained or abstains(answer.text))
        return {
            **question_fields(question),
            "status": "error" if failed else "ok",
            "error": asdict(self.failure) if self.failure else None,
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
            "evidence_found": _found(question, self.retrieval),
            "scores": {},
            "scores_original": None,
            "judge": None if self.judgement is None else _verdicts(self.judgement),
            "trace": dict(self.retrieval.trace),
        }

    def _measured(self) -> Record:
        """Tokens and milliseconds by phase. A judge is no part of the total, and what was waited
        for a free place or another attempt is no part of a latency.
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


def _verdicts(judgement: Judgement) -> dict[str, list[bool]]:
    return {name: list(runs) for name, runs in judgement.runs.items()}


def _found(question: Question, retrieval: Retrieval) -> dict[str, list[str]]:
    """Evidence turns by how they were found; one found both ways counts as direct."""
    direct, expanded = (
        {t for c in retrieval.candidates if c.origin == origin for t in c.memory.turns}
        for origin in ("direct", "expanded")
    )
    return {
        "direct": [turn for turn in question.evidence if turn in direct],
        "expanded": [turn for turn in question.evidence if turn in expanded - direct],
    }
