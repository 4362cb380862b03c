"""Cells by hand, the tables made of them, and means, shares and differences."""

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from eval.datasets.types import TYPES, Question
from eval.metrics.registry import names
from eval.metrics.stats.agreement import wilson
from eval.metrics.stats.interval import Interval
from eval.records.schema import Record
from eval.rendering.contrasts import difference_cells
from eval.rendering.tables import by_run, by_type, report_md
from eval.run.failures import Failure
from eval.run.question import failed
from eval.summary.contrast import paired_contrasts
from eval.summary.protocols import protocol_score
from eval.summary.sample import Sample, wilson_share
from eval.summary.sample import by_type as rows_by_type
from eval.summary.summarise import summarise
from tests.eval import factory
from tests.eval.analyse.diagnose.made_runs import record as made_record

MANIFEST = factory.manifest("s", run_id="r", dataset="d")


def question(index: int, category: int) -> Question:
    gold = None if category == 5 else "gold"
    return Question(f"c/{index}", "c", category, TYPES[category], "?", gold, ("D1:1",))


def record(index: int, category: int, f1: float, ms: float = 1.0, **more: Any) -> Record:
    scores = dict.fromkeys(names(), None if category == 5 else f1) | {"judge": None}
    scores |= {"locomo_f1": f1, "evidence_recall": f1, "evidence_hit": float(f1 > 0)}
    return {
        **json.loads(failed(question(index, category), Failure("", "", "")).line),
        **{"status": "ok", "error": None, "answer": "a", "abstained": False, "scores": scores},
        **{"context_tokens": 100 * (index + 1), "answer_tokens": 2},
        "latency_ms": {"retrieve": ms, "answer": 1.0, "total": ms + 1},
        **more,
    }


def error(index: int, category: int, **more: Any) -> Record:
    line = failed(question(index, category), Failure("retrieve", "ValueError", "no")).line
    return json.loads(line) | more


def cells(*records: Record) -> dict[str, Any]:
    return summarise(records, MANIFEST, seed=0, resamples=50)["by_type"]


def test_percentiles_interpolate_linearly():
    # sorted 10 20 40 80: p50 lies half way from 20 to 40, p95 at 2.85, so 40 + .85 * 40
    found = cells(*(record(i, 4, 1.0, ms) for i, ms in enumerate((80.0, 10.0, 40.0, 20.0))))
    wanted = {"retrieve_ms_p50": 30, "retrieve_ms_p95": 74, "total_ms_p50": 31, "total_ms_p95": 75}
    assert {name: found["single_hop"][name] for name in wanted} == pytest.approx(wanted)


def test_means_by_type_and_overall_without_type_5():
    found = cells(*(record(i, category, i / 10) for i, category in enumerate((1, 2, 3, 4, 5, 4))))
    assert found["single_hop"]["f1"] == pytest.approx((0.3 + 0.5) / 2)
    assert found["single_hop"]["context_tokens_mean"] == pytest.approx(500)
    assert found["overall"]["n"] == 5
    assert found["overall"]["f1"] == pytest.approx((0 + 0.1 + 0.2 + 0.3 + 0.5) / 5)
    assert found["adversarial"]["f1"] == pytest.approx(0.4)
    assert found["adversarial"]["bleu1"] is None


def test_a_type_without_questions_has_no_numbers_but_its_n():
    cell = cells(record(0, 4, 1.0))["temporal"]
    assert [cell.pop(name) for name in ("n", "errors", "judge_errors")] == [0, 0, 0]
    assert set(cell.values()) == {None}
    json.dumps(summarise([], MANIFEST, seed=0), allow_nan=False)


def test_errors_count_as_0_only_where_the_score_applies():
    found = cells(
        record(0, 4, 0.9), error(1, 4), error(2, 4, evidence=[]), record(3, 5, 1.0), error(4, 5)
    )
    for type_, wanted in (
        # a question without evidence has no recall, whether it fails or not
        ("single_hop", {"n": 3, "errors": 2, "f1": 0.9, "f1_errors_as_zero": 0.3,
                        "evidence_recall_errors_as_zero": 0.45}),
        ("adversarial", {"f1_errors_as_zero": 0.5}),
        ("overall", {"errors": 2}),
    ):  # fmt: skip
        assert {name: found[type_][name] for name in wanted} == pytest.approx(wanted)
    assert found["adversarial"]["bleu1_errors_as_zero"] is None
    scored = record(0, 4, 1.0)
    scored["scores"]["judge"] = 1.0  # a judged run counts its failures as 0 for the judge
    cell = cells(scored, error(1, 4))["single_hop"]
    assert (cell["judge"], cell["judge_errors_as_zero"]) == (1.0, 0.5)


