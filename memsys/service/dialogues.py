"""The last messages of each owner and their summary, from which a model writes memories."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from memsys.service.database import MemoryDatabase, as_json
from memsys.service.owners import Owner


class Dialogues:
    """A table of the database. Callers hold its lock, and a transaction for changes."""

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    def of(self, owner: Owner) -> tuple[list[Any], str]:
        """Return the stored last messages of `owner` and their summary."""
        query = "SELECT said, summary FROM dialogues WHERE owner=?"
        row = self._database.execute(query, (as_json(owner.named),)).fetchone()
        return (json.loads(row[0]), row[1]) if row else ([], "")

    def put(self, owner: Owner, messages: Sequence[Any], summary: str) -> None:
        """Store the last messages of `owner` and their summary."""
        row = (as_json(owner.named), as_json(messages), summary)
        self._database.execute("INSERT OR REPLACE INTO dialogues VALUES (?, ?, ?)", row)

    def set_summary(self, owner: Owner, summary: str, turn: str) -> bool:
        """Replace the summary of `owner` if the message `turn` is stored still, or none is; return
        whether it was replaced.
        """
        query = "UPDATE dialogues SET summary=? WHERE owner=? AND (said='[]' OR instr(said, ?) > 0)"
        row = (summary, as_json(owner.named), turn)
        return self._database.execute(query, row).rowcount > 0

    def drop(self, owner: Owner | None) -> None:
        """Delete the messages and summaries of `owner` (None: of all)."""
        self._drop(lambda one: owner is None or owner.named.items() <= one.named.items())

    def drop_shared(self, owner: Owner) -> None:
        """Delete those from which a model writes memories of `owner`: see Owner.shares."""
        self._drop(owner.shares)

    def _drop(self, is_meant: Callable[[Owner], bool]) -> None:
        database = self._database
        for (key,) in database.execute("SELECT owner FROM dialogues").fetchall():
            if is_meant(Owner(**json.loads(key))):
                database.execute("DELETE FROM dialogues WHERE owner=?", (key,))
