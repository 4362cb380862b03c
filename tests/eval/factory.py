"""Valid records, manifests and run folders; tests change the fields that they are about."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.datasets.types import TYPES
from eval.metrics.registry import names
from eval.records.manifest import digest
from eval.records.rankings import RULE
from eval.records.run import Run
from eval.records.schema import MANIFEST_DEFAULTS, SCHEMA_VERSION

FILE = {"name": "some.json", "bytes": 9, "sha256": "5" * 64}


def record(id_: str = "ash/0", category: int = 4, **fields: Any) -> dict[str, Any]:
    """A valid record of an answered question; `scores` are added to null ones of every metric."""
    scores = dict.fromkeys(names()) | fields.pop("scores", {})
    return {
        **{"id": id_, "conversation": id_.partition("/")[0], "category": category},
        **{"type": TYPES[category], "question": f"What of {id_}?"},
        **{"gold": None if category == 5 else "gold", "key": None, "status": "ok", "error": None},
        **{"answer": "answer", "abstained": False, "retrieved": [], "k": 0},
        **{"context_tokens": 40, "answer_tokens": 4, "evidence": []},
        **{"evidence_found": {"direct": [], "expanded": []}},
        **{"scores": scores, "scores_original": None, "judge": None, "trace": {}},
        **{"usage": {"retrieve": {}, "answer": {}}},
        **{"latency_ms": {"retrieve": 2.0, "answer": 1.0, "total": 3.0}},
        **{"latency_source": "live", "waited_ms": {}, "recorded": None},
        **fields,
    }


def error(phase: str = "retrieve", kind: str = "ValueError", message: str = "no") -> dict[str, Any]:
    """The fields of a record whose question failed."""
    entry = {"phase": phase, "kind": kind, "message": message}
    unknown = dict.fromkeys(("answer", "abstained", "answer_tokens"))
    return {"status": "error", "error": entry, **unknown, "scores": dict.fromkeys(names())}


def manifest(strategy: str = "plain", **fields: Any) -> dict[str, Any]:
    """A valid manifest of a complete run."""
    described = {
        **json.loads(json.dumps(dict(MANIFEST_DEFAULTS))),
        **{"run_id": strategy, "schema_version": SCHEMA_VERSION, "status": "complete"},
        **{"command": f"python -m eval.run strategy={strategy}", "strategy": strategy},
        **{"dataset": "some", "choices": {"strategy": strategy}, "data": [FILE]},
        **{"config": {"strategy": {"name": strategy}, "k": 10}, "seed": 0},
        **{"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:01:00+00:00"},
        **{"models": {"embedder": "minilm", "reader": "extractive", "judge": None}},
        **fields,
    }
    return hashed(described)


def hashed(described: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with the hash of its configuration."""
    configured = {name: described[name] for name in ("config", "choices")}
    return {**described, "config_sha256": digest(configured)}


def ingest_line(conversation: str, session: str | None = "s1", **fields: Any) -> dict[str, Any]:
    """A valid line of ingest.jsonl; phase `index` where `session` is None."""
    return {
        **{"conversation": conversation, "phase": "ingest" if session else "index"},
        **{"session": session, "status": "ok", "error": None, "memories": 1},
        **{"usage": {"calls": 0, "input_tokens": 0, "output_tokens": 0}},
        **{"latency_ms": 1.0, "latency_source": "live", "waited_ms": 0.0},
        **fields,
    }


def write_run(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    strategy: str = "plain",
    ingests: Iterable[Mapping[str, Any]] = (),
    **fields: Any,
) -> Path:
    """Write a run folder; `fields` are of the manifest."""
    folder.mkdir(parents=True)
    described = manifest(strategy, **{"run_id": folder.name, **fields})
    (folder / "manifest.json").write_text(json.dumps(described), encoding="utf-8")
    for name, lines in (("records.jsonl", rows), ("ingest.jsonl", ingests)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        if text or name == "records.jsonl":
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_rankings(
    folder: Path,
    rankings: Mapping[str, Sequence[str]],
    *,
    depth: int | None = 100,
    selected: bool = False,
    size: int = 1000,
    unit: str = "turn",
) -> Path:
    """Add to a run folder the ids ranked for questions; each memory is one turn of 5 tokens, or one
    `session`, and each store has `size` turns in 30 sessions.
    """
    path = folder / "manifest.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    stores = {id_: id_.partition("/")[0] for id_ in rankings}
    described["retrieval"] = {"depth": depth, "unit": unit, "rule": RULE}
    sizes = {"turns": size, "sessions": 30}
    described["stores"] = dict.fromkeys(stores.values(), sizes)
    path.write_text(json.dumps(described), encoding="utf-8")
    lines = [
        {"id": id_, "store": stores[id_], "selected": selected}
        | {"ranking": [(turn, 1 / rank) for rank, turn in enumerate(turns, 1)]}
        for id_, turns in rankings.items()
    ]
    occurring = {(stores[id_], turn): None for id_, turns in rankings.items() for turn in turns}
    memories = [
        {"store": store, "id": turn, "turns": [turn], "tokens": 5} for store, turn in occurring
    ]
    for name, rows in (("rankings.jsonl", lines), ("memories.jsonl", memories)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def run_of(rows: Iterable[Mapping[str, Any]], label: str = "plain", **fields: Any) -> Run:
    """A run that is in no folder."""
    found: Any = {row["id"]: row for row in rows}
    described: Any = manifest(fields.pop("strategy", label), **fields)
    return Run(label, Path(label), described, found)
