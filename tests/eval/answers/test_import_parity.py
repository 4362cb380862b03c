"""A published system's answers, imported, score as the peers' own code scored them."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.records.manifest import load_manifest
from eval.rescore.imports import read_import, write_import

LOCOMO = shared_folder() / "locomo"
ANSWERS = LOCOMO / "answers" / "zep_mirix.jsonl.gz"
REFERENCE = LOCOMO / "reference" / "zep_mirix.jsonl.gz"
MEM0_NAMES = {1: "3", 2: "2", 3: "4", 4: "1"}  # the category names of Mem0's tables

pytestmark = pytest.mark.skipif(
    not ANSWERS.is_file(),
    reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/",
)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_published_answers_by_index(tmp_path: Path) -> None:
    found = read_import(ANSWERS, None, "zep", LoCoMo(name="locomo").load())
    summary = write_import(found, tmp_path / "run", {})
    told = load_manifest(tmp_path / "run")["matching"]
    assert (told["rows"], told["matched"], told["unmatched"]) == (1540, 1540, 0)
    assert told["categories_relabelled"] == told["ambiguous"] == told["gold_differs"] == 0
    assert told["unanswered_by_type"] == {"adversarial": {"unanswered": 446, "of": 446}}
    _check_means(summary)


def test_the_same_answers_in_the_layout_of_mem0(tmp_path: Path) -> None:
    dataset = LoCoMo(name="locomo").load()
    ids = [conversation.id for conversation in dataset.conversations]
    value: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(ANSWERS):
        position = (ids.index(row["sample_id"]) + 3) % len(ids)
        item = {
            "question": row["question"],
            "answer": row["gold"],
            "response": row["answer"],
            "category": MEM0_NAMES[row["category"]],
            "llm_score": int(row["judge"]),
        }
        value.setdefault(str(position), []).append(item)
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
    _check_means(summary)


def _check_means(summary: dict[str, Any]) -> None:
    overall = summary["by_type"]["overall"]
    assert overall["n"] == 1540
    verdicts = [float(row["judge"]) for row in _rows(ANSWERS)]
    assert overall["judge"] == pytest.approx(fmean(verdicts), abs=1e-12)
    official = [row["locomo_f1"] for row in _rows(REFERENCE)]
    assert overall["f1"] == pytest.approx(fmean(official), abs=1e-9, rel=0)