def test_table_of_types_shows_n_and_interval_beside_every_mean():
    rows = [record(i, 4, i / 7) for i in range(8)] + [error(8, 4)]
    header, table = by_type(summarise(rows, MANIFEST, seed=0))
    single = dict(zip(header, table[0], strict=True))
    assert list(single)[:2] == ["type", "n"]
    assert single["n"] == "9 (1 errors)"
    for column in ("F1", "BLEU-1", "evidence recall"):
        mean, low, high = single[column].replace("[", "").replace("]", "").replace(",", "").split()
        assert mean == "0.500"
        assert float(low) < 0.5 < float(high)
    assert single["context tokens"].startswith("450 [")
    assert single["judge"] == "no judge"
    assert [row[0] for row in table] == ["single_hop", "overall (types 1-4)"]


def test_table_of_runs_shows_n_and_interval_of_abstention_too():
    rows = [record(i, 5, 0.0, abstained=i < 3) for i in range(4)] + [record(4, 4, 1.0)]
    summary = summarise(rows, MANIFEST, seed=0)
    assert summary["by_type"]["adversarial"]["abstained"] == pytest.approx(0.75)
    header, table = by_run([("one", summary)])
    row = dict(zip(header, table[0], strict=True))
    assert (row["run"], row["n"], row["n, type 5"]) == ("one", "1", "4")
    assert row["abstained, type 5"].startswith("0.750 [")
    assert row["false refusals, 1-4"] == "0.000 [0.000, 0.000]"


@pytest.mark.parametrize(
    ("passed", "failed", "judge", "as_zero", "shown"),
    [
        ([True, False, True], 1, 2 / 3, 2 / 4, "] (1 not judged)"),
        ([], 2, None, 0, "0 judged (2 errors)"),
    ],
)
def test_an_answer_without_a_verdict_is_in_no_mean_of_the_judge_only(
    passed, failed, judge, as_zero, shown
):
    failure = {"phase": "judge", "kind": "LLMError", "message": "HTTP 500"}
    rows = [record(i, 4, 0.8, judge={"m": [one]}) for i, one in enumerate(passed)]
    for row, one in zip(rows, passed, strict=True):
        row["scores"]["judge"] = float(one)
    rows += [record(9 + i, 4, 0.8, judge_error=failure) for i in range(failed)]
    judged_by = {"name": "llm", "score": "judge", "model": "m"}
    summary = summarise(rows, {**MANIFEST, "judge": judged_by}, seed=0)
    cell, stats = summary["by_type"]["single_hop"], summary["judge"]
    assert (cell["n"], cell["errors"], cell["judge_errors"]) == (len(rows), 0, failed)
    assert cell["judge"] == (judge and pytest.approx(judge))
    assert cell["judge_errors_as_zero"] == pytest.approx(as_zero)
    assert cell["f1"] == pytest.approx(0.8)
    assert "f1_errors_as_zero" not in cell
    assert (stats["n"], stats["errors"], stats["mean"]) == (len(passed), failed, cell["judge"])
    header, (row, _) = by_type(summary)
    assert dict(zip(header, row, strict=True))["judge"].endswith(shown)
    note = f"The judge failed on {failed} of {len(rows)} answers."
    assert note in report_md(MANIFEST, summary, [])


def test_a_stream_of_records_is_not_held_in_memory():
    long = "a text of a turn " * 5000
    rows = 200

    def stream() -> Iterator[Record]:
        for index in range(rows):
            trace = {"expansion": [long + str(index)]}
            yield record(index, 4, 0.5, question=long + str(index), answer=long, trace=trace)

    tracemalloc.start()
    summarise(stream(), MANIFEST, seed=0, resamples=50)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < rows * len(long) / 3


