from dataclasses import replace
from pathlib import Path

import pytest

from eval.answers.files import UnclearColumnsError, read_answers
from eval.answers.match import (
    NO_CONVERSATION,
    NO_INDEX,
    NO_QUESTION,
    OTHER_QUESTION,
    REPEATED,
    Matching,
    match,
)
from eval.datasets.types import Dataset
from eval.imports.rescore.account import account
from eval.imports.rescore.imports import read_import
from tests.eval.answers.conftest import Rows, mem0_layout


def _matched(path: Path, dataset: Dataset) -> Matching:
    return match(read_answers(path, dataset).rows, dataset)


def _answers(found: Matching) -> dict[str, str]:
    return {identity: row.answer for identity, row in found.answers.items()}


def _reasons(found: Matching) -> list[tuple[str, str]]:
    return [(row.place, reason) for row, reason in found.unmatched]


def _expected(rows: Rows) -> dict[str, str]:
    return {f"{row['sample_id']}/{row['qa_index']}": row["answer"] for row in rows}


def test_by_index_in_any_order(rows, lines, dataset):
    mixed = rows[1::2] + rows[::2][::-1]
    found = _matched(lines(mixed), dataset)
    assert _answers(found) == _expected(rows)
    assert (found.unmatched, found.ambiguous, found.unchecked) == ([], 0, 0)
    assert found.by_index == len(rows)


def test_an_index_that_contradicts_the_question_is_not_believed(rows, lines, dataset):
    rows[0]["qa_index"], rows[1]["qa_index"] = 1, 0
    rows[2]["qa_index"] = 99
    found = _matched(lines(rows), dataset)
    assert _reasons(found) == [
        ("line 1", OTHER_QUESTION),
        ("line 2", OTHER_QUESTION),
        ("line 3", NO_INDEX),
    ]
    assert {"first/0", "first/1", "first/2"}.isdisjoint(found.answers)
    assert len(found.answers) == len(rows) - 3


def test_by_words_with_duplicates(rows, by_words, lines, dataset):
    for number, row in enumerate(by_words):
        row["answer"] = f"answer {number}"
    found = _matched(lines(by_words), dataset)
    assert list(_answers(found).values()) == [row["answer"] for row in by_words]
    assert list(found.answers) == list(_expected(rows))
    assert found.ambiguous == 2  # the two that share even gold and category
    # out of order they are told apart where that can be
    found = _answers(_matched(lines(by_words[::-1]), dataset))
    assert (found["second/4"], found["second/5"]) == ("answer 10", "answer 11")  # by gold
    assert (found["first/4"], found["first/5"]) == ("answer 4", "answer 5")  # by category
    assert (found["second/2"], found["second/3"]) == ("answer 9", "answer 8")  # in the file's order


def test_one_row_for_two_questions(by_words, lines, dataset):
    adversarial, cherry, swims = by_words[5], by_words[11], by_words[8]
    found = _matched(lines([adversarial, cherry, swims]), dataset)
    assert sorted(found.answers) == ["first/5", "second/2", "second/5"]
    assert found.ambiguous == 1
    bare = {key: cherry[key] for key in ("sample_id", "question", "answer")}
    found = _matched(lines([bare]), dataset)
    assert list(found.answers) == ["second/4"]
    assert found.ambiguous == 1


def test_a_row_that_tells_goes_before_one_that_does_not(by_words, lines, dataset):
    bare = {**by_words[11], "gold": None, "category": None, "answer": "bare"}
    found = _answers(_matched(lines([bare, by_words[10]]), dataset))
    assert found == {"second/4": "plum", "second/5": "bare"}


def test_repeated_rows_are_not_scored(by_words, lines, dataset):
    again = {**by_words[0], "answer": "again"}
    plum_again = {**by_words[10], "answer": "plum again"}  # its twin question stays open
    found = _matched(lines([*by_words[:4], again, by_words[10], plum_again]), dataset)
    assert _reasons(found) == [("line 5", REPEATED), ("line 7", REPEATED)]
    assert _answers(found)["first/0"] == "a fig tree"
    assert "second/5" not in found.answers


