"""`python -m eval schema [FILE]`: the fields of the files of a run folder, and what they mean.

Here the types of record_types and run_types become validators, with checks across fields.
RECORD_DEFAULTS and MANIFEST_DEFAULTS are filled in on reading.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
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
from memsys.core.errors import InputError, as_started, check_choice, complain

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
    return cast(Record, {intern(name): value for name, value in {**RECORD_DEFAULTS, **row}.items()})


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


_INTRODUCTION = """# Fields of a run folder

Which fields does each file of a run folder have? [Records](records.md) says what the files are for.
"""
_FILES: Mapping[str, Any] = {
    "records.jsonl": Record,
    "rankings.jsonl": RankingLine,
    "memories.jsonl": MemoryLine,
    "ingest.jsonl": IngestLine,
    "contexts.jsonl": ContextLine,
    "manifest.json": Manifest,
    "summary.json": Summary,
}


def json_schema(names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each file of a run folder by its name, with the docstrings of its
    fields; with `names` of these files alone.

    Raises InputError where a run folder has no such file, or one without fields.
    """
    for name in names:
        check_choice("file", name, [*_FILES])
    described = ConfigDict(use_attribute_docstrings=True)
    for model in (*vars(record_types).values(), *vars(run_types).values()):
        if isinstance(settings := getattr(model, "__pydantic_config__", None), dict):
            model.__pydantic_config__ = {**settings, **described}
    return {name: TypeAdapter(_FILES[name]).json_schema() for name in names or _FILES}


def table(name: str) -> str:
    """Return the fields of the file `name`, and what they mean, as a table in markdown; InputError
    as of json_schema.
    """
    rows = [("field", "meaning"), ("---", "---")]
    for field, schema in json_schema([name])[name]["properties"].items():
        meaning = " ".join(schema["description"].split()).replace("|", "\\|")
        rows.append((f"`{field}`", meaning))
    return "".join(f"| {field} | {meaning} |\n" for field, meaning in rows)


def page(names: Sequence[str] = ()) -> str:
    """Return the page of the site; with `names` the tables of these files alone."""
    tables = (f"## {name}\n\n{table(name)}" for name in names or _FILES)
    return "\n".join([*([] if names else [_INTRODUCTION]), *tables])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the fields of the files that `arguments` name, or of all; return the exit code."""
    command = argparse.ArgumentParser(
        as_started("python -m eval schema"), description="Print the fields of a run folder's files."
    )
    command.add_argument("files", nargs="*", metavar="FILE", help="such as manifest.json")
    command.add_argument("--json", action="store_true", help="print them as JSON Schema")
    options = command.parse_args(arguments)
    try:
        names = options.files
        print(json.dumps(json_schema(names), indent=1) if options.json else page(names))
    except InputError as error:
        complain(error)
        return 2
    return 0
