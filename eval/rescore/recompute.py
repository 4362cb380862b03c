"""Compute the scores of a run anew from its records, also under another answer key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.datasets.types import Dataset, Question
from eval.metrics.registry import use_configured
from eval.records.answer_key_views import key_name
from eval.records.folder import locked, write_summary
from eval.records.jsonl import MANIFEST, RECORDS, Record, read_lines, write_json, write_lines
from eval.records.manifest import SCHEMA_VERSION, digest, git_state, load_manifest, now
from eval.rescore.imports import IMPORTED, add_account
from eval.summary.scoring import question_fields, score_record
from memsys.errors import InputError


def recompute(folder: Path, dataset: Dataset | None = None) -> tuple[dict[str, Any], int]:
    """Score the run in `folder` again; returns its summary and how many records changed a score.

    records.jsonl, summary and report are written anew, and the manifest's `rescored` says so.
    Answers, a judge's verdicts and whatever else stands in a record stay. `dataset`: the data of
    the run, loaded with the answer key to score by; None for the run's own. A verdict then counts
    for the gold it was given for. Raises InputError if the folder holds no run, another version's,
    one that has not come to its end, or one on other data.
    """
    manifest = load_manifest(folder)
    if manifest["schema_version"] != SCHEMA_VERSION:
        raise InputError(
            f"{folder}: written by another version of memsys (schema "
            f"{manifest['schema_version']}, now {SCHEMA_VERSION}); run it again"
        )
    if manifest["status"] != "complete":
        raise InputError(f"{folder}: the run is {manifest['status']}; resume it to its end first")
    use_configured(manifest["config"].get("metric"))
    questions: Mapping[str, Question] = {}
    if dataset is not None:
        manifest = _under(dataset, manifest, folder)
        questions = {question.id: question for question in dataset.questions}
    with locked(folder):
        old = list(read_lines(folder / RECORDS))
        if not old:
            raise InputError(f"{folder}: holds no records; name a run folder that has them")
        bar = tqdm(old, desc=folder.name, unit="answer", disable=None)
        records = [_rescored(record, questions.get(record["id"])) for record in bar]
        write_lines(folder / RECORDS, records)
        summary = write_summary(folder, manifest, records)
        if manifest.get("kind") == IMPORTED:
            add_account(folder, manifest)
        again = {"at": now(), "git": git_state(), "key": key_name(manifest)}
        write_json(
            folder / MANIFEST, manifest | {"rescored": [*manifest.get("rescored", []), again]}
        )
    changed = sum(one["scores"] != two["scores"] for one, two in zip(old, records, strict=True))
    return summary, changed


def _under(dataset: Dataset, manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The manifest with the answer key of `dataset`; raises InputError if the data is another."""
    asked = {file["sha256"] for file in manifest["data"]}
    if asked != {file.sha256 for file in dataset.files}:
        names = ", ".join(file["name"] for file in manifest["data"])
        raise InputError(
            f"{folder}: answers {names}, not {dataset.name}; name the same files by --dataset"
        )
    config = dict(manifest["config"])
    config["dataset"] = {**config.get("dataset", {}), "key": dataset.key.name}
    return {
        **manifest,
        "key": asdict(dataset.key),
        "config": config,
        "config_sha256": digest({"config": config, "choices": manifest["choices"]}),
    }


def _rescored(record: Record, question: Question | None) -> Record:
    """`record` scored again; under the key that `question` was loaded with, if there is one."""
    verdicts = _verdicts(record)
    if question is not None:
        record = record | question_fields(question)
    key = record.get("key")
    computed = score_record(record)
    for name, gold in (
        ("scores", record["gold"]),
        ("scores_original", key and key["original_gold"]),
    ):
        scores = computed[name]
        if scores is not None:
            kept = {k: v for k, v in (record.get(name) or {}).items() if k not in scores}
            computed[name] = kept | scores | {"judge": verdicts.get(gold)}
    return record | {"key": key} | computed


def _verdicts(record: Record) -> dict[str | None, float | None]:
    """A judge's verdicts, which cannot be computed, by the gold that they were given for."""
    key = record.get("key")
    if key is None:
        return {record["gold"]: record["scores"].get("judge")}
    originals = record["scores_original"] or {}
    return {
        key["original_gold"]: originals.get("judge"),
        record["gold"]: record["scores"].get("judge"),
    }
