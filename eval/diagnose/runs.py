"""A finished run as its losses are counted from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval.records.finished import find_folder, load_checked, load_records
from eval.records.jsonl import RECORDS, Record
from memsys.errors import InputError

_NEEDED = {
    *("id", "conversation", "category", "type", "question", "status", "abstained"),
    *("retrieved", "evidence", "evidence_found", "scores", "trace"),
}


@dataclass(frozen=True, slots=True)
class Run:
    """A run: `name` as the user gave it, records by question id in the run's order."""

    name: str
    manifest: Mapping[str, Any]
    records: Mapping[str, Record]

    @property
    def strategy(self) -> str:
        """What answered."""
        return str(self.manifest["strategy"])

    @property
    def seed(self) -> int:
        """Of the bootstrap."""
        return int(self.manifest["seed"])

    @property
    def left_out(self) -> list[Record]:
        """The records of questions for which the chosen answer key has no gold."""
        return [one for one in self.records.values() if _kind(one) == "excluded"]

    @property
    def counted(self) -> list[Record]:
        """The records that did not fail and that the answer key does not leave out."""
        return [
            one
            for one in self.records.values()
            if one["status"] == "ok" and _kind(one) != "excluded"
        ]

    @property
    def retrieval_known(self) -> bool:
        """False for imported answers, which do not tell what was retrieved."""
        return all(record["retrieved"] is not None for record in self.counted)

    @property
    def written(self) -> bool:
        """Whether a model wrote the memories, so that one may rest on a turn and not tell it."""
        return "facts" in (self.manifest.get("prompts") or {})

    def traces(self, part: str) -> bool:
        """Whether the counted questions' traces hold `part` (`expansion` or `gate`).

        Raises InputError if only some do.
        """
        counted = self.counted
        without = [record["id"] for record in counted if part not in record["trace"]]
        if without and len(without) < len(counted):
            raise InputError(
                f"{self.name}: {RECORDS}: {len(without)} of {len(counted)} records hold no "
                f"trace.{part} (the first: {without[0]}); run it again whole"
            )
        return not without


def load_run(name: str) -> Run:
    """The finished run of a folder or of an id under results/runs.

    Raises InputError if there is none, or it is of another version, unfinished or without an
    answer that counts.
    """
    folder = find_folder(name)
    manifest = load_checked(folder)
    if manifest["status"] != "complete":
        raise InputError(f"{folder}: the run is {manifest['status']}; resume it to its end first")
    run = Run(name, manifest, load_records(folder, _NEEDED))
    if not run.counted:
        raise InputError(
            f"{folder}: every question failed or is left out by the answer key; name a run that "
            "answered questions"
        )
    return run


def _kind(record: Record) -> str | None:
    """What the answer key does to the question: `corrected`, `excluded` or nothing."""
    key = record.get("key")
    return None if key is None else str(key["kind"])
