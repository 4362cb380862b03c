"""The same records under the chosen answer key and under the data set's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.records.jsonl import Record

ORIGINAL = "original"


def key_name(manifest: Mapping[str, Any]) -> str:
    """The answer key of a run: original, corrected or excluded."""
    return str((manifest.get("key") or {}).get("name", ORIGINAL))


def left_out(record: Record) -> bool:
    """True if the chosen key has no gold for the question, which is then in no mean."""
    return (record.get("key") or {}).get("kind") == "excluded"


def under_original(record: Record) -> Record:
    """The record as the data set's own key has it."""
    key = record.get("key")
    if key is None:
        return record
    return record | {"gold": key["original_gold"], "key": None, "scores": record["scores_original"]}


def ceiling(
    by_type: Mapping[str, Sequence[Record]], manifest: Mapping[str, Any]
) -> dict[str, Any] | None:
    """For types 1 to 4 and `overall`: n, how many have a wrong answer in the original key, and the
    share that is right: what a perfect reader reaches under that key.

    None where no list of errors belongs to the data; a type without questions is left out.
    """
    key = manifest.get("key") or {}
    if not key.get("overlay"):
        return None
    wrong = set(key["wrong"])
    cells = {}
    for name, rows in by_type.items():
        if rows and name != TYPES[ADVERSARIAL]:
            bad = sum(row["id"] in wrong for row in rows)
            cells[name] = {"n": len(rows), "wrong": bad, "ceiling": 1 - bad / len(rows)}
    return cells
