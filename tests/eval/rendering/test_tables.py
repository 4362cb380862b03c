"""Tables say what their intervals are over, and show no scores of a run without answers."""

from typing import Any, cast

import pytest

from eval.analyse.compare.comparable import notes
from eval.metrics.stats.interval import scope
from eval.records.run import Run
from eval.records.schema import Summary
from eval.rendering.contrasts import conclusions, method, table
from eval.rendering.tables import as_text, report_md, run_tables, scope_note, scope_of
from eval.rendering.terminal import lined
from eval.summary.contrast import contrast
from eval.summary.measures import Measure, share
from eval.summary.summarise import summarise
from tests.eval import factory

F1 = Measure("locomo_f1", ("overall",))


def run(conversations: int, each: int = 8, f1: float = 0.2, label: str = "plain") -> Run:
    rows = []
    for conversation in range(conversations):
        for number in range(each):
            scores = factory.record()["scores"] | {"locomo_f1": f1 + (number % 3) / 10}
            rows.append(factory.record(f"c{conversation}/{number}", scores=scores))
    return factory.run_of(rows, label)


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_tables_of_few_conversations_say_what_intervals_are_over(count):
    one, over = run(count), scope([count])
    summary = summarise(list(one.records.values()), one.manifest, seed=0)
    assert scope_of([summary]) == over
    assert scope_note([summary]) == ("" if count == 5 else f"Intervals are {over}.\n")
    if count < 5:
        assert summary["interval"].endswith(f"; {over}")
        assert over in report_md(one.manifest, summary, [])
    runs = [one, run(count, f1=0.4, label="better")]
    measures = [(F1, share(runs, F1))]
    assert f"95% interval {over}. p:" in method(contrast(measures, seed=0), runs)
    warned = [note for note in notes(runs, measures) if "conversations" in note]
    assert warned == ([f"few conversations: intervals are {over}"] if count < 5 else [])


def test_a_difference_that_nothing_could_show_is_not_printed_beyond_1():
    rows = [factory.record(f"c0/{i}", scores={"locomo_f1": float(i)}) for i in range(2)]
    turned = [factory.record(f"c0/{i}", scores={"locomo_f1": 1.0 - i}) for i in range(2)]
    runs = [factory.run_of(rows), factory.run_of(turned, "other")]
    tables = contrast([(F1, share(runs, F1))], seed=0)
    (difference,) = (one.difference for one in tables[0][0].contrasts)
    assert (difference.low, difference.high) == (-1, 1)
    assert tables[0][0].contrasts[0].needed > 1
    assert table(tables[0], runs)[1][1][-1] == "too few questions"
    assert conclusions(tables, runs)[0].endswith("to detect any difference.")


def summary_of(**fields: Any) -> Summary:
    scored = {"scores": {"recall@10": 0.25, "mrr": 0.5}, **fields}
    rows: list[Any] = [factory.record(f"{name}/0", **scored) for name in ("ash", "fir")]
    return summarise(rows, cast(Any, factory.manifest()), 0)


def test_columns_without_a_value_are_left_out():
    nothing = dict.fromkeys(("answer", "abstained", "answer_tokens", "context_tokens"))
    summary = summary_of(**nothing)
    header, *_ = as_text(
        run_tables(summary), lambda one: lined([one.header], one.rows)
    ).splitlines()
    assert header.split() == ["type", "n", "recall@10", "MRR", "retrieve", "p95", "ms"]
    text = report_md(cast(Any, factory.manifest()), summary, ["rankings.jsonl"])
    assert "Nobody answered the questions" in text
    assert "F1" not in text
    assert "0.250" in text
    for summary in (summary_of(), summary_of(**factory.error())):  # as usual
        text = as_text(run_tables(summary), lambda one: lined([one.header], one.rows))
        assert "F1" in text
        assert "Nobody answered" not in text


def test_verdicts_of_a_rule_have_a_column_that_is_not_j():
    rows = [
        factory.record(
            f"c{number}/0",
            scores=factory.record()["scores"] | {"gold_recall": float(number < 3)},
            judge={"gold_recall": [number < 3]},
        )
        for number in range(4)
    ]
    judge = {"name": "gold_recall", "score": "gold_recall", "note": "not J: a rule"}
    summary = summarise(rows, factory.manifest(judge=judge), seed=0)
    shown = as_text(run_tables(summary))
    assert "judge by rule" in shown.splitlines()[0]
    assert "judge by rule: not J: a rule. Verdicts are `scores.gold_recall` of records" in shown
    assert "compare RUN RUN --score gold_recall" in shown
    assert summary["by_type"]["overall"]["gold_recall"] == 0.75
    assert summary["by_type"]["overall"]["judge"] is None


@pytest.mark.parametrize("names", [["locomo"], ["locomo", "mem0"]])
def test_scores_under_each_protocol_are_shown_where_there_are_several(names):
    one = run(2)
    summary = summarise(list(one.records.values()), one.manifest | {"scoring": names}, seed=0)
    shown = "The same answers under each protocol:" in as_text(run_tables(summary))
    assert shown == (len(names) > 1)
