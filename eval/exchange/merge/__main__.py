"""`python -m eval merge RUN RUN [...]`: merge runs on different conversations into one."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from eval import cli
from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Dataset
from eval.records.files import (
    CALLS,
    CONTEXTS,
    INGEST,
    MEMORIES,
    RANKINGS,
    read_lines,
    write_json,
    write_lines,
)
from eval.records.folder import run_id
from eval.records.manifest import command, digest, load_manifest
from eval.records.prices import PAID
from eval.records.rankings import Selections
from eval.records.run import load_run
from eval.records.schema import Manifest, Record
from eval.rendering.tables import by_type, report_md
from eval.summary.closing import write_summary
from memsys.core.errors import InputError
from memsys.core.places import MANIFEST, RECORDS, RUNS, find_run

_ALIKE = ("schema_version", "choices", "data", "scoring", "llm", "prompts", "judge", "models")


def main(arguments: Sequence[str] | None = None) -> int:
    """Merge and print; return exit code 2 for invalid input, 130 after Ctrl-C."""
    parser = cli.parser(
        "merge",
        "Merge runs of the same configuration over different conversations "
        "(dataset.conversations=[...]) into one, with the records and scores of a run that was "
        "never split.",
    )
    cli.add_runs(parser)
    parser.add_argument("--out", type=Path, help="run folder (default: results/runs/<time>_...)")
    cli.add_wide(parser)
    options = parser.parse_args(arguments)
    return cli.code_of(lambda: _merge(options))


def _merge(options: argparse.Namespace) -> None:
    """Read and check all parts, then write the merged run."""
    pairs = [(part, load_manifest(part)) for part in map(find_run, options.runs)]
    # One with all settings goes first.
    pairs.sort(key=lambda pair: "fallback" not in pair[1]["config"].get("embedder", {}))
    parts, manifests = zip(*pairs, strict=True)
    for part, manifest in zip(parts, manifests, strict=True):
        _check(part, manifest, parts[0], manifests[0])
    records: dict[str, Record] = {}
    where: dict[str, Path] = {}
    for part in parts:
        for id_, record in load_run(part, answered=False).records.items():
            if id_ in records:
                raise InputError(f"{part}: {id_} is in {where[id_]} too; merge parts that differ")
            records[id_], where[id_] = record, part
    whole = _dataset(manifests[0], None)
    asked = {question.conversation: 0 for question in whole.questions}
    present = {record["id"].partition("/")[0] for record in records.values()}
    names = None if present >= set(asked) else [name for name in asked if name in present]
    dataset = whole if names is None else _dataset(manifests[0], names)
    ordered = [records[q.id] for q in dataset.questions if q.id in records]
    missing = [q.id for q in dataset.questions if q.id not in records]
    if missing:
        raise InputError(f"{missing[0]} is in no part; resume the run that stopped before it")
    out = options.out or RUNS / run_id(manifests[0]["strategy"])
    if (out / MANIFEST).exists():
        raise InputError(f"{out}: contains a run already; name another folder by --out")
    out.mkdir(parents=True, exist_ok=True)
    order = {conversation.id: i for i, conversation in enumerate(dataset.conversations)}
    place = {record["id"]: i for i, record in enumerate(ordered)}
    places: dict[str, Callable[[Mapping[str, Any]], int]] = {  # of a line, by file
        INGEST: lambda row: order[row["conversation"]],
        CALLS: lambda _: 0,
        PAID: lambda _: 0,
        RANKINGS: lambda row: place.get(row["id"], -1),
        MEMORIES: lambda row: order[row["store"]],
        CONTEXTS: lambda _: 0,
    }
    for name, of_line in places.items():
        rows = [row for part in parts for row in read_lines(part / name)]
        if name == CONTEXTS:
            rows = list({row["sha256"]: row for row in rows}.values())
        if rows:
            write_lines(out / name, sorted(rows, key=of_line))
    write_lines(out / RECORDS, map(Selections(out).reduced, ordered))
    manifest = _manifest(out.name, manifests, dataset, names)
    write_json(out / MANIFEST, manifest)
    summary = write_summary(out, manifest, ordered, report_md)
    print(by_type(summary).text())
    print(f"\n{len(parts)} parts, {len(ordered):,} records: {out}")


def _check(part: Path, manifest: Manifest, first: Path, other: Manifest) -> None:
    """Raise InputError unless a part is complete and has the configuration of the first one."""
    ours, theirs = _configuration(manifest, other), _configuration(other, manifest)
    names = sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
    status, config = manifest["status"], manifest["config"]
    if status != "complete":
        fault = f"its status is {status}; finish it by resume={manifest['run_id']}"
    elif config.get("questions"):
        fault = "was run with questions=, so it is no part of a whole; run it again"
    elif config["dataset"].get("pooled"):
        others = "other conversations would have been searched as well"
        fault = f"its store is pooled, and {others}; run them all at once"
    elif names:
        differing = f"the configuration differs from that of {first} in {', '.join(names)}"
        fault = f"{differing}; only dataset.conversations may"
    else:
        return
    raise InputError(f"{part}: {fault}")


def _configuration(manifest: Manifest, other: Manifest) -> dict[str, Any]:
    """Return what parts share, for the comparison with `other`: without conversations, and without
    a fallback of the embedder, which a part whose conversations do not need it leaves out.
    """
    config, embedder = dict(manifest["config"]), dict(manifest["config"].get("embedder", {}))
    if "fallback" not in other["config"].get("embedder", {}):
        embedder.pop("fallback", None)
    data = {**config["dataset"], "conversations": None}
    shared = {f"manifest.{name}": manifest.get(name) for name in _ALIKE}
    return {**shared, **config, "embedder": embedder, "dataset": data}


def _dataset(manifest: Manifest, conversations: list[str] | None) -> Dataset:
    """Load the parts' data set, for the order of questions; raises InputError if it changed."""
    config = {**manifest["config"]["dataset"], "conversations": conversations}
    dataset = load_dataset_of(config)
    files = [(file.name, file.sha256) for file in dataset.files]
    if files != [(file["name"], file["sha256"]) for file in manifest["data"]]:
        raise InputError(f"dataset {manifest['dataset']}: its files have changed since the runs")
    return dataset


