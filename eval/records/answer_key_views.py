"""Records and manifests under the chosen answer key and under the data set's own."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.records.schema import Manifest, Record

ORIGINAL = "original"


def key_name(manifest: Manifest) -> str:
    """Name of a run's answer key: original, corrected or excluded."""
    return manifest["key"]["name"]


def evidence_name(manifest: Manifest) -> str:
    """Name of a run's evidence key: original, corrected or excluded."""
    used = manifest.get("evidence")
    return ORIGINAL if used is None else used["name"]


def left_out(record: Record) -> bool:
    """Return whether the chosen key excludes the question from all means."""
    key = record["key"]
    return key is not None and key["kind"] == "excluded"


def under_original(record: Record) -> Record:
    """Return the record as scored under the data set's own answer key."""
    key = record["key"]
    if key is None:
        return record
    scores = record["scores_original"] or {}
    return record | {"gold": key["original_gold"], "key": None, "scores": scores}


def ceiling(by_type: Mapping[str, Sequence[Record]], manifest: Manifest) -> dict[str, Any] | None:
    """Compute the best possible score under the original key, for types 1 to 4 and `overall`: n,
    the number of `wrong` gold answers, and the share of right ones as `ceiling`.

    None where the errors of the key are not known; a type without questions has no cell.
    """
    key = manifest["key"]
    if not key["overlay"]:
        return None
    wrong = set(key["wrong"])
    cells = {}
    for name, rows in by_type.items():
        if rows and name != TYPES[ADVERSARIAL]:
            bad = sum(row["id"] in wrong for row in rows)
            cells[name] = {"n": len(rows), "wrong": bad, "ceiling": 1 - bad / len(rows)}
    return cells
