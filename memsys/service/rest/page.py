"""Results of one answer, limited in size."""

from __future__ import annotations

from typing import Any

from memsys.core.errors import InputError
from memsys.service.rows import Rows

REPLY_MOST = 16_000_000  # characters of texts and metadata in one answer


def page(rows: Rows[Any], number: str) -> dict[str, Any]:
    """Return `rows` as JSON. Raises InputError naming `number` if they are too many to send."""
    found: dict[str, Any] = dict(rows)
    size = sum(len(row["memory"]) + len(str(row["metadata"])) for row in found["results"])
    if size > REPLY_MOST:
        raise InputError(f"{number}: the results have over {REPLY_MOST:,} characters; ask for less")
    return found
