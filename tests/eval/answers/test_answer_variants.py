"""Any file of answers is imported with an account that adds up, or refused in one line.

An expectation of a variant is a pattern of that line, or items of the account.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from eval.answers.files import read_answers
from eval.imports.rescore.account import account
from eval.imports.rescore.imports import read_import, record
from eval.metrics.abstention import abstains
from memsys.core.errors import InputError
from tests.eval.answers.conftest import right_answers

Row = dict[str, Any]
LONG = "a" * 20_000
DIGITS = "9" * 5_000


class Variant(NamedTuple):
    """A file and the expectation: a pattern, or items of the account."""

    name: str
    data: bytes
    expected: str | Mapping[str, Any]


def rows() -> list[Row]:
    """One right answer to every question of SAMPLES, with its index and no gold answer."""
    names = ("sample_id", "qa_index", "question", "category")
    return [
        {name: row[name] for name in names} | {"prediction": row["answer"]}
        for row in right_answers()
    ]


N = len(rows())
ALL = {"matched": N, "unmatched": 0, "errors": 0, "empty_answers": 0}


def lines(values: list[Any]) -> bytes:
    """JSON lines."""
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def comma(values: list[Row]) -> bytes:
    """CSV."""
    table = [list(values[0]), *(list(row.values()) for row in values)]
    text = "\n".join(
        ",".join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in table
    )
    return text.encode()


def _second(**fields: Any) -> bytes:
    """All rows, of which the second has other `fields`."""
    made = rows()
    made[1] |= fields
    return lines(made)


def _without(*names: str) -> list[Row]:
    return [{k: v for k, v in row.items() if k not in names} for row in rows()]


def _unmatched(reason: str) -> dict[str, Any]:
    return {"matched": N - 1, "unmatched": 1, "unmatched_by_reason": {reason: 1}}


_AT = r"line 2: "  # of JSON lines
Expected = str | Mapping[str, Any]
_VALUES: list[tuple[str, tuple[Any, ...], Expected]] = [  # of a column of the second row
    ("prediction", (None, "", "  ", float("nan")), ALL | {"empty_answers": 1}),
    ("prediction", (5, 2.5, -1, 2**63 - 1, LONG, "\x00", "=1+1", "NaN", "null"), ALL),
    ("prediction", (True, False, [], {}, ["x"], {"a": 1}), _AT + "prediction must be a text"),
    ("prediction", ("\ud800", "a\udfff"), _AT + "prediction: an unpaired surrogate"),
    ("prediction", (float("inf"),), _AT + "prediction: a number beyond"),
    ("prediction", (2**64, 10**400), _AT + "prediction: an integer beyond"),
    ("question", ("Who?",), _unmatched("the question at its qa_index is another")),
    ("question", ("WHEN DID ADA  PLANT IT?",), ALL),
    ("question", (None,), ALL | {"not_checked_by_question": 1}),
    ("question", (True,), _AT + "question must be a text"),
    ("qa_index", ("1", 1.0), ALL),
    ("qa_index", (99,), _unmatched("no such qa_index in its conversation")),
    (
        "qa_index",
        (-1, 1.5, "x", True, [], 1e300, "1e300", "inf", "nan", DIGITS),
        _AT + "qa_index must be a",
    ),
    ("sample_id", (None,), ALL | {"matched_by_index": N - 1}),
    ("sample_id", (True,), _AT + "sample_id must be a text"),
    ("category", (None, "", 99, "x", LONG, "=1"), ALL),
    ("category", (True, [], {}), _AT + "category must be a text"),
    ("judge", (True, 0, "CORRECT", "0.5", None, "", "N/A", "Error.", [], [True, False]), ALL),
    ("judge", ([True, None],), _AT + "judge contains a blank"),
    ("judge", (2, -1, "maybe", "nan", "1e300", ["maybe"]), _AT + "judge .* is no verdict"),
    ("context_tokens", (0, 10, "10", 10.0, None), ALL),
    (
        "context_tokens",
        (1e300, "1e300", 1.5, -1, "many", True, [], 2**62),
        _AT + "context_tokens must be a ",
    ),
    ("search_seconds", ("0.25",), ALL),
    (
        "search_seconds",
        (1e308, "1e308", "inf", "nan", -0.1, "fast", True),
        _AT + "search_seconds must be a number",
    ),
    (
        "error",
        (None, "", False, 0, "0", "False", "none", [], {}, "N/A", "no error", 200, "200"),
        ALL,
    ),
    ("error", ("timeout", True, 1, {"code": 5}, ["x"], LONG), ALL | {"errors": 1}),
    ("x", ({"y": [None]}, json.loads("[" * 99 + "]" * 99)), ALL),  # an unknown field
]


def variants() -> list[Variant]:
    """Return all variants."""
    plain, base = lines(rows()), rows()
    by_words = _without("qa_index")
    ids = [{"id": f"{r['sample_id']}/{r['qa_index']}", "prediction": r["prediction"]} for r in base]
    other = [row | {"sample_id": "conv-26", "question": f"Q{n}?"} for n, row in enumerate(base)]
    made = [
        Variant(f"{column} {one!r:.20}", _second(**{column: one}), expected)
        for column, several, expected in _VALUES
        for one in several
    ]
    table: list[tuple[str, bytes, str | Mapping[str, Any]]] = [
        ("lines", plain, ALL | {"matched_by_index": N}),
        (
            "index of an earlier row",
            _second(qa_index=0, question=None),
            _unmatched("its question is answered by an earlier row"),
        ),
        (
            "another data set's conversation",
            _second(sample_id="conv-26", question=None),
            _unmatched("no such conversation"),
        ),
        ("lines by question", lines(by_words), ALL | {"matched_by_index": 0, "ambiguous": 4}),
        ("lines by id", lines(ids), ALL | {"not_checked_by_question": N}),
        ("lines of another data set", lines(other), "none of the 12 rows matches"),
        ("one row", lines(base[:1]), {"matched": 1, "unmatched": 0}),
        (
            "id and row disagree",
            lines([{"id": "first/0", "sample_id": "second", "answer": "x"}]),
            "line 1: the id names 'first'",
        ),
        (
            "id without a slash",
            lines([{"id": "first", "answer": "x"}]),
            "none of the 1 rows matches",
        ),
        ("CSV", comma(base), ALL),
        ("CSV, no header", comma(base).split(b"\n", 1)[1], "not a header"),
        (
            "CSV, empty answers",
            comma([row | {"prediction": ""} for row in base]),
            "is empty; name it or another by --columns answer=COLUMN",
        ),
        ("CSV, errors false", comma([row | {"error": "False"} for row in base]), ALL),
        (
            "CSV, errors true",
            comma([row | {"error": "True"} for row in base]),
            {"matched": N, "errors": N},
        ),
        ("CSV, NUL", comma([row | {"prediction": "a\x00b"} for row in base]), ALL),
        ("no answers", lines(_without("prediction")), "no column for the answer"),
        ("no conversation", lines(_without("sample_id")), ALL | {"matched_by_index": 0}),
        ("no question", lines(_without("qa_index", "question")), "no column for the question"),
        (
            "an empty first row",
            b"{}\n" + plain,
            {"matched": N, "unmatched_by_reason": {"neither a question nor a conversation": 1}},
        ),
    ]
    return made + [Variant(*row) for row in table]


VARIANTS = variants()


@pytest.mark.parametrize(
    "variant", VARIANTS, ids=[f"{n}-{one.name:.40}" for n, one in enumerate(VARIANTS)]
)
def test_a_file_is_imported_or_refused_in_one_line(variant, dataset, tmp_path):
    path = tmp_path / "answers"
    path.write_bytes(variant.data)
    if isinstance(variant.expected, str):
        with pytest.raises(InputError) as caught:
            read_import(path, None, "mine", dataset, partial=True)
        line = str(caught.value)
        assert "answers" in line
        assert line.isprintable()
        assert len(line) < 1_000
        assert re.search(variant.expected, line), line
        return
    source = read_import(path, None, "mine", dataset, partial=True)
    answers = source.matching.answers
    asked = [question for question in dataset.questions if question.id in answers]
    records = [record(question, answers[question.id]) for question in asked]
    report = account(source.file, source.matching, dataset, records)
    counts = report.counts
    assert {name: counts[name] for name in variant.expected} == variant.expected
    assert counts["matched"] + counts["unmatched"] == counts["rows"]
    assert counts["unmatched"] == sum(counts["unmatched_by_reason"].values())
    assert report.sentences
    assert bool(report.warnings) or not counts["unmatched"]
    json.dumps([counts, *records], ensure_ascii=False, allow_nan=False).encode()
    for one in records:
        if one["status"] == "ok":
            assert one["answer"] == answers[one["id"]].answer
            assert one["abstained"] == abstains(one["answer"])
        else:
            assert one["answer"] is None
            assert not any(score is not None for score in one["scores"].values())


def test_a_number_as_answer_is_its_text(dataset, tmp_path):
    path = tmp_path / "answers.jsonl"
    made = rows()
    for row, answer in zip(made, [2023, 2.5, -1, "2023", "٢٠٢٣"], strict=False):
        row["prediction"] = answer
    path.write_bytes(lines(made))
    read = [row.answer for row in read_answers(path, None).rows[:5]]
    assert read == ["2023", "2.5", "-1", "2023", "٢٠٢٣"]
