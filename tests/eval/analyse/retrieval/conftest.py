"""Rankings to measure: run folders whose evidence is at chosen ranks, so that every measure is
known, and a data set of two conversations, in which rankings of others are scored.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.reload import config_of, load_dataset_of
from eval.datasets.types import TYPES, Dataset
from tests.eval import factory
from tests.eval.commands import conversation

SESSIONS, TURNS = 3, 4  # in each conversation, and in each session
QUESTIONS = {
    "ash": [
        ("Who came?", 4, ["D1:1"]),
        ("Who left?", 1, ["D1:2", "D3:4"]),
        ("When?", 2, ["D2:1"]),
        ("Who came, then?", 5, ["D1:1"]),
    ],
    "fir": [
        ("Who came?", 4, ["D2:2"]),
        ("Who sang?", 4, ["D3:1"]),
        ("Who sang?", 4, ["D3:2"]),  # the same words in one conversation
    ],
}


def _sample(name: str) -> dict[str, Any]:
    said = [
        [f"{name} {number} {turn}" for turn in range(1, TURNS + 1)]
        for number in range(1, SESSIONS + 1)
    ]
    asked = [
        {"question": text, "category": category, "evidence": evidence}
        | ({"adversarial_answer": "Bo"} if category == 5 else {"answer": "Ada"})
        for text, category, evidence in QUESTIONS[name]
    ]
    return {"sample_id": name, "conversation": conversation(said, "Ada"), "qa": asked}


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    """The file of the data set."""
    path = tmp_path / "trees.json"
    path.write_text(json.dumps([_sample(name) for name in QUESTIONS]), encoding="utf-8")
    return path


@pytest.fixture
def dataset(trees: Path) -> Dataset:
    return load_dataset_of(config_of(str(trees), "original", None))


@pytest.fixture
def all_turns() -> list[str]:
    """The turns of each conversation, in order."""
    return [f"D{one}:{turn}" for one in range(1, SESSIONS + 1) for turn in range(1, TURNS + 1)]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a value as JSON, or a text, and return the path."""

    def call(content: Any, name: str = "mine.json") -> Path:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return call


CONVERSATIONS = tuple("abcdef")
EVIDENCE = ["D9:1", "D8:1"]


def records(each: int = 2, **fields: Any) -> list[dict[str, Any]]:
    """`each` questions of every type in every conversation, all with the same two evidence turns
    and without an answer.
    """
    given = {"evidence": EVIDENCE, "answer": None, "abstained": None, **fields}
    return [
        factory.record(f"{conversation}/{10 * category + i}", category, **given)
        for conversation in CONVERSATIONS
        for category in TYPES
        for i in range(each)
    ]


def ranking(*places: int, length: int = 100) -> list[str]:
    """`length` turn ids of sessions D1 to D4, with the evidence at `places`, counted from 1."""
    turns = [f"D{1 + i % 4}:{1 + i // 4}" for i in range(length)]
    for place, turn in sorted(zip(places, EVIDENCE, strict=False)):
        turns.insert(place - 1, turn)
    return turns[:length]


def ranked(
    folder: Path,
    places: tuple[int, ...] = (1, 12),
    strategy: str = "plain",
    *,
    by_conversation: Mapping[str, tuple[int, ...]] | None = None,
    rows: list[dict[str, Any]] | None = None,
    length: int = 100,
    depth: int | None = 100,
    selected: bool = False,
    unit: str = "turn",
    **fields: Any,
) -> str:
    """Write a run whose evidence is at `places`, or at those of its conversation; return its path.

    `fields` are of the manifest.
    """
    rows = records() if rows is None else rows
    factory.write_run(folder, rows, strategy, **fields)
    placed = by_conversation or {}
    found = {
        row["id"]: ranking(*placed.get(row["conversation"], places), length=length) for row in rows
    }
    factory.write_rankings(folder, found, depth=depth, selected=selected, unit=unit)
    return str(folder)
