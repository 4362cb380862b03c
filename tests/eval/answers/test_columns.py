"""Columns of answer files under any name: by name and by contents."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from eval.answers.files import UnclearColumnsError, read_answers
from eval.answers.layout import Layout, load_layout, parse_columns, shipped
from eval.answers.match import match
from eval.imports.rescore.imports import read_import
from memsys.core.errors import InputError
from tests.eval.answers.conftest import Rows, matched, mem0_layout, named, naming

ANSWERS = [
    *("pred", "predicted", "prediction", "generated_answer", "generatedAnswer", "predicted_answer"),
    *("system_answer", "model_answer", "hypothesis", "response", "gpt-4o_prediction", "antwort"),
]
QUESTIONS = ["question", "query", "question_input", "frage"]
GOLDS = [
    *("gold", "golden_answer", "reference", "reference_answer", "expected", "ground_truth"),
    *("standard_answer", "answer", "muster"),
]
CONVERSATIONS = ["conv", "conv_id", "conversation_id", "user_id", "group_id", "gespraech", None]
VERDICTS = ["grade", "llm_judgments", "result", "label", "is_correct", "score", "urteil"]


def texts(rows: Rows) -> list[str]:
    return sorted(row["answer"] for row in rows)


@pytest.mark.parametrize(
    ("answer", "question", "gold", "conversation", "verdict"),
    [*zip(ANSWERS * 3, *map(cycle, (QUESTIONS, GOLDS, CONVERSATIONS, VERDICTS)), strict=False)],
)
def test_any_names(answer, question, gold, conversation, verdict, answered, write, dataset):
    names = {"answer": answer, "gold": gold, "question": question, "judge": verdict}
    path = write({"detailed": named(answered, **names, sample_id=conversation)})
    found = matched(path, dataset)
    assert sorted(row.answer for row in found.values()) == texts(answered)
    assert [found[q.id].judge for q in dataset.questions].count(1.0) == sum(
        row["judge"] for row in answered
    )
    assert found["first/0"].gold == "a fig tree"
    assert found["first/0"].answer == "nobody knows, answer 0"


def test_without_a_data_set_names_decide(rows, write):
    file = read_answers(write(mem0_layout(rows, {"first": "0", "second": "1"})), None)
    columns = {"question": ("question",), "answer": ("response",), "gold": ("answer",)}
    assert columns.items() <= file.proposal.columns.items()
    assert [row.conversation for row in file.rows][::6] == ["0", "1"]


def test_a_column_of_golds_is_the_answer_only_without_another(answered, write, dataset):
    path = write([{**row, "answer": row["gold"], "said": row["answer"]} for row in answered])
    assert read_answers(path, dataset).proposal.columns["answer"] == ("said",)
    path = write([{"question": row["question"], "answer": row["gold"]} for row in answered])
    assert read_answers(path, dataset).proposal.columns["answer"] == ("answer",)


@pytest.mark.parametrize("name", ["Model's Answer", "GPT-4’s response"])
def test_an_apostrophe_makes_no_column_of_seconds(name, answered, write, dataset):
    path = write(
        [
            {"question": row["question"], name: row["answer"], "notes": f"on {row['question']}"}
            for row in answered
        ]
    )
    assert read_answers(path, dataset).proposal.columns["answer"] == (name,)


def test_an_unlisted_answer_among_other_texts(answered, write, dataset):
    def row(n: int, one: dict[str, Any]) -> dict[str, Any]:
        context = f"{one['question']} {one['gold']}"
        texts = {"context": context, "reasoning": f"since {context}", "x": one["answer"]}
        return {"asked": one["question"], "right": one["gold"], "key": f"u{n}", **texts}

    path = write([row(n, one) for n, one in enumerate(answered)])
    columns = {"question": ("asked",), "gold": ("right",), "answer": ("x",)}
    assert columns.items() <= read_answers(path, dataset).proposal.columns.items()


def test_two_models_in_one_file_stop_until_one_is_named(answered, write, dataset):
    value = [
        {"question": row["question"], "a_prediction": row["answer"], "b_prediction": "no"}
        for row in answered
    ]
    path = write(value)
    with pytest.raises(UnclearColumnsError, match="a_prediction, b_prediction; name one by") as one:
        read_answers(path, dataset)
    assert [column.meaning for column in one.value.proposal.table] == ["question", None, None]
    found = matched(path, dataset, naming("answer=b_prediction"))
    assert {row.answer for row in found.values()} == {"no"}


def test_an_answer_beside_a_chain_of_thought_stops_until_one_is_named(answered, write, dataset):
    value = [row | {"response": f"Step by step: {row['answer']}"} for row in answered]
    with pytest.raises(UnclearColumnsError, match="response, answer; name one by --columns"):
        read_answers(write(value), dataset)
    file = read_answers(write(value), dataset, naming("answer=answer"))
    assert file.proposal.columns["answer"] == ("answer",)
    same = [row | {"response": row["answer"]} for row in answered]
    assert read_answers(write(same), dataset).proposal.columns["answer"] == ("response",)


def test_an_empty_column_of_answers_is_refused_until_it_is_named(answered, write, dataset):
    path = write([row | {"answer": None} for row in answered])
    with pytest.raises(UnclearColumnsError, match="the column of answers, 'answer', is empty"):
        read_answers(path, dataset)
    rows = read_answers(path, dataset, naming("answer=answer")).rows
    assert {row.answer for row in rows} == {""}


def test_a_table_by_columns_is_recognised(answered, write, dataset):
    columns = ("question", "answer", "gold")
    value = {key: {str(n): row[key] for n, row in enumerate(answered)} for key in columns}
    with pytest.raises(UnclearColumnsError, match="is a table by columns; write a list of objects"):
        read_answers(write(value), dataset)


def test_keys_of_single_questions_are_no_conversations(answered, write, dataset):
    once = {row["question"]: row for row in named(answered, sample_id=None)}
    value = {f"talk-{n}": row for n, row in enumerate(once.values())}
    assert "conversation" not in read_answers(write(value), dataset).proposal.columns


def test_a_column_named_beside_a_layout_is_required(answered, write, dataset):
    layout = load_layout("rows").with_columns(parse_columns(["judge=marks"]), None)
    with pytest.raises(UnclearColumnsError, match="no column 'marks' for judge"):
        read_answers(write(answered), dataset, layout)


def test_keys_that_are_categories_are_no_conversations(answered, write, dataset):
    value: dict[str, Rows] = {}
    several = [row for row in answered if row["category"] != 5]
    for row in several:
        item = {"question": row["question"], "answer": row["gold"], "response": row["answer"]}
        value.setdefault(str(row["category"]), []).append(item)
    file = read_answers(write(value), dataset)
    assert "conversation" not in file.proposal.columns
    assert file.proposal.columns["category"] == ("@key",)
    found = match(file.rows, dataset)
    assert len(found.answers) == len(several)
    assert found.answers["first/4"].answer == answered[4]["answer"]  # asked again as type 5


def test_ids_and_indices_that_contradict_the_questions_are_not_used(rows, write, dataset):
    wrong = [
        {**row, "qa_index": row["qa_index"] + 1, "id": f"{row['sample_id']}/{row['qa_index'] + 1}"}
        for row in rows
    ]
    file = read_answers(write(wrong), dataset)
    assert not {"id", "index"} & file.proposal.columns.keys()
    assert len(match(file.rows, dataset).answers) == len(rows)


def test_a_history_with_one_question_is_named_by_the_id_of_the_question(write, dataset):
    asked = tuple(
        replace(q, id=f"h{n}/0", conversation=f"h{n}") for n, q in enumerate(dataset.questions)
    )
    talks = tuple(replace(dataset.conversations[0], id=q.conversation) for q in asked)
    single = replace(dataset, questions=asked, conversations=talks)
    path = write([{"question_id": q.conversation, "hypothesis": q.id} for q in asked])
    found = matched(path, single)
    assert {id_: row.answer for id_, row in found.items()} == {q.id: q.id for q in asked}


def test_two_systems_in_one_file_stop_until_one_is_named(answered, write, dataset):
    other = [row | {"answer": f"not {row['answer']}"} for row in answered]
    path = write({"one": {"details": answered}, "two": {"details": other}})
    says = "several lists answer the same questions: one.details, two.details; name one by --rows"
    with pytest.raises(UnclearColumnsError, match=says):
        read_answers(path, dataset)
    rows = read_answers(path, dataset, Layout(rows="two.details")).rows
    assert {row.answer[:4] for row in rows} == {"not "}


def test_the_same_answers_twice_and_what_was_retrieved_are_no_other_answers(
    answered, write, dataset
):
    memories = [{"memory": f"memory {n}", "score": 0.5, "timestamp": "May"} for n in range(30)]
    for value, place in (
        ({"details": answered, "failures": answered[:3], "judged": answered}, "details"),
        ([row | {"search_results": memories} for row in answered], ""),
    ):
        file = read_answers(write(value), dataset)
        assert (file.proposal.rows.path, len(file.rows)) == (place, len(answered))


def test_far_too_many_rows_are_refused(answered, write, dataset, monkeypatch):
    monkeypatch.setattr("eval.answers.files._MOST", 11)
    with pytest.raises(UnclearColumnsError, match="12 rows are more than any data set has ques"):
        read_answers(write(answered), dataset)


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_two_columns_of_answers_stop_where_neither_is_gold(share, answered, write, dataset):
    right = int(share * len(answered))
    rows = [
        {
            "question": row["question"],
            "answer": row["gold"] if n < right else f"no {n}",
            "prediction": f"said {n}",
        }
        for n, row in enumerate(answered)
        if row["category"] != 5
    ]
    with pytest.raises(UnclearColumnsError, match="answer: prediction, answer; name one by"):
        read_answers(write(rows), dataset)


def test_the_means_of_a_file_are_no_scores_of_its_rows(answered, write, dataset):
    whole = {"accuracy": 0.5, "f1_score": 0.25, "total_time": 90, "error": "x"}
    file = read_answers(write({**whole, "results": named(answered, judge=None)}), dataset)
    assert not {"judge", "mem0_f1", "total_seconds", "error"} & file.proposal.columns.keys()


def test_a_column_of_few_rows_is_read(answered, write, dataset):
    many = [dict(row) for row in answered for _ in range(100)]
    many[777]["error"] = "timed out"
    rows = read_answers(write(many), dataset).rows
    assert [n for n, row in enumerate(rows) if row.error] == [777]


def test_too_few_matching_rows_are_refused(answered, write, dataset):
    def strange(count: int) -> Path:
        others = [{**answered[0], "question": f"Which {n}?"} for n in range(count)]
        return write(named(answered) + named(others))

    with pytest.raises(UnclearColumnsError, match=r"only 12 of 13 rows .* 95% are needed"):
        read_import(strange(1), None, "mine", dataset)
    said = naming("answer=answer")
    assert len(read_import(strange(12), said, "mine", dataset).matching.answers) == 12
    with pytest.raises(UnclearColumnsError, match=r"only 12 of 25 rows .* 50% are needed"):
        read_import(strange(13), said, "mine", dataset)
    found = read_import(strange(99), None, "mine", dataset, partial=True)
    assert len(found.matching.answers) == 12
    doubled = r"by an earlier row: 12\).*give each question one answer, or name one list by --rows"
    with pytest.raises(UnclearColumnsError, match=doubled):
        read_import(write(answered * 2), None, "mine", dataset)


def test_shipped_layouts(answered, write, dataset):
    assert {"mem0", "locomo", "longmemeval", "records"} <= set(shipped())
    for name in shipped():
        assert load_layout(name).columns["answer"]
    official = [
        {"sample_id": name, "qa": [
            {"question": row["question"], "answer": row["gold"], "m_prediction": row["answer"]}
            for row in answered if row["sample_id"] == name
        ]}
        for name in ("first", "second")
    ]  # fmt: skip
    found = matched(write(official), dataset, load_layout("locomo"))
    assert sorted(row.answer for row in found.values()) == texts(answered)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("columns: {said: x}", "'said' is no field"),
        ("columns: {answer: [a, b]}", "answer is read from one column, not from 2"),
        ("columns: [x]", "columns: .*dictionary"),
        ("columns: {}", "columns: .*at least 1 item"),
        ("columns: {answer: ''}", "columns.answer.*at least 1 char"),
        ("rows: a", "columns: .*required"),
        ("column: {answer: a}", "column"),
        ("[", "not YAML"),
    ],
)
def test_layouts_that_are_wrong(text, says, tmp_path):
    path = tmp_path / "l.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        load_layout(str(path))
