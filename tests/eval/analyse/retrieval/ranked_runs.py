"""Run folders whose evidence is at chosen ranks, so that every measure is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.datasets.types import TYPES
from tests.eval import factory

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
