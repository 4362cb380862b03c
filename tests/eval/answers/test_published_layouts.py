"""Published layouts are read with every row matched, and scored as the normalised file is."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest

from eval.answers.files import AnswerRow
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.imports.rescore.imports import Import, read_import, record, write_import
from eval.records.manifest import load_manifest
from memsys.core.errors import InputError
from tests.eval.answers.published_fixtures import (
    CONTAINERS,
    EVERY,
    IDS,
    MEM0_NAMES,
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
