"""Records of imported answers: verdicts and labels in any form, what a row does not say, and what
becomes of them when they are scored again.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.answers import values
from eval.answers.match import AnswerRow
from eval.datasets.types import TYPES, Dataset
from eval.imports.rescore.account import categories_sentence, labels_table
from eval.imports.rescore.imports import read_import, record, write_import
from eval.imports.rescore.recompute import recompute
from eval.records.files import read_lines, write_lines
from eval.records.manifest import load_manifest


def _row(**fields: object) -> AnswerRow:
    return AnswerRow(**({"place": "line 1", "conversation": "first", "index": 0} | fields))  # type: ignore[arg-type]


def test_what_is_not_told_is_null(dataset):
    made = record(dataset.questions[0], _row(question="?", answer="an oak", category="4"))
    unknown = ("retrieved", "k", "context_tokens", "evidence_found", "usage", "judge_source")
    expected = dict.fromkeys((*unknown, "latency_source")) | {
        "latency_ms": {"retrieve": None, "answer": None, "total": None},
        # The data set's own words, not the file's.
        **{"question": "What did Ada plant?", "gold": "a fig tree", "evidence": ["D1:1"]},
        **{"category": 1, "type": "multi_hop", "source_category": "4"},
        **{"status": "ok", "abstained": False, "answer_tokens": 2},
    }
    assert {name: made[name] for name in expected} == expected
    scores = {"judge": None, "evidence_recall": None, "evidence_hit": None, "locomo_f1": 0.0}
    assert scores.items() <= made["scores"].items()


@pytest.mark.parametrize(
    ("search", "answering", "total", "expected"),
    [
        (0.25, 1.5, None, {"retrieve": 250.0, "answer": 1500.0, "total": 1750.0}),
        (1.0, None, None, {"retrieve": 1000.0, "answer": None, "total": None}),
        (1.0, 1.0, 5.0, {"retrieve": 1000.0, "answer": 1000.0, "total": 5000.0}),
        (None, None, 0.0, {"retrieve": None, "answer": None, "total": 0.0}),
    ],
)
def test_what_is_told_is_kept_and_a_total_may_be_the_sum(
    search, answering, total, expected, dataset
):
    seconds = {"search_seconds": search, "answer_seconds": answering, "total_seconds": total}
    row = _row(question=None, answer="fig tree", judge=0.0, context_tokens=900, **seconds)
    made = record(dataset.questions[0], row)
    assert made["latency_ms"] == expected
    assert made["latency_source"] == made["judge_source"] == "as reported"
    assert (made["context_tokens"], made["scores"]["judge"]) == (900, 0.0)
    assert made["scores"]["locomo_f1"] == 1.0


def test_a_failed_row_has_no_answer_and_no_score(dataset):
    made = record(dataset.questions[0], _row(question=None, answer="x", judge=1.0, error="429"))
    assert made["error"] == {"phase": "answer", "kind": "as reported", "message": "429"}
    fields = [made[name] for name in ("status", "answer", "abstained", "judge_source")]
    assert fields == ["error", None, None, None]
    assert set(made["scores"].values()) == {None}


def test_an_empty_answer_is_wrong_not_failed(dataset):
    made = record(dataset.questions[0], _row(question=None, answer=""))
    assert (made["status"], made["answer"], made["error"]) == ("ok", "", None)
    assert (made["scores"]["locomo_f1"], made["scores"]["bleu1"]) == (0.0, 0.0)
    assert made["answer_tokens"] == 0


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *((value, 1.0) for value in (True, 1, 1.0, "1", "1.0", "CORRECT", "correct ")),
        *((value, 1.0) for value in ("True", "yes")),
        *((value, 0.0) for value in (False, 0, 0.0, "0", "WRONG", "incorrect", "false", "No")),
        *((value, None) for value in (None, "", " ", float("nan"))),
        (2 / 3, 2 / 3),
    ],
)
def test_verdicts(written, expected):
    assert values.verdict(written) == expected


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
    assert values.label(written, TYPES.values()) == expected


def _categories(counts: dict[tuple[str, int], int]) -> list[dict[str, Any]]:
    return [
        {"label": label, "official": n, "type": TYPES[n], "rows": rows}
        for (label, n), rows in counts.items()
    ]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({("1", 1): 5, ("temporal", 2): 3, ("4", 4): 9}, None),
        (
            {("1", 4): 841, ("2", 2): 321, ("3", 1): 282, ("4", 3): 96},
            "The file's categories are a permutation of the official categories: 1 is 4 "
            "single_hop; 3 is 1 multi_hop; 4 is 3 open_domain. Scores",
        ),
        (
            {("Reasoning", 1): 4, ("Time", 2): 4},
            "The file's categories are other names: Reasoning is 1 multi_hop; Time is 2 temporal.",
        ),
        (
            {("1", 1): 4, ("1", 4): 2, ("4", 4): 1_000},
            "Another category than the official one: 2 of 1,006 rows.",
        ),
        ({("1", 1): 4, ("4", 1): 2}, "Another category than the official one: 2 of 6 rows."),
    ],
)
def test_labels_beside_the_official_categories(counts, says):
    sentence = categories_sentence(_categories(counts))
    assert sentence is None if says is None else str(sentence).startswith(says)


def test_a_table_of_labels():
    counts = {"categories_relabelled": 4, "categories": _categories({("3", 4): 3, ("4", 1): 1})}
    drawn = labels_table(counts, lambda header, rows: f"{header} {rows}")
    header = ["label in the file", "1 multi_hop", "4 single_hop"]
    assert drawn == f"{header} {[['3', '0', '3'], ['4', '1', '0']]}"
    assert labels_table({"categories_relabelled": 0}, lambda *_: "") is None


Rows = list[dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, rows: Rows, lines: Callable[..., Path], dataset: Dataset) -> Path:
    """The folder of an import with one judged row."""
    rows[0] |= {"judge": False, "context_tokens": 7}
    folder = tmp_path / "run"
    write_import(read_import(lines(rows), None, "mine", dataset), folder, {"dataset": "talks"})
    return folder


def _read(folder: Path) -> dict[str, Any]:
    """Every file of the folder but the lock."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("[!.]*")}
    return {name: json.loads(t) if name.endswith(".json") else t for name, t in texts.items()}


def test_scores_come_back_and_nothing_else_moves(run):
    before = _read(run)
    records = list(read_lines(run / "records.jsonl"))
    for one in records:
        one["scores"] |= {"locomo_f1": 0.123, "bleu1": None}
    write_lines(run / "records.jsonl", records)
    (run / "summary.json").unlink()
    (run / "report.md").unlink()
    summary, changed = recompute(run)
    assert changed == len(records)
    after = _read(run)
    assert len(after["manifest.json"].pop("rescored")) == 1
    assert after == before
    assert summary == before["summary.json"]
    assert recompute(run)[1] == 0
    assert len(load_manifest(run)["rescored"]) == 2


def test_verdicts_and_answers_stay(run):
    records = list(read_lines(run / "records.jsonl"))
    records[1]["scores"]["judge"] = 0.5
    records[1]["scores"]["by_hand"] = 1.0
    records[1]["answer"] = "in another year"
    write_lines(run / "records.jsonl", records)
    recompute(run)
    again = list(read_lines(run / "records.jsonl"))
    assert again[0]["scores"]["judge"] == 0.0
    assert (again[1]["scores"]["judge"], again[1]["scores"]["by_hand"]) == (0.5, 1.0)
    assert (again[1]["answer"], again[1]["scores"]["locomo_f1"]) == ("in another year", 0.0)
