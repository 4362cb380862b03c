"""A small data set with the traps of the real one, and files of answers to it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset


def _qa(question: str, answer: str | int | None, category: int, **more: Any) -> dict[str, Any]:
    gold = {} if answer is None else {"answer": answer}
    return {"question": question, "category": category, "evidence": ["D1:1"], **gold, **more}


def _sample(name: str, qa: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"dia_id": "D1:1", "speaker": "Ada", "text": "I planted a fig tree."}],
        },
        "qa": qa,
    }


SAMPLES = [
    _sample(
        "first",
        [
            _qa("What did Ada plant?", "a fig tree", 1),
            _qa("When did Ada plant it?", 2023, 2),
            _qa("What's Ada's “best” tree?", "fig", 3),
            _qa("What did Bo lose?", "a plum tree", 4),
            _qa("What did Bo win?", "a prize", 4),  # asked twice, once of type 5
            _qa("What did Bo win?", None, 5, adversarial_answer="a prize"),
        ],
    ),
    _sample(
        "second",
        [
            _qa("What did Cy bake?", "rye bread", 1),
            _qa("What is the dog called?", "Rex", 4),
            _qa("Who swims?", "Cy", 4),  # asked twice, and nothing tells which
            _qa("Who swims?", "Cy", 4),
            _qa("Which cake is left?", "plum", 4),  # asked twice, with two answers
            _qa("Which cake is left?", "cherry", 4),
        ],
    ),
]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = tmp_path_factory.mktemp("data") / "talks.json"
    path.write_text(json.dumps(SAMPLES), encoding="utf-8")
    return LoCoMo(name="talks", path=str(path)).load()


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """One right answer to every question, as JSON lines have it, with the index."""
    return [
        {
            "sample_id": sample["sample_id"],
            "qa_index": index,
            "question": qa["question"],
            "gold": qa.get("answer", ""),
            "category": qa["category"],
            "answer": str(qa.get("answer", "not mentioned")),
        }
        for sample in SAMPLES
        for index, qa in enumerate(sample["qa"])
    ]


@pytest.fixture
def by_words(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same without the index."""
    return [{k: v for k, v in row.items() if k != "qa_index"} for row in rows]


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSON lines; a name that ends in .gz is gzipped."""

    def write(rows: list[dict[str, Any]], name: str = "answers.jsonl") -> Path:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


@pytest.fixture
def mem0(tmp_path: Path) -> Callable[..., Path]:
    """Write rows in Mem0's layout; `keys`: sample id -> key."""

    def write(rows: list[dict[str, Any]], keys: dict[str, str], **more: Any) -> Path:
        value: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            item = {
                "question": row["question"],
                "answer": row["gold"],
                "response": row["answer"],
                "category": str(row["category"]),
                **more,
            }
            value.setdefault(keys[row["sample_id"]], []).append(item)
        path = tmp_path / "mem0.json"
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")
        return path

    return write
