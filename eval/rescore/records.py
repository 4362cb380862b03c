"""Records of answers that were made elsewhere: what is not known is null."""

from __future__ import annotations

from typing import cast

from eval.answers.answers import Row
from eval.datasets.types import Question
from eval.metrics.abstention import abstains
from eval.records.schema import ErrorEntry, Record
from eval.summary.scoring import question_fields, score_record
from memsys.text.tokens import count_tokens

AS_REPORTED = "as reported"


def record(question: Question, row: Row) -> Record:
    """The record of `question` as `row` answers it; docs/records.md has the fields.

    Category and gold are the official ones, under the answer key of the question. A row with an
    error has no answer and no score.
    """
    failed = row.error is not None
    latency = _latency(row)
    made = {
        **question_fields(question),
        "status": "error" if failed else "ok",
        "error": _failure(row.error),
        "answer": None if failed else row.answer,
        "abstained": None if failed else abstains(row.answer),
        "retrieved": None,
        "k": None,
        "context_tokens": row.context_tokens,
        "answer_tokens": None if failed else count_tokens(row.answer),
        "evidence": list(question.evidence),
        "evidence_found": None,
        "scores": {},
        "scores_original": None,
        "judge_source": None if failed or row.judge is None else AS_REPORTED,
        "usage": None,
        "latency_ms": latency,
        "latency_source": AS_REPORTED if any(ms is not None for ms in latency.values()) else None,
        "trace": {},
        "source": row.place,
        "source_category": row.category,
    }
    unscored = cast(Record, made)
    return cast(Record, made | score_record(unscored, row.judge))


def _failure(message: str | None) -> ErrorEntry | None:
    if message is None:
        return None
    return {"phase": "answer", "kind": AS_REPORTED, "message": message}


def _latency(row: Row) -> dict[str, float | None]:
    """Milliseconds. The total is the reported one, else the sum of both parts if both are known."""
    parts = (row.search_seconds, row.answer_seconds)
    known = [part for part in parts if part is not None]
    total = row.total_seconds
    if total is None and len(known) == len(parts):
        total = sum(known)
    named = {"retrieve": row.search_seconds, "answer": row.answer_seconds, "total": total}
    return {
        name: None if value is None else round(value * 1000, 4) for name, value in named.items()
    }
