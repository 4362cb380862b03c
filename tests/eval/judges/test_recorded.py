"""Verdicts that are looked up, and the stand-in that never passes for a judge."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from eval.judges.gold_recall import GoldRecallSettings, gold_recall
from eval.judges.llm import LLMJudge
from eval.judges.panel import Panel
from eval.judges.recorded import RecordedSettings, read_judged
from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from tests.eval.factory import error, record, write_run

ROW = {"sample_id": "s", "qa_index": 0, "category": 4, "question": "Q?", "gold": "red"}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    text = "".join(json.dumps(ROW | row) + "\n" for row in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_runs_are_read_where_the_file_lists_them(tmp_path):
    path = written(
        tmp_path / "a.jsonl.gz",
        {"answer": "red", "judge": True, "judgments": [True, False, True]},
        {"answer": "blue", "qa_index": 1, "judge": False},
        {"answer": "grey", "qa_index": 2, "judge": None},
    )
    assert [one.verdicts for one in read_judged(path)] == [(True, False, True), (False,), ()]
    judge = RecordedSettings(str(path)).open(None)
    assert judge.judge("Q?", "red", "red").runs == {"recorded": (True, False, True)}
    assert judge.judge("Q?", "red", "blue").value == 0
    assert judge.details == {"source": "a.jsonl.gz", "answers": 2}
    for answer in ("grey", "Red", ""):
        with pytest.raises(LLMError, match="no verdict on this answer"):
            judge.judge("Q?", "red", answer)
    contradicting = [{"answer": "red", "judge": passed} for passed in (True, False)]
    judge = RecordedSettings(str(written(tmp_path / "a.jsonl", *contradicting))).open(None)
    with pytest.raises(LLMError, match="two different verdicts"):
        judge.judge("Q?", "red", "red")


def test_a_run_folder_gives_its_verdicts(tmp_path):
    passed = record(scores={"judge": 1.0})
    failed, adversarial = record("ash/1", **error()), record("ash/2", category=5)
    run = write_run(tmp_path / "run", [passed, failed, adversarial])
    assert [one.verdicts for one in read_judged(run)] == [(True,)]
    (run / "records.jsonl").write_text('{"status": "ok"}\n')
    with pytest.raises(InputError, match="line 1"):
        read_judged(run)


def test_wrong_input_is_told(tmp_path):
    with pytest.raises(InputError, match=r"set judge\.path"):
        RecordedSettings().open(None)
    for row, message in (
        ({}, "contains no verdict"),
        ({"judgments": [True, None]}, "line 1: judgments contains a blank"),
        ({"gold": None, "judge": True}, "a verdict without question or gold"),
    ):
        path = written(tmp_path / "wrong.jsonl", {"answer": "red", **row})
        with pytest.raises(InputError, match=message):
            RecordedSettings(str(path)).open(None)
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_judged(tmp_path)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("She keeps two goats and a dog", "goats", 1.0),
        ("a goat", "two goats and one dog", 0.2),
        ("On May 7th, 2023", "7 May 2023", 1.0),
        ("seven", "7", 1.0),
        ("tea tea tea", "tea and tea and rum", 0.4),
        ("", "tea", 0.0),
        ("no information is given", "No", 0.0),  # a refusal shares words by accident
        ("It is not mentioned", "not mentioned", 1.0),
        ("北京的茶馆", "北京", 1.0),
        ("anything", "...", 0.0),
    ],
)
def test_share_of_the_golds_terms(answer, gold, expected):
    assert gold_recall(answer, gold) == pytest.approx(expected)


def test_the_threshold_decides():
    assert GoldRecallSettings(0.5).judge("q", "two goats", "a goat").value == 1.0
    assert GoldRecallSettings(0.51).judge("q", "two goats", "a goat").value == 0.0
    for wrong in (0, 1.1):
        with pytest.raises(InputError, match=r"judge\.threshold"):
            GoldRecallSettings(wrong).open(None)


def test_it_is_never_called_j():
    judge = GoldRecallSettings().open(None)
    assert judge.score_key == "gold_recall" != LLMJudge.score_key
    assert "not J" in judge.details["note"]

    class Other(GoldRecallSettings):
        name = "other"

    with pytest.raises(InputError, match="not all are models"):
        Panel([judge, Other()])
