"""Recompute the scores of a run from its records, also under another answer key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import cast

from tqdm import tqdm

from eval.datasets.types import Dataset, Question
from eval.metrics.registry import of_rankings, use_configured
from eval.records.answer_key_views import key_name
from eval.records.folder import locked
from eval.records.jsonl import MANIFEST, RECORDS, write_json, write_lines
from eval.records.manifest import digest, git_state, now
from eval.records.rankings import Unit
from eval.records.run import load_run
from eval.records.schema import Manifest, Record, Summary
from eval.rendering.run_tables import report_md
from eval.rescore.imports import IMPORTED, add_account
from eval.summary.closing import write_summary
from eval.summary.scoring import question_fields, score_record
from memsys.errors import InputError


def recompute(folder: Path, dataset: Dataset | None = None) -> tuple[Summary, int]:
    """Score the run in `folder` again; return its summary and the number of changed records.

    Rewrites records.jsonl, summary and report, and adds to the manifest's `rescored`. Only scores
    change; a judge's verdict applies only to the gold answer that it was given for. `dataset`: the
    data of the run under the answer key to score by; None for the run's key. Raises InputError if
    the folder contains no complete run of this version, or one on other data.
    """
    run = load_run(folder, answered=False)
    manifest = run.manifest
    use_configured(manifest["config"].get("metric"))
    questions: Mapping[str, Question] = {}
    if dataset is not None:
        manifest = _under(dataset, manifest, folder)
        questions = {question.id: question for question in dataset.questions}
    with locked(folder):
        old = list(run.records.values())
        bar = tqdm(old, desc=folder.name, unit="answer", disable=None)
        turns = {id_: one.turns for id_, one in run.rankings.items() if not one.selected}
        records = [
            _rescored(record, questions.get(record["id"]), turns.get(record["id"]))
            for record in bar
        ]
        write_lines(folder / RECORDS, records)
        summary = write_summary(folder, manifest, records, report_md)
        if manifest.get("kind") == IMPORTED:
            add_account(folder, manifest)
        again = {"at": now(), "git": git_state(), "key": key_name(manifest)}
        manifest["rescored"] = [*manifest.get("rescored", []), again]
        write_json(folder / MANIFEST, manifest)
    changed = sum(one["scores"] != two["scores"] for one, two in zip(old, records, strict=True))
    return summary, changed


def _under(dataset: Dataset, manifest: Manifest, folder: Path) -> Manifest:
    """Return the manifest with the answer key of `dataset`; InputError if the files differ."""
    asked = {file["sha256"] for file in manifest["data"]}
    if asked != {file.sha256 for file in dataset.files}:
        names = ", ".join(file["name"] for file in manifest["data"])
        raise InputError(
            f"{folder}: answers {names}, not {dataset.name}; name the same files by --dataset"
        )
    config = dict(manifest["config"])
    config["dataset"] = {**config.get("dataset", {}), "key": dataset.key.name}
    changed = {
        **manifest,
        "key": asdict(dataset.key),
        "config": config,
        "config_sha256": digest({"config": config, "choices": manifest["choices"]}),
    }
    return cast(Manifest, changed)


def _rescored(record: Record, question: Question | None, ranked: Unit | None) -> Record:
    """Score `record` again, under the key that `question` was loaded with, if it is given. Without
    the ranking behind it, its scores remain.
    """
    verdicts = _verdicts(record)
    if question is not None:
        record = cast(Record, record | question_fields(question))
    key, computed = record["key"], score_record(record, ranked=ranked)
    golds = {"scores": record["gold"]}
    if key is not None:
        golds["scores_original"] = key["original_gold"]
    previous = {"scores": record["scores"], "scores_original": record["scores_original"]}
    for name, gold in golds.items():
        scores = computed[name] or {}
        if ranked is None:
            scores |= of_rankings(previous[name] or {})
        others = {k: v for k, v in (previous[name] or {}).items() if k not in scores}
        computed[name] = others | scores | {"judge": verdicts.get(gold)}
    return cast(Record, record | computed)


def _verdicts(record: Record) -> dict[str | None, float | None]:
    """Return the judge's verdicts, which cannot be recomputed, by the gold answer they judge."""
    key, verdict = record["key"], record["scores"].get("judge")
    if key is None:
        return {record["gold"]: verdict}
    original = (record["scores_original"] or {}).get("judge")
    return {key["original_gold"]: original, record["gold"]: verdict}
