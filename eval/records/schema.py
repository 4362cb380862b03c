"""What a run folder holds: the types of its files, with their checks and their JSON Schema.

`python -m eval schema` prints the fields and what they mean, with `--json` as JSON Schema.
RECORD_DEFAULTS and MANIFEST_DEFAULTS are filled in on reading.
"""

from collections.abc import Mapping
from sys import intern
from typing import Annotated, Any, cast

from pydantic import AfterValidator, ConfigDict, TypeAdapter

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.records import record_types, run_types
from eval.records.record_types import ErrorEntry, Record, Retrieved, UsageEntry
from eval.records.run_types import (
    Cell,
    ContextLine,
    FileEntry,
    IngestLine,
    Manifest,
    MemoryLine,
    RankingLine,
    Summary,
)

__all__ = ["Cell", "ErrorEntry", "FileEntry", "IngestLine", "Manifest", "MemoryLine"]
__all__ += ["RankingLine", "Record", "Retrieved", "Summary", "UsageEntry"]
SCHEMA_VERSION = 1
# Fields that earlier versions did not write, and the values that they stand for.
RECORD_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(("key", "scores_original", "judge", "usage", "recorded", "latency_source")),
    **dict.fromkeys(("judge_error", "context_sha256")),
    "waited_ms": {},
}
MANIFEST_DEFAULTS: Mapping[str, Any] = {
    "key": {"name": "original", "overlay": None, "texts": None, "wrong": []},
    "scoring": ["locomo"],
    **{name: {} for name in ("prompts", "models", "packages", "machine")},
    **{name: [] for name in ("repairs", "resumed", "warnings")},
    **dict.fromkeys(("subset", "git", "llm", "judge", "pricing", "ended", "sweep", "retrieval")),
    "stores": {},
}


def with_defaults(row: Mapping[str, Any]) -> Record:
    """Return the record `row` with the fields that an earlier version did not write. All records
    share the names of fields, of which each parsed line has its own: 2 KB.
    """
    return cast(Record, {intern(name): one for name, one in {**RECORD_DEFAULTS, **row}.items()})


def store_of(record: Record) -> str:
    """Return the id of the conversation that was ingested for the question, or `pooled`."""
    return record.get("store", record["conversation"])


def _check_record(record: Record) -> Record:
    """Raise ValueError with the field that contradicts another, and that a mean would leave out."""
    ok = record["status"] == "ok"
    if "retrieved" not in record and record.get("context_sha256") is None:
        raise ValueError("retrieved: absent, without a context that has it")
    if ok is (record["error"] is not None):
        raise ValueError(
            f"error: {'present' if ok else 'null'}, although status is {'ok' if ok else 'error'}"
        )
    if ok and record["answer"] is None and record["abstained"] is not None:
        raise ValueError("answer: null, although abstained says whether it is a refusal")
    key, category = record.get("key"), record["category"]
    if key is not None and key["kind"] == "excluded":
        return record
    if record["gold"] is None and category != ADVERSARIAL and record["type"] == TYPES.get(category):
        raise ValueError(f"gold: null, although questions of type {category} have an answer")
    if ok and not record["scores"]:
        raise ValueError("scores: empty, although the question did not fail")
    return record


def _check_ranking(line: RankingLine) -> RankingLine:
    """Raise ValueError unless the line has a ranking or the hash of a context."""
    if ("ranking" in line) is ("context_sha256" in line):
        raise ValueError("ranking: use either it or context_sha256")
    return line


RECORD = TypeAdapter(Annotated[Record, AfterValidator(_check_record)])
INGEST_LINE = TypeAdapter(IngestLine)
RANKING_LINE = TypeAdapter(Annotated[RankingLine, AfterValidator(_check_ranking)])
MANIFEST, SUMMARY = TypeAdapter(Manifest), TypeAdapter(Summary)
CONTEXT_LINE, MEMORY_LINE = TypeAdapter(ContextLine), TypeAdapter(MemoryLine)


def json_schema() -> dict[str, Any]:
    """JSON Schema of each type by the name of its file, with the field docstrings."""
    files: dict[str, Any] = {
        "records.jsonl": Record,
        "rankings.jsonl": RankingLine,
        "memories.jsonl": MemoryLine,
        "ingest.jsonl": IngestLine,
        "contexts.jsonl": ContextLine,
        "manifest.json": Manifest,
        "summary.json": Summary,
    }
    described = ConfigDict(use_attribute_docstrings=True)
    for one in (*vars(record_types).values(), *vars(run_types).values()):
        if isinstance(settings := getattr(one, "__pydantic_config__", None), dict):
            one.__pydantic_config__ = {**settings, **described}
    return {name: TypeAdapter(of).json_schema() for name, of in files.items()}
