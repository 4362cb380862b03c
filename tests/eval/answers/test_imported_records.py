import pytest

from eval.answers.files import AnswerRow
from eval.datasets.types import Dataset
from eval.rescore.imports import record


def _row(**fields: object) -> AnswerRow:
    return AnswerRow(**({"place": "line 1", "conversation": "first", "index": 0} | fields))  # type: ignore[arg-type]


def test_what_is_not_told_is_null(dataset: Dataset) -> None:
    made = record(dataset.questions[0], _row(question="?", answer="an oak", category="4"))
    for name in ("retrieved", "k", "context_tokens", "evidence_found", "usage", "judge_source"):
        assert made[name] is None, name
    assert made["latency_ms"] == {"retrieve": None, "answer": None, "total": None}
    assert made["latency_source"] is None
    assert made["scores"]["judge"] is None
    assert made["scores"]["evidence_recall"] is None
    assert made["scores"]["evidence_hit"] is None
    assert made["scores"]["locomo_f1"] == 0.0
    # The data set's own words, not the file's.
    assert (made["question"], made["gold"]) == ("What did Ada plant?", "a fig tree")
    assert (made["category"], made["type"], made["source_category"]) == (1, "multi_hop", "4")
    assert (made["status"], made["abstained"], made["evidence"]) == ("ok", False, ["D1:1"])
    assert made["answer_tokens"] == 2


def test_what_is_told_is_kept(dataset: Dataset) -> None:
    row = _row(
        question=None,
        answer="fig tree",
        judge=0.0,
        context_tokens=900,
        search_seconds=0.25,
        answer_seconds=1.5,
    )
    made = record(dataset.questions[0], row)
    assert made["latency_ms"] == {"retrieve": 250.0, "answer": 1500.0, "total": 1750.0}
    assert made["latency_source"] == made["judge_source"] == "as reported"
    assert (made["context_tokens"], made["scores"]["judge"]) == (900, 0.0)
    assert made["scores"]["locomo_f1"] == 1.0


@pytest.mark.parametrize(
    ("times", "total"),
    [
        ({"search_seconds": 1.0}, None),
        ({"search_seconds": 1.0, "answer_seconds": 1.0, "total_seconds": 5.0}, 5000.0),
        ({"total_seconds": 0.0}, 0.0),
    ],
)
def test_a_total_is_reported_or_the_sum_of_both_parts(
    times: dict[str, float], total: float | None, dataset: Dataset
) -> None:
    made = record(dataset.questions[0], _row(question=None, answer="x", **times))
    assert made["latency_ms"]["total"] == total
    assert made["latency_source"] == "as reported"


def test_a_failed_row_has_no_answer_and_no_score(dataset: Dataset) -> None:
    made = record(dataset.questions[0], _row(question=None, answer="x", judge=1.0, error="429"))
    assert made["status"] == "error"
    assert made["error"] == {"phase": "answer", "kind": "as reported", "message": "429"}
    assert made["answer"] is None
    assert made["abstained"] is None
    assert set(made["scores"].values()) == {None}
    assert made["judge_source"] is None


def test_an_empty_answer_is_wrong_not_failed(dataset: Dataset) -> None:
    made = record(dataset.questions[0], _row(question=None, answer=""))
    assert (made["status"], made["answer"], made["error"]) == ("ok", "", None)
    assert (made["scores"]["locomo_f1"], made["scores"]["bleu1"]) == (0.0, 0.0)
    assert made["answer_tokens"] == 0