def test_tokens_of_named_models_are_priced():
    counts = {"calls": 1, "input_tokens": 2, "output_tokens": 3}
    usage = {"retrieve": {}, "answer": {**counts, "by_model": {"m": counts}}}
    prices = {"as_of": "", "models": {"m": {"input": 1.0, "output": 2.0}}}
    rows = iter([record(0, 5, 0.0, usage=usage), record(1, 4, 0.0, usage=None)])
    found = summarise(rows, {**MANIFEST, "pricing": prices}, seed=0)["by_type"]
    assert found["adversarial"]["cost_usd"] == pytest.approx(8e-6)
    assert found["single_hop"]["cost_usd"] is None  # not known, which is not free


@pytest.mark.parametrize(
    ("category", "score", "wanted"),
    [
        (1, "f1", 0),
        (5, "f1", None),  # it has no gold answer
        (5, "evidence_recall", 0),
        (5, "an own metric that is not here", None),
    ],
)
def test_a_failed_question_counts_as_0_where_the_score_applies_to_it(category, score, wanted):
    row = {"status": "error", "category": category, "scores": {}}
    assert protocol_score(row, score) == wanted


SEVERAL = "aabbccde"


def sample(values: list, conversations: str = SEVERAL) -> Sample:
    return Sample(values, list(conversations[: len(values)]), seed=0)


def test_unknown_values_are_in_no_figure():
    found = sample([1.0, None, 0.5, None, 0.0]).score()
    assert (found.value, found.n) == (0.5, 3)
    assert sample([None, None]).mean() is None
    assert sample([]).score() is None
    assert sample([]).share() is None


@pytest.mark.parametrize("conversations", ["a" * 8, "aabbccdd", SEVERAL])
def test_a_share_within_fewer_than_five_conversations_is_wilsons(conversations):
    low, high = wilson(3, 8)
    wanted = Interval(0.375, low, high, n=8, clusters=len(set(conversations)))
    found = sample([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], conversations).share()
    assert found.value == 0.375
    assert (repr(found) == repr(wanted)) == (conversations != SEVERAL)
    assert ((found.low, found.high) == (low, high)) == (conversations != SEVERAL)


def test_equal_values_have_a_width():
    found = sample([1.0] * 8).score()
    assert repr(found) == repr(wilson_share([True] * 8))
    assert found.low < 0.7
    alone = sample([0.3]).score()
    assert (alone.value, alone.low, alone.high, alone.n) == (0.3, 0.0, 1.0, 1)


def test_scores_stay_between_0_and_1_and_means_do_not():
    values = [0.0, 0.0, 0.0, 0.1, 0.0, 0.9, 0.0, 0.0]
    assert sample(values).mean().low < sample(values).score().low == 0.0


def test_types_1_to_4_and_then_together():
    rows = [made_record(f"a/{i}", category=category) for i, category in enumerate((4, 1, 5, 4))]
    found = {name: [row["id"] for row in own] for name, own in rows_by_type(rows)}
    assert list(found) == ["multi_hop", "single_hop", "overall"]
    assert found["overall"] == ["a/0", "a/1", "a/3"]
    assert list(rows_by_type(rows[2:3])) == []


def test_differences_have_holms_p_and_the_verdict_of_a_comparison():
    rows = [made_record(f"{SEVERAL[i % 8]}/{i}") for i in range(64)]
    better = [0.2 + 0.01 * (i % 3) for i in range(64)]
    worse = [-value for value in better]
    none = [0.1 if i // 8 % 2 else -0.1 for i in range(64)]

    def cells_of(*differences: list[float]) -> list[list[str]]:
        judged = paired_contrasts([Sample.of(rows, one, 0) for one in differences])
        return [difference_cells(one) for one in judged]

    (alone,) = cells_of(better)
    cells = cells_of(better, worse, none, [0.0] * 64)
    assert alone[0] == cells[0][0]
    assert (alone[1], cells[0][1]) == ("< 0.0001", "0.0004")
    assert [row[2].partition(" (")[0] for row in cells] == [
        *("better", "worse", "no difference shown", "no difference shown")
    ]
    assert cells[0][0].startswith("+0.210 [+0.2")
    assert cells[1][0].startswith("-0.210 [-0.2")
    assert "(detectable: 0." in cells[2][2]
    assert cells[3] == [
        "0.000 [0.000, 0.000]",
        "1.0000",
        "no difference shown (all scores are equal)",
    ]
