"""Ids and lines in the formats of TREC survive the way out and back."""

from __future__ import annotations

import pytest

from eval.datasets.pooled import POOLED
from eval.records.trec import (
    decode,
    document_of,
    encode,
    qrels_lines,
    read_run,
    run_lines,
)
from memsys.errors import InputError

# Blanks of several kinds, percent signs, control and non-ASCII characters.
IDS = ["D1:3", "a b", "100%", "%20", "tab\there", "\x00\x1f\x85", "旅行\u3000计划", "\ufeffé", ":"]


@pytest.mark.parametrize("id_", IDS)
@pytest.mark.parametrize("store", ["conv-26", "ash: oak", "会话 1%"])
def test_an_id_comes_back_from_one_field_of_a_line(store: str, id_: str) -> None:
    document = document_of(store, id_)
    assert document.split() == [document]
    assert tuple(map(decode, document.split(":", 1))) == (store, id_)
    assert decode(encode(id_)) == id_
    assert decode(document_of(POOLED, id_)) == id_


def test_ids_of_locomo_are_written_as_they_are() -> None:
    assert encode("conv-26/0") == "conv-26/0"
    assert document_of("conv-26", "D1:3") == "conv-26:D1:3"
    assert document_of(POOLED, "conv-26:D1:3") == "conv-26:D1:3"
    assert encode("旅行 计划") == "旅行%20计划"


def test_lines_come_back() -> None:
    (first, second) = read_run(run_lines("q", ["a:1", "a:2"], "bm25"), "run")
    assert (first.query, first.document, first.rank, first.tag) == ("q", "a:1", 1, "bm25")
    assert first.score > second.score
    assert list(qrels_lines("q", ["a:1", "a:2"])) == ["q 0 a:1 1\n", "q 0 a:2 1\n"]


def test_other_programs_write_tabs_empty_lines_and_marks_of_byte_order() -> None:
    text = "\ufeffq\tQ0\td\t1\t-2.5e-3\tx\r\n\n  \n"
    assert [tuple(line) for line in read_run(text.split("\n"), "run")] == [
        ("q", "d", 1, -0.0025, "x")
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 d 1 .5", "run: line 2: has 5 fields; write 6: query Q0 document rank score tag"),
        ("q Q0 d 1 nan t", "run: line 2: score 'nan' is no finite number"),
        ("q Q0 d 1 high t", "run: line 2: score 'high' is no finite number"),
        ("q Q0 d 1.5 2 t", "run: line 2: rank '1.5' is no whole number"),
    ],
)
def test_a_line_of_a_run_that_cannot_be_read_is_named(line: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        list(read_run(["q Q0 d 1 2 t", line], "run"))
    assert str(raised.value) == message
