"""Records of imported answers: verdicts and labels in any form, and what a row does not say."""

from __future__ import annotations

import pytest

from eval.answers import values
from eval.answers.files import AnswerRow
from eval.imports.rescore.account import Labels
from eval.imports.rescore.imports import record


def _row(**fields: object) -> AnswerRow:
    return AnswerRow(**({"place": "line 1", "conversation": "first", "index": 0} | fields))  # type: ignore[arg-type]


def test_what_is_not_told_is_null(dataset):
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


def test_what_is_told_is_kept(dataset):
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
def test_a_total_is_reported_or_the_sum_of_both_parts(times, total, dataset):
    made = record(dataset.questions[0], _row(question=None, answer="x", **times))
    assert made["latency_ms"]["total"] == total
    assert made["latency_source"] == "as reported"


def test_a_failed_row_has_no_answer_and_no_score(dataset):
    made = record(dataset.questions[0], _row(question=None, answer="x", judge=1.0, error="429"))
    assert made["status"] == "error"
    assert made["error"] == {"phase": "answer", "kind": "as reported", "message": "429"}
    assert made["answer"] is None
    assert made["abstained"] is None
    assert set(made["scores"].values()) == {None}
    assert made["judge_source"] is None


def test_an_empty_answer_is_wrong_not_failed(dataset):
    made = record(dataset.questions[0], _row(question=None, answer=""))
    assert (made["status"], made["answer"], made["error"]) == ("ok", "", None)
    assert (made["scores"]["locomo_f1"], made["scores"]["bleu1"]) == (0.0, 0.0)
    assert made["answer_tokens"] == 0


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *(
            (value, 1.0)
            for value in (True, 1, 1.0, "1", "1.0", "CORRECT", "correct ", "True", "yes")
        ),
        *((value, 0.0) for value in (False, 0, 0.0, "0", "WRONG", "incorrect", "false", "No")),
        *((value, None) for value in (None, "", " ", float("nan"))),
        (2 / 3, 2 / 3),
    ],
)
def test_verdicts(written, expected):
    assert values.verdict(written, "a: line 1", "judge") == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *((value, "4") for value in (4, "4", 4.0, " 4.0", "04")),
        *((value, "single_hop") for value in ("single-hop", "Single Hop", "single_hop")),
        ("Reasoning", "Reasoning"),
        (None, None),
        ("", None),
    ],
)
def test_labels(written, expected):
    assert values.label(written, "a", "category") == expected


def test_official_labels_by_number_or_name_are_right():
    labels = Labels({("1", 1): 5, ("temporal", 2): 3, ("4", 4): 9})
    assert labels.relabelled == 0
    assert labels.sentence() is None


def test_a_permutation_is_named():
    labels = Labels({("3", 1): 282, ("2", 2): 321, ("4", 3): 96, ("1", 4): 841})
    assert labels.relabelled == 282 + 96 + 841
    sentence = labels.sentence() or ""
    assert sentence.startswith("The file's categories are a permutation of the official")
    assert "1 is 4 single_hop; 3 is 1 multi_hop; 4 is 3 open_domain" in sentence
    assert "2 is" not in sentence
    assert labels.table() == (
        ["label in the file", "1 multi_hop", "2 temporal", "3 open_domain", "4 single_hop"],
        [
            ["1", "0", "0", "0", "841"],
            ["2", "0", "321", "0", "0"],
            ["3", "282", "0", "0", "0"],
            ["4", "0", "0", "96", "0"],
        ],
    )


def test_other_names_for_the_same_types_are_no_permutation():
    sentence = Labels({("Reasoning", 1): 4, ("Time", 2): 4}).sentence() or ""
    assert "other names: Reasoning is 1 multi_hop; Time is 2 temporal" in sentence
    assert "permutation" not in sentence


def test_labels_that_are_mixed_up_are_counted():
    sentence = Labels({("1", 1): 4, ("1", 4): 2, ("4", 4): 1_000}).sentence() or ""
    assert "Another category than the official one: 2 of 1,006 rows" in sentence
    assert "permutation" not in sentence
