"""`python -m eval.merge RUN RUN [...]`: one run out of parts that share no conversation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.cli import code_of
from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Dataset
from eval.records.folder import run_id
from eval.records.jsonl import CALLS, INGEST, MANIFEST, RECORDS, read_lines, write_json, write_lines
from eval.records.manifest import command, digest, load_manifest
from eval.records.run import RUNS, find_folder, load_run
from eval.records.schema import Manifest, Record
from eval.rendering.run_tables import report_md
from eval.rendering.tables import by_type, plain
from eval.summary.closing import write_summary
from memsys.errors import InputError

_ALIKE = ("schema_version", "choices", "data", "scoring", "llm", "prompts", "judge", "models")


def main(arguments: Sequence[str] | None = None) -> int:
    """Merge and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.merge",
        description="Merge runs of the same configuration over different conversations "
        "(dataset.conversations=[...]) into one. Its records and scores are those of a run that "
        "was never split.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help=f"folder, or an id under {RUNS}")
    parser.add_argument("--out", type=Path, help="run folder (default: results/runs/<time>_...)")
    options = parser.parse_args(arguments)
    return code_of(lambda: _merge(options))


def _merge(options: argparse.Namespace) -> None:
    """Everything is read and checked before anything is written."""
    parts = [find_folder(name) for name in options.runs]
    manifests = [load_manifest(part) for part in parts]
    for part, manifest in zip(parts, manifests, strict=True):
        _check(part, manifest, parts[0], manifests[0])
    records = _records(parts)
    whole = _dataset(manifests[0], None)
    asked = {question.conversation: 0 for question in whole.questions}
    held = {record["id"].partition("/")[0] for record in records.values()}
    kept = None if held >= set(asked) else [name for name in asked if name in held]
    dataset = whole if kept is None else _dataset(manifests[0], kept)
    ordered = [records[q.id] for q in dataset.questions if q.id in records]
    missing = [q.id for q in dataset.questions if q.id not in records]
    if missing:
        raise InputError(f"{missing[0]} is in no part; resume the run that stopped before it")
    out = options.out or RUNS / run_id(None, manifests[0]["strategy"])
    if (out / MANIFEST).exists():
        raise InputError(f"{out}: holds a run already; name another folder by --out")
    out.mkdir(parents=True, exist_ok=True)
    order = {conversation.id: i for i, conversation in enumerate(dataset.conversations)}
    _write_lines(out, INGEST, parts, lambda row: order[row["conversation"]])
    _write_lines(out, CALLS, parts, None)
    write_lines(out / RECORDS, ordered)
    manifest = _manifest(out.name, manifests, dataset, kept)
    write_json(out / MANIFEST, manifest)
    summary = write_summary(out, manifest, ordered, report_md)
    print(plain(*by_type(summary)))
    print(f"\n{len(parts)} parts, {len(ordered):,} records: {out}")


def _check(part: Path, manifest: Manifest, first: Path, other: Manifest) -> None:
    """Raises InputError unless a part is whole and was made as the first one was."""
    if manifest["status"] != "complete":
        raise InputError(
            f"{part}: its status is {manifest['status']}; finish it by resume={manifest['run_id']}"
        )
    for field in _ALIKE:
        if manifest.get(field) != other.get(field):
            raise InputError(f"{part}: {field} differs from that of {first}; merge runs made alike")
    mine, theirs = (_without_conversations(one["config"]) for one in (manifest, other))
    if mine != theirs:
        names = sorted(name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name))
        raise InputError(
            f"{part}: the configuration differs from that of {first} in {', '.join(names)}; "
            "only dataset.conversations may"
        )


def _without_conversations(config: Mapping[str, Any]) -> dict[str, Any]:
    return {**config, "dataset": {**config["dataset"], "conversations": None}}


def _records(parts: Sequence[Path]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    where: dict[str, Path] = {}
    for part in parts:
        for id_, record in load_run(part, answered=False).records.items():
            if id_ in found:
                raise InputError(f"{part}: {id_} is in {where[id_]} too; merge parts that differ")
            found[id_], where[id_] = record, part
    return found


def _dataset(manifest: Manifest, conversations: list[str] | None) -> Dataset:
    """The data that the parts were made from, to know their order; InputError if it changed."""
    config = {**manifest["config"]["dataset"], "conversations": conversations}
    dataset = load_dataset_of(config)
    found = [(file.name, file.sha256) for file in dataset.files]
    if found != [(file["name"], file["sha256"]) for file in manifest["data"]]:
        raise InputError(f"dataset {manifest['dataset']}: its files have changed since the runs")
    return dataset


def _write_lines(out: Path, name: str, parts: Sequence[Path], key: Any) -> None:
    rows = [row for part in parts for row in read_lines(part / name)]
    if rows:
        write_lines(out / name, rows if key is None else sorted(rows, key=key))


def _manifest(
    name: str, parts: Sequence[Manifest], dataset: Dataset, kept: list[str] | None
) -> Manifest:
    """That of the first part, with what differs put together."""
    config = dict(parts[0]["config"])
    config["dataset"] = {**config["dataset"], "conversations": kept}
    seconds = [part.get("seconds", {}) for part in parts]
    names = dict.fromkeys(key for one in seconds for key in one)
    warnings = dict.fromkeys(warning for part in parts for warning in part["warnings"])
    if len({str(part["git"]) for part in parts}) > 1:
        warnings["the parts were made by different code (see merged)"] = None
    own = ("run_id", "config_sha256", "git", "machine", "started", "ended", "resumed")
    return {
        **parts[0],
        "run_id": name,
        "command": command(sys.argv[1:], ()).replace("eval.run", "eval.merge"),
        "config": config,
        "config_sha256": digest({"config": config, "choices": parts[0]["choices"]}),
        "key": {**parts[0]["key"], "wrong": list(dataset.key.wrong)},
        "repairs": list(dataset.repairs),
        "started": min(part["started"] for part in parts),
        "ended": max(part["ended"] or "" for part in parts),
        "warnings": list(warnings),
        "sweep": None,
        "seconds": {key: round(sum(s.get(key, 0.0) for s in seconds), 3) for key in names},
        "merged": [{key: dict(part)[key] for key in own} for part in parts],
    }


if __name__ == "__main__":
    sys.exit(main())
