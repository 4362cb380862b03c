"""Published layouts are read with every row matched, and scored as the normalised file is;
other files are refused in one line, or give an account of what was read.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from eval.answers.files import AnswerRow
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.imports.rescore.__main__ import main
from eval.imports.rescore.imports import Import, read_import, record, write_import
from eval.records.manifest import load_manifest
from memsys.core.errors import InputError
from tests.eval.answers.published_fixtures import (
    BARE,
    CONTAINERS,
    EVERY,
    IDS,
    MEM0_NAMES,
    PLAIN,
    UNLISTED,
    Container,
    Row,
    Style,
    file_of,
    in_order,
    official,
    read_rows,
)

ANSWERS = shared_folder() / "locomo" / "answers"

pytestmark = pytest.mark.skipif(
    not ANSWERS.is_dir(),
    reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/",
)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return LoCoMo(name="locomo").load()


@pytest.fixture(scope="module")
def few() -> list[Row]:
    """Fifty rows, of all conversations and types 1 to 4, with verdicts."""
    return read_rows(ANSWERS / "mirix_run1.jsonl.gz", EVERY)


@pytest.fixture(scope="module")
def all_types(few: list[Row]) -> list[Row]:
    """The same with fourteen rows of type 5."""
    others = read_rows(ANSWERS / "automem_e2e.jsonl.gz", EVERY)
    return in_order([*few, *(row for row in others if row["category"] == 5)])


def _id(case: Container) -> str:
    return case.name


@pytest.mark.parametrize("case", CONTAINERS, ids=_id)
def test_containers_of_all_types(case, all_types, dataset, tmp_path):
    _check(case, all_types, dataset, tmp_path)


@pytest.mark.parametrize("case", UNLISTED, ids=_id)
def test_names_and_layouts(case, few, dataset, tmp_path):
    _check(case, few, dataset, tmp_path)


def test_two_models_beside_each_other_are_not_guessed(few, dataset, tmp_path):
    def both(rows: Sequence[Row], style: Style) -> list[Row]:
        found: list[Row] = official(rows, style)
        for one, two in zip(found, official(rows, style, "other"), strict=True):
            one["qa"] = [a | b for a, b in zip(one["qa"], two["qa"], strict=True)]
        return found

    path = file_of(both)(tmp_path, few, Style({}))
    with pytest.raises(InputError, match="several columns may be the answer: gpt-4o_prediction"):
        read_import(path, None, "both", dataset)


def test_conversations_and_categories_of_mem0_under_other_names(dataset, tmp_path):
    value: dict[str, list[Row]] = {}
    rows = read_rows(ANSWERS / "zep_mirix.jsonl.gz")
    for row in rows:
        item = {"question": row["question"], "answer": row["gold"], "response": row["answer"]}
        item |= {"category": MEM0_NAMES[row["category"]], "llm_score": int(row["judge"])}
        moved = (IDS.index(row["sample_id"]) + 3) % len(IDS)
        value.setdefault(str(moved), []).append(item)
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    summary = write_import(read_import(path, None, "zep", dataset), tmp_path / "run", {})
    told = load_manifest(tmp_path / "run")["matching"]
    assert (told["matched"], told["unmatched"]) == (1540, 0)
    assert len(told["conversations_moved"]) == 10
    assert told["categories_sentence"].startswith("The file's categories are a permutation")
    # 11 questions are asked twice with one gold answer; one more is asked again as type 5, which
    # categories under other names do not tell.
    assert told["ambiguous"] == 23
    overall = summary["by_type"]["overall"]
    assert overall["n"] == 1540
    assert overall["judge"] == pytest.approx(fmean(float(row["judge"]) for row in rows), abs=1e-12)
    reference = ANSWERS.parent / "reference" / "zep_mirix.jsonl.gz"
    with gzip.open(reference, "rt", encoding="utf-8") as lines:
        scores = [json.loads(line)["locomo_f1"] for line in lines]
    assert overall["f1"] == pytest.approx(fmean(scores), abs=1e-9, rel=0)


def _check(case: Container, rows: list[Row], dataset: Dataset, folder: Path) -> None:
    """Compare what is read from `rows` in the layout of `case` with them."""
    found = read_import(case.write(folder, rows, case.style), None, "out", dataset)
    assert found.matching.unmatched == []
    assert len(found.matching.answers) == len(rows)
    questions = {question.id: question for question in dataset.questions}
    wanted = {f"{row['sample_id']}/{row['qa_index']}": row for row in rows}
    twins = _twins(found, dataset)
    for id_, row in wanted.items():
        if id_ in twins:  # the data set asks twice, and nothing in the file says which is meant
            continue
        read = found.matching.answers[id_]
        assert read.answer == row["answer"]
        _check_kept(read, row, case.style.kept)
        expected = AnswerRow("", None, None, None, row["answer"])
        got = record(questions[id_], read)["scores"] | {"judge": None}
        assert got == record(questions[id_], expected)["scores"]


def _twins(found: Import, dataset: Dataset) -> set[str]:
    """Return the ids of questions that the file cannot tell from another one."""
    if not found.matching.ambiguous:
        return set()
    by_words: dict[str, list[str]] = {}
    for question in dataset.questions:
        by_words.setdefault(question.text.strip().lower(), []).append(question.id)
    return {id_ for ids in by_words.values() if len(ids) > 1 for id_ in ids}


def _check_kept(read: AnswerRow, row: Row, kept: frozenset[str]) -> None:
    """Compare the verdict, tokens and times; those that the file lacks must be None."""
    if not kept & {"judge", "runs"}:
        assert read.judge is None
    if "judge" in kept:
        assert read.judge == float(row["judge"])
    if "runs" in kept:
        assert read.judge == pytest.approx(fmean(row["runs"]))
        assert list(read.verdicts.values()) == [tuple(row["runs"])]
    assert read.context_tokens == (row["tokens"] if "tokens" in kept else None)
    for name, value in (
        ("search", read.search_seconds),
        ("answering", read.answer_seconds),
        ("total", read.total_seconds),
    ):
        assert value == (pytest.approx(row[name], abs=1e-6) if name in kept else None)


Patch = pytest.MonkeyPatch


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
