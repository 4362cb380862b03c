"""Files that are no answers to the data set, or to a part of it: one line, or an honest account."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from eval.records.manifest import load_manifest
from eval.rescore.__main__ import main
from tests.eval.answers.published_fixtures import BARE, MEM0_NAMES, PLAIN, Row, read_rows

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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Rescore a value as a JSON file; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(value: Any, *options: str) -> tuple[int, str, str]:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        name = "out.json.gz" if data.startswith(b"\x1f\x8b") else "out.json"
        Path(name).write_bytes(data)
        code = main([name, "--out", "run", *options])
        read = capsys.readouterr()
        return code, read.out, read.err

    return call


Rescore = Callable[..., tuple[int, str, str]]


def _strange(count: int) -> list[Row]:
    """Rows of another benchmark, under the same columns."""
    return [
        {"query": f"Which port did ship {n} leave?", "expected": "Oslo", "predicted": "Bergen"}
        for n in range(count)
    ]


def _refused(found: tuple[int, str, str], says: str) -> None:
    code, _, err = found
    assert code == 2
    [line] = [one for one in err.splitlines() if one.startswith("error: ")]
    assert says in line
    assert "Traceback" not in err
    assert not Path("run").exists()


def test_another_benchmark(rescore: Rescore) -> None:
    _refused(rescore(_strange(50)), "none of the 50 rows matches a question of locomo")


def test_another_benchmark_by_conversation(rescore: Rescore) -> None:
    value = {str(n): _strange(9) for n in range(10)}
    _refused(rescore(value), "rows matches a question of locomo")


def test_another_data_set(rescore: Rescore, rows: list[Row]) -> None:
    _refused(rescore(rows, "--dataset", "sample"), "correct --dataset")


@pytest.mark.parametrize("share", [20, 49, 94])
def test_few_matching_rows(share: int, rescore: Rescore, rows: list[Row]) -> None:
    value = rows[:share] + _strange(100 - share)
    found = rescore(value)
    _refused(found, f"only {share} of 100 rows give an answer to a question of locomo")
    assert "no such question in the data set: " in found[2]
    assert "predicted" in found[1]  # the table of columns


def test_a_fifth_of_the_rows_is_scored_on_demand_only(rescore: Rescore, rows: list[Row]) -> None:
    value = rows[:20] + _strange(80)
    _refused(rescore(value, "--columns", "answer=predicted"), "only 20 of 100 rows")
    code, out, _ = rescore(value, "--partial")
    assert code == 0
    assert "Not scored: 80 of 100 rows (no such question in the data set: 80)" in out
    assert any("Not scored: 80 of 100" in line for line in load_manifest(Path("run"))["warnings"])


def test_doubled_rows(rescore: Rescore, rows: list[Row]) -> None:
    _refused(rescore(rows + rows), "its question is answered by an earlier row: ")


def test_each_conversation_thrice(rescore: Rescore, rows: list[Row]) -> None:
    runs = [row | {"run": n} for n in range(3) for row in rows]
    _refused(rescore({"runs": runs}), "its question is answered by an earlier row: ")


def test_far_too_many_rows(
    rescore: Rescore, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.answers.files._MOST", 99)
    _refused(rescore(rows, "--partial"), "100 rows are more than any data set has questions")


def test_golds_in_place_of_answers(rescore: Rescore, rows: list[Row]) -> None:
    golds = [{"question": row["query"], "answer": str(row["expected"])} for row in rows]
    code, _, _ = rescore(golds)
    assert code == 0
    assert any("word for word" in line for line in load_manifest(Path("run"))["warnings"])


def test_golds_under_a_name_of_golds(rescore: Rescore, rows: list[Row]) -> None:
    golds = [{"question": row["query"], "golden_answer": row["expected"]} for row in rows]
    _refused(rescore(golds), "no column for the answer")


def test_half_of_the_questions(rescore: Rescore, rows: list[Row]) -> None:
    code, out, _ = rescore(rows[::2])
    assert code == 0
    assert "Without a row, and in no mean: 1,936 of 1,986 questions" in out
    assert any("cover only" in line for line in load_manifest(Path("run"))["warnings"])


def test_categories_of_two_numberings(rescore: Rescore) -> None:
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


def test_two_systems_in_one_file(rescore: Rescore, rows: list[Row]) -> None:
    other = [row | {"predicted": f"not {row['predicted']}"} for row in rows]
    value = {"one": {"details": rows}, "two": {"details": other}}
    _refused(rescore(value), "several lists answer the same questions: one.details, two.details")
    assert rescore(value, "--rows", "two.details")[0] == 0
    record = json.loads(Path("run/records.jsonl").read_text().split("\n")[0])
    assert record["answer"].startswith("not ")


def test_the_same_answers_twice_in_one_file(rescore: Rescore, rows: list[Row]) -> None:
    code, out, _ = rescore({"details": rows, "failures": rows[:30], "judged": rows})
    assert code == 0
    assert "Matched: 100 of 100 rows" in out


def test_what_was_retrieved_is_no_list_of_answers(rescore: Rescore, rows: list[Row]) -> None:
    memories = [{"memory": f"memory {n}", "score": 0.5, "timestamp": "May"} for n in range(30)]
    code, out, _ = rescore([row | {"search_results": memories} for row in rows])
    assert code == 0
    assert "Matched: 100 of 100 rows" in out


@pytest.mark.parametrize("name", ["exact_match", "contains_gold", "retrieval_hit", "rouge_hit"])
def test_other_scores_are_no_verdicts(name: str, rescore: Rescore, rows: list[Row]) -> None:
    value = [
        {key: row[key] for key in ("query", "expected", "predicted")}
        | {name: str(row["expected"]).lower() in str(row["predicted"]).lower()}
        for row in rows
    ]
    code, _, _ = rescore(value)
    assert code == 0
    assert load_manifest(Path("run"))["matching"]["told"]["verdicts"] == 0


def test_a_score_that_is_no_verdict_is_passed_over(rescore: Rescore, rows: list[Row]) -> None:
    others = [{k: v for k, v in row.items() if k != "result"} for row in rows]
    code, out, _ = rescore([row | {"score": 1 + n % 5} for n, row in enumerate(others)])
    assert code == 0
    assert load_manifest(Path("run"))["matching"]["told"]["verdicts"] == 0
    assert "score" in out.split("Run folder")[0]


def test_a_bomb(rescore: Rescore) -> None:
    bomb = gzip.compress(b"[" + b" " * 40_000_000 + b"]")
    _refused(rescore(bomb), "out.json.gz")
