"""Tables of a run whose questions nobody answered: the scores of its rankings, and no others."""

from __future__ import annotations

from typing import Any, cast

from eval.records.schema import Summary
from eval.rendering.run_tables import as_text, report_md, run_tables
from eval.rendering.tables import plain
from eval.summary.summarise import summarise
from tests.eval import factory


def summary_of(**fields: Any) -> Summary:
    scored = {"scores": {"recall@10": 0.25, "mrr": 0.5}, **fields}
    rows: list[Any] = [factory.record(f"{name}/0", **scored) for name in ("ash", "fir")]
    return summarise(rows, cast(Any, factory.manifest()), 0)


UNANSWERED = {"answer": None, "abstained": None, "answer_tokens": None}


def test_columns_without_a_value_are_left_out():
    summary = summary_of(**UNANSWERED, context_tokens=None)
    header, *_ = as_text(run_tables(summary), plain).splitlines()
    assert header.split() == ["type", "n", "recall@10", "MRR", "retrieve", "p95", "ms"]
    text = report_md(cast(Any, factory.manifest()), summary, ["rankings.jsonl"])
    assert "Nobody answered the questions" in text
    assert "F1" not in text
    assert "0.250" in text


def test_a_run_with_answers_or_only_with_errors_has_its_usual_tables():
    failed = factory.error()
    for summary in (summary_of(), summary_of(**failed)):
        text = as_text(run_tables(summary), plain)
        assert "F1" in text
        assert "Nobody answered" not in text