def _manifest(
    name: str, parts: Sequence[Manifest], dataset: Dataset, names: list[str] | None
) -> Manifest:
    """Return the manifest of the first part, with the fields that differ combined."""
    config = dict(parts[0]["config"])
    config["dataset"] = {**config["dataset"], "conversations": names}
    seconds = [part.get("seconds", {}) for part in parts]
    warnings = dict.fromkeys(warning for part in parts for warning in part["warnings"])
    if len({str(part["git"]) for part in parts}) > 1:
        warnings["the parts were run by different code (see merged)"] = None
    identity = ("run_id", "config_sha256", "git", "machine", "started", "ended", "resumed")
    return {
        **parts[0],
        "run_id": name,
        "command": command(sys.argv[1:], ()).replace("eval.run", "eval merge"),
        "config": config,
        "config_sha256": digest({"config": config, "choices": parts[0]["choices"]}),
        "key": {**parts[0]["key"], "wrong": list(dataset.key.wrong)},
        "questions": len(dataset.questions),
        "repairs": list(dataset.repairs),
        "languages": _united(parts, "languages"),
        "embedders": _united(parts, "embedders"),
        "stores": _united(parts, "stores"),
        "started": min(part["started"] for part in parts),
        "ended": max(part["ended"] or "" for part in parts),
        "warnings": list(warnings),
        "sweep": None,
        "seconds": {
            key: round(sum(times.get(key, 0.0) for times in seconds), 3)
            for key in _united(parts, "seconds")
        },
        "merged": [{key: dict(part)[key] for key in identity} for part in parts],
    }


def _united(parts: Sequence[Manifest], field: str) -> dict[str, Any]:
    """Return the entries by name that any part has in `field`."""
    united: dict[str, Any] = {}
    for part in cast(Sequence[Mapping[str, Any]], parts):
        united |= part.get(field, {})
    return united
