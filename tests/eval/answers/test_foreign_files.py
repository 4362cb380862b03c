"""Files of other layouts than answers to LoCoMo have: one line, or an account of what was read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from eval.imports.rescore.__main__ import main
from eval.records.manifest import load_manifest
from tests.eval.answers.published_fixtures import BARE, MEM0_NAMES, PLAIN, Row, read_rows

Patch = pytest.MonkeyPatch

ANSWERS = shared_folder() / "locomo" / "answers"

pytestmark = pytest.mark.skipif(
    not ANSWERS.is_dir(),
    reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/",
)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """A hundred rows of all conversations, as BARE writes them."""
    return [BARE.row(row) for row in read_rows(ANSWERS / "mirix_run1.jsonl.gz", 15)][:100]


@pytest.fixture
def rescore(
    tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Rescore a value as a JSON file; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(value: Any, *options: str) -> tuple[int, str, str]:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        name = "out.json.gz" if data.startswith(b"\x1f\x8b") else "out.json"
        Path(name).write_bytes(data)
        code = main([name, "--out", "run", *options])  # a later --out counts
        read = capsys.readouterr()
        return code, read.out, read.err

    return call


Rescore = Callable[..., tuple[int, str, str]]


def _refused(found: tuple[int, str, str], says: str) -> None:
    code, _, err = found
    assert code == 2
    [line] = [one for one in err.splitlines() if one.startswith("error: ")]
    assert says in line
    assert "Traceback" not in err
    assert not Path("run").exists()


def test_far_too_many_rows(rescore, rows, monkeypatch):
    monkeypatch.setattr("eval.answers.files._MOST", 99)
    _refused(rescore(rows, "--partial"), "100 rows are more than any data set has questions")


def test_golds_under_a_name_of_golds(rescore, rows):
    golds = [{"question": row["query"], "golden_answer": row["expected"]} for row in rows]
    _refused(rescore(golds), "no column for the answer")


def test_half_of_the_questions(rescore, rows):
    code, out, _ = rescore(rows[::2])
    assert code == 0
    assert "Without a row, and in no mean: 1,936 of 1,986 questions" in out
    assert any("cover only" in line for line in load_manifest(Path("run"))["warnings"])


def test_categories_of_two_numberings(rescore):
    real = read_rows(ANSWERS / "mirix_run1.jsonl.gz", 7)
    value = [
        PLAIN.row(row) | {"category": MEM0_NAMES[row["category"]] if n % 2 else row["category"]}
        for n, row in enumerate(real)
    ]
    code, out, _ = rescore(value)
    assert code == 0
    assert f"Matched: {len(real)} of {len(real)} rows" in out
    cells = json.loads(Path("run/summary.json").read_text())["by_type"]
    assert cells["multi_hop"]["n"] == sum(row["category"] == 1 for row in real)
    assert load_manifest(Path("run"))["matching"]["categories_sentence"]


def test_two_systems_in_one_file(rescore, rows):
    other = [row | {"predicted": f"not {row['predicted']}"} for row in rows]
    value = {"one": {"details": rows}, "two": {"details": other}}
    _refused(rescore(value), "several lists answer the same questions: one.details, two.details")
    assert rescore(value, "--rows", "two.details")[0] == 0
    record = json.loads(Path("run/records.jsonl").read_text().split("\n")[0])
    assert record["answer"].startswith("not ")


def test_the_same_answers_twice_and_what_was_retrieved_are_no_other_answers(rescore, rows):
    memories = [{"memory": f"memory {n}", "score": 0.5, "timestamp": "May"} for n in range(30)]
    for value in (
        {"details": rows, "failures": rows[:30], "judged": rows},
        [row | {"search_results": memories} for row in rows],
    ):
        code, out, _ = rescore(value, "--out", f"run {len(value)}")
        assert code == 0
        assert "Matched: 100 of 100 rows" in out


def test_other_scores_are_no_verdicts(rescore, rows):
    def scores(n: int, row: Row) -> Row:
        hit = str(row["expected"]).lower() in str(row["predicted"]).lower()
        names = ("exact_match", "contains_gold", "retrieval_hit", "rouge_hit")
        return dict.fromkeys(names, hit) | {"score": 1 + n % 5}

    value = [
        {key: row[key] for key in ("query", "expected", "predicted")} | scores(n, row)
        for n, row in enumerate(rows)
    ]
    code, out, _ = rescore(value)
    assert code == 0
    assert load_manifest(Path("run"))["matching"]["told"]["verdicts"] == 0
    assert "score" in out.split("Run folder")[0]


def test_a_bomb(rescore, monkeypatch):
    monkeypatch.setattr("memsys.core.files._SMALL", 1 << 20)
    bomb = gzip.compress(b"[" + b" " * 2_000_000 + b"]")
    _refused(rescore(bomb), "out.json.gz")
