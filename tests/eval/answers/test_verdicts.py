"""Verdicts of a judge in answer files: their columns and forms, and what is none."""

import pytest

from eval.answers.files import UnclearColumnsError, read_answers
from eval.answers.match import match
from eval.imports.rescore.imports import read_import, record
from tests.eval.answers.conftest import account_of, matched, named, naming


@pytest.mark.parametrize(
    ("fields", "judge", "runs"),
    [
        ({"grade": "CORRECT"}, 1.0, {}),
        ({"llm_judgments": [True, False, True]}, 2 / 3, {"as reported": (True, False, True)}),
        ({"llm_judgments": {"judgment_1": True, "judgment_2": False}}, 0.5,
         {"as reported": (True, False)}),
        ({"llm_judgments": {"gpt": [True, True], "qwen": [False, False]}}, 0.5,
         {"gpt": (True, True), "qwen": (False, False)}),
        ({"judge_1": 1, "judge_2": 1}, 1.0, {"as reported": (True, True)}),
        ({"judge": False, "judgments": [False, True, False]}, 0.0,
         {"as reported": (False, True, False)}),
        ({"judgments": "[True, False]"}, 0.5, {"as reported": (True, False)}),
        ({"metrics": {"llm_judge": 1, "f1": 0.3}}, 1.0, {}),
        ({"score": 0.75, "reason": "so"}, 0.75, {}),
    ],
)  # fmt: skip
def test_verdicts_in_any_form(fields, judge, runs, answered, write, dataset):
    path = write([row | fields for row in named(answered, judge=None)])
    row = matched(path, dataset)["first/0"]
    assert row.judge == pytest.approx(judge)
    assert dict(row.verdicts) == runs
    made = record(dataset.questions[0], row)
    assert made["judge"] == ({name: list(one) for name, one in runs.items()} or None)
    assert made["judge_source"] == "as reported"


NEGATIONS = [
    *("incorrect", "is_incorrect", "not_correct", "judge_wrong", "judge_disagrees", "Incorrect"),
    *("hallucination_judgment", "mislabelled", "needs_eval", "correction_applied", "notCorrect"),
]


STATES = [
    *("evaluated", "judged", "auto_graded", "llm_cached", "llm_retried", "llm_timeout"),
    *("result_cached", "passage_found", "copyright"),
]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("column", NEGATIONS + STATES)
def test_a_negation_or_a_state_is_no_verdict(column, right, answered, write, dataset):
    rows = [row | {column: row["judge"] is right} for row in answered]
    assert "judge" not in read_answers(write(named(rows, judge=None)), dataset).proposal.columns


def test_a_name_that_suggests_a_judge_needs_verdicts_that_go_with_the_answers(
    answered, write, dataset
):
    rows = named(answered, judge="gpt_verdict")
    assert read_answers(write(rows), dataset).proposal.columns["judge"] == ("gpt_verdict",)
    turned = [row | {"gpt_verdict": not row["gpt_verdict"]} for row in rows]
    assert "judge" not in read_answers(write(turned), dataset).proposal.columns


@pytest.mark.parametrize("column", ["correct", "score", "result", "label", "judge"])
def test_verdicts_against_the_answers_stop_until_they_are_named(column, answered, write, dataset):
    path = write(named([row | {"judge": not row["judge"]} for row in answered], judge=column))
    says = rf"the verdicts in {column} go against the answers: .* in 12% of the pairs; name the"
    with pytest.raises(UnclearColumnsError, match=says):
        read_import(path, None, "mine", dataset)
    found = {}
    for given in (column, "none"):
        source = read_import(path, naming(f"judge={given}"), "mine", dataset)
        made = account_of(source.file, source.matching, dataset)
        found[given] = made.counts["told"]["verdicts"], " ".join(made.warnings)
    assert found[column][0] == len(answered)
    assert "go against the answers" in found[column][1]
    assert found["none"] == (0, "")


@pytest.mark.parametrize(
    ("column", "value"),
    [("score", 4), ("score", 0.4137), ("is_adversarial", True), ("judge_model", "gpt-4o")],
)
def test_what_is_no_verdict_is_passed_over_and_said(column, value, answered, write, dataset):
    path = write([row | {column: value} for row in named(answered, judge=None)])
    file = read_answers(path, dataset)
    assert "judge" not in file.proposal.columns
    output = "\n".join(account_of(file, match(file.rows, dataset), dataset).sentences)
    assert f"Columns that were not read: {column}." in output
    if column != "is_adversarial":
        assert "Not in the file: judge verdicts" not in output
        assert f"though the names suggest more: {column}" in output