def test_typing_is_forgiven_and_nothing_else(by_words, lines, dataset):
    typed = [
        {**by_words[0], "question": "what did  ADA plant? "},
        {**by_words[2], "question": 'What’s Ada\'s "best" tree?'},
        {**by_words[3], "question": "What did Bo lose"},
        {**by_words[1], "question": "When did Ada plants it?"},
    ]
    found = _matched(lines(typed), dataset)
    assert sorted(found.answers) == ["first/0", "first/2"]
    assert _reasons(found) == [("line 3", NO_QUESTION), ("line 4", NO_QUESTION)]
    # the same words to the letter go first
    loose = {**by_words[0], "question": "WHAT DID ADA PLANT?", "answer": "loose"}
    found = _matched(lines([loose, by_words[0]]), dataset)
    assert _answers(found) == {"first/0": "a fig tree"}
    assert _reasons(found) == [("line 1", REPEATED)]


def test_a_question_of_another_conversation_is_no_match(by_words, lines, dataset):
    stray = {**by_words[7], "sample_id": "first"}
    nowhere = {**by_words[7], "sample_id": "third", "question": "Where is it?"}
    found = _matched(lines([by_words[0], stray, nowhere]), dataset)
    assert _reasons(found) == [("line 2", NO_QUESTION), ("line 3", NO_CONVERSATION)]


def test_mem0_positions_are_confirmed_by_the_questions(rows, write, dataset):
    file = read_answers(write(mem0_layout(rows, {"first": "0", "second": "1"})), dataset)
    straight = match(file.rows, dataset)
    assert account(file, straight, dataset, []).counts["conversations_moved"] == []
    file = read_answers(write(mem0_layout(rows[::-1], {"first": "1", "second": "0"})), dataset)
    swapped = match(file.rows, dataset)
    assert {label: one.conversation for label, one in swapped.labels.items()} == {
        "1": "first",
        "0": "second",
    }
    assert account(file, swapped, dataset, []).counts["conversations_moved"] == ["0", "1"]
    assert len(straight.answers) == len(swapped.answers) == len(rows)
    assert _answers(swapped)["second/1"] == "Rex"


@pytest.mark.parametrize(
    ("label", "numbers", "conversation"), [("1", (0, 7), "second"), ("x", (7, 0), "first")]
)
def test_a_label_of_as_many_questions_of_each_conversation_is_a_position_or_else_the_first(
    label, numbers, conversation, by_words, lines, dataset
):
    rows = read_answers(lines(by_words), dataset).rows
    relabelled = [replace(rows[number], conversation=label) for number in numbers]
    assert match(relabelled, dataset).labels[label].conversation == conversation


def test_a_folder_is_one_source_whose_files_name_the_conversations(rows, write, dataset):
    for name in ("first", "second"):
        part = [{**row, "sample_id": None} for row in rows if row["sample_id"] == name]
        folder = write(part, f"parts/{name}.json").parent
    file = read_answers(folder, dataset)
    assert _answers(match(file.rows, dataset)) == _expected(rows)
    whole = (file.source.name, file.source.bytes)
    assert whole == ("parts", sum(one.bytes for one in file.sources))


def test_indices_that_count_from_1_are_recognised_or_asked_about(rows, lines, dataset):
    moved = [
        {k: v for k, v in row.items() if k != "question"} | {"qa_index": row["qa_index"] + 1}
        for row in rows
    ]
    found = _matched(lines(moved), dataset)
    assert (_answers(found), found.first) == (_expected(rows), 1)
    source = read_import(lines(moved), None, "mine", dataset)
    sentences = account(source.file, source.matching, dataset, []).sentences
    assert "counts qa_index from 1" in " ".join(sentences)
    within = [row for row in moved if row["qa_index"] < 6]
    assert _matched(lines(within), dataset).first is None
    with pytest.raises(UnclearColumnsError, match="do they count from 1"):
        read_import(lines(within), None, "mine", dataset)
    source = read_import(lines(within), None, "mine", dataset, as_written=True)
    assert source.matching.first is None
    assert _matched(lines(moved[1:3]), dataset).first == 0
