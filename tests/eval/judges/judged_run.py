"""A run folder with chosen verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval.records.schema import SCHEMA_VERSION

RECORD: dict[str, Any] = {
    **{"conversation": "s", "category": 4, "type": "single_hop", "question": "Q?", "gold": "red"},
    **{"status": "ok", "error": None, "answer": "red", "abstained": False, "retrieved": None},
    **{"k": None, "context_tokens": None, "answer_tokens": 1, "evidence": [], "trace": {}},
    **{"evidence_found": None, "scores": {"judge": None}, "latency_ms": {}},
}
MANIFEST: dict[str, Any] = {
    **{"run_id": "judged", "schema_version": SCHEMA_VERSION, "status": "complete", "seed": 0},
    **{"command": "", "strategy": "bm25", "dataset": "some", "choices": {}, "config": {}},
    **{"config_sha256": "0", "data": [], "started": "2026-01-01T00:00:00+00:00"},
}


def write_judged_run(folder: Path, changes: Iterable[dict[str, Any]], **manifest: Any) -> Path:
    """A record for each of `changes`, RECORD with these fields replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": f"s/{i}"} | RECORD | change for i, change in enumerate(changes)]
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "manifest.json").write_text(json.dumps(MANIFEST | manifest))
    return folder
