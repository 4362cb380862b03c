from __future__ import annotations

from eval.browse.questions import Questions
from tests.eval.report.made_report import data_file, made, records, write_run


def test_a_row_has_score_answer_and_verdicts_of_every_run(questions):
    rows = {row["id"]: row for row in questions.rows()}
    assert len(rows) == 30
    assert list(rows)[:3] == ["ash/0", "ash/1", "ash/2"]
    first, second, third = rows["ash/0"]["runs"]
    assert [first[0], second[0], third[0]] == [0.0, 0.1, None]  # the third failed
    assert [one[2] for one in (first, second, third)] == [["wrong"], ["wrong"], ["error"]]
    assert rows["ash/5"]["runs"][2][1] == "A zebra, in Straße 5"
    assert rows["ash/4"]["runs"][2][2] == ["right", "abstained"]
    assert rows["cedar/9"]["runs"][2] is None  # not asked
    assert questions.key == "locomo_f1"


def test_another_question_of_the_same_id_has_no_score(tmp_path):
    data = data_file(tmp_path / "made.json")
    other = records()
    other[3]["question"] = "Another?"
    runs = made(
        write_run(tmp_path / "first", records(), "plain", data),
        write_run(tmp_path / "second", other, "other", data),
    )
    row = next(row for row in Questions(runs).rows() if row["id"] == "ash/3")
    assert [one[0] for one in row["runs"]] == [0.15, None]


def test_cards_have_every_run_that_was_asked(questions):
    first, last = questions.card("ash/0"), questions.card("cedar/9")
    assert first is not None
    assert last is not None
    assert [side.label for side in first.sides] == ["plain", "better<i>", "odd"]
    assert [side.label for side in last.sides] == ["plain", "better<i>"]
    assert questions.card("oak/0") is None
