"""One question to one strategy and reader, as a record."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from time import perf_counter
from typing import NamedTuple

from eval.ingest import Failure, describe
from eval.metrics.abstention import abstains
from eval.questions import Question
from eval.readers.base import Answer, Reader
from eval.records import Record, json_line
from eval.scoring import key_of, score_record
from memsys.context.tokens import count_tokens
from memsys.errors import InputError
from memsys.meter import Meter, Reading
from memsys.strategy import MemoryStrategy
from memsys.types import Query, Retrieval

_DIGITS = 6  # of scores of candidates: enough to rank by, few enough to read


class Spent(NamedTuple):
    """Milliseconds on the wall that one question took, by part."""

    retrieve_ms: float
    answer_ms: float
    score_ms: float


def ask(
    question: Question, strategy: MemoryStrategy, reader: Reader, meter: Meter, asked_at: datetime
) -> tuple[Record, Spent]:
    """The record of `question`, and where the time went.

    A failure becomes a record with status `error` and no score. Raises InputError through.
    """
    query = Query(question.id, question.text, question.conversation, asked_at)
    retrieving, reading = Reading(), Reading()
    phase = "retrieve"
    try:
        with meter.phase() as retrieving:
            retrieval = strategy.retrieve(query)
        phase = "answer"
        with meter.phase() as reading:
            answer = reader.read(question.text, retrieval)
        phase = "record"  # of what a strategy or reader returned, if that can be written at all
        record = _record(question, retrieval, answer, retrieving, reading)
        json_line(record).encode()
    except InputError:
        raise
    except Exception as error:
        spent = Spent(retrieving.wall_ms, reading.wall_ms, 0.0)
        return failed(question, describe(phase, error)), spent
    started = perf_counter()
    record |= score_record(record)
    score_ms = (perf_counter() - started) * 1000
    return record, Spent(retrieving.wall_ms, reading.wall_ms, score_ms)


def failed(question: Question, failure: Failure) -> Record:
    """The record of a question that got no answer."""
    empty = Retrieval((), "", 0)
    record = _record(question, empty, Answer("", False), Reading(), Reading())
    record |= {"status": "error", "error": asdict(failure), "answer": None, "abstained": None}
    return record | score_record(record)


def _record(
    question: Question, retrieval: Retrieval, answer: Answer, retrieving: Reading, reading: Reading
) -> Record:
    return {
        "id": question.id,
        "conversation": question.conversation,
        "category": question.category,
        "type": question.type,
        "question": question.text,
        "gold": question.gold,
        "key": key_of(question),
        "status": "ok",
        "error": None,
        "answer": answer.text,
        "abstained": answer.abstained or abstains(answer.text),
        "retrieved": [
            [c.memory.id, list(c.memory.turns), round(c.score, _DIGITS), c.origin]
            for c in retrieval.candidates
        ],
        "k": len(retrieval.candidates),
        "context_tokens": retrieval.context_tokens,
        "answer_tokens": count_tokens(answer.text),
        "evidence": list(question.evidence),
        "evidence_found": _found(question, retrieval),
        "scores": {},
        "scores_original": None,
        "usage": {"retrieve": asdict(retrieving.usage), "answer": asdict(answer.usage)},
        "latency_ms": _latency(retrieving, reading),
        "latency_source": (reading if reading.replayed else retrieving).source,
        "trace": dict(retrieval.trace),
    }


def _latency(retrieving: Reading, reading: Reading) -> dict[str, float]:
    named = {
        "retrieve": retrieving.ms,
        "answer": reading.ms,
        "total": retrieving.ms + reading.ms,
    }
    return {name: round(ms, 4) for name, ms in named.items()}


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
