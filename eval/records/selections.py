"""Large selections, such as a whole conversation: stored once with their context, and left out of
the records and rankings that repeat them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from eval.records.jsonl import CONTEXTS, Row, read_lines
from eval.records.schema import CONTEXT_LINE, Record, Retrieved
from memsys.core.errors import InputError
from memsys.core.types import Retrieval

DIGITS = 6  # of the scores of memories


class Selection(NamedTuple):
    """The fields `retrieved` and `titles` of a record."""

    retrieved: list[Retrieved]
    titles: list[str]

    @classmethod
    def stored(cls, row: Row) -> Selection | None:
        """Return the selection in a line of contexts.jsonl, if it has one."""
        if "retrieved" not in row:
            return None
        return cls([cast(Retrieved, tuple(one)) for one in row["retrieved"]], row["titles"])


def selection_of(retrieval: Retrieval) -> Selection:
    """Return what a record says about the memories of `retrieval`."""
    rows: list[Retrieved] = [
        (one.memory.id, list(one.memory.turns), round(one.score, DIGITS), one.origin)
        for one in retrieval.candidates
    ]
    return Selection(rows, [one.memory.title for one in retrieval.candidates])


@dataclass(frozen=True)
class Selections:
    """The selections in contexts.jsonl of the run in `folder`, read at the first use."""

    folder: Path = field(repr=False)

    @cached_property
    def by_context(self) -> dict[str, Selection]:
        """Selections by the sha256 of their context. Raises InputError on a damaged line."""
        rows = read_lines(self.folder / CONTEXTS, torn=True, schema=CONTEXT_LINE)
        found = ((row["sha256"], Selection.stored(row)) for row in rows)
        return {digest: selection for digest, selection in found if selection is not None}

    def of(self, row: Mapping[str, Any]) -> Selection:
        """Return the selection that a record or ranking leaves out; raises InputError if
        contexts.jsonl lacks it.
        """
        found = self.by_context.get(row["context_sha256"])
        if found is None:
            raise InputError(
                f"{self.folder / CONTEXTS}: lacks the memories that were retrieved for "
                f"{row['id']:.60}; restore the file from a copy, or run it again from the start"
            )
        return found

    def filled(self, row: Row) -> Row:
        """Return the record `row` with the fields that it leaves out, if it does."""
        return row if "retrieved" in row else {**row, **self.of(row)._asdict()}

    def reduced(self, row: Record) -> Row:
        """Return the record `row` without the fields that contexts.jsonl has, if it does."""
        found = self.by_context.get(row.get("context_sha256") or "")
        if found is None or found != (row["retrieved"], row.get("titles")):
            return cast(Row, row)
        return {name: value for name, value in row.items() if name not in Selection._fields}
