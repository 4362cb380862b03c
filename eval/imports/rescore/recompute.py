"""Recompute the scores of a run from its records, also under another answer key."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from tqdm import tqdm

from eval.datasets.pooled import POOLED, pool
from eval.datasets.types import Dataset, Question
from eval.imports.rescore.imports import add_account
from eval.metrics.registry import of_rankings, use_configured
from eval.records.answer_key_views import evidence_name, key_name
from eval.records.environment import git_state, now
from eval.records.files import write_json, write_lines
from eval.records.folder import locked
from eval.records.manifest import digest
from eval.records.rankings import Selections, UnitRanking
from eval.records.run import load_run
from eval.records.schema import Manifest, Record, Summary
from eval.records.scoring import evidence_fields, question_fields, score_record
from eval.rendering.tables import report_md
from eval.summary.closing import IMPORTED, write_summary
from memsys.core.errors import InputError
from memsys.core.places import MANIFEST, RECORDS


def recompute(
    folder: Path, dataset: Dataset | None = None, cited: Dataset | None = None
) -> tuple[Summary, int]:
    """Score the run in `folder` again; return its summary and the number of changed records.

    Rewrites records.jsonl, summary and report, and adds to the manifest's `rescored`. Only scores
    change; a judge's verdict applies only to the gold answer that it was given for. `dataset`: the
    data of the run under the answer key to score by; None for the run's key. `cited`: the same for
    the evidence key. Raises InputError if the folder contains no complete run of this version, or
    one on other data.
    """
    run = load_run(folder, answered=False)
    manifest = run.manifest
    use_configured(manifest["config"].get("metric"))
    account = manifest.get("matching", {})
    if manifest.get("kind") == IMPORTED and "sentences" not in account:
        raise InputError(f"{folder / MANIFEST}: matching: lacks the account; import the file again")
    questions, evidence = dict[str, Question](), dict[str, Question]()
    if dataset is not None:
        check_files(dataset, manifest, folder)
        changed = _with_settings(manifest, {"key": dataset.key.name})
        manifest = cast(Manifest, {**changed, "key": asdict(dataset.key)})
        questions = {question.id: question for question in dataset.questions}
    if cited is not None:
        manifest = _citing(cited, manifest, folder)
        if POOLED in manifest["stores"]:
            cited = pool(cited)
        evidence = {question.id: question for question in cited.questions}
    with locked(folder):
        old = list(run.records.values())
        bar = tqdm(old, desc=folder.name, unit="answer", disable=None)
        turns = {id_: ranked.turns for id_, ranked in run.rankings.items() if not ranked.selected}
        recited = (_recited(record, evidence.get(record["id"])) for record in bar)
        records = [
            _rescored(record, questions.get(record["id"]), turns.get(record["id"]))
            for record in recited
        ]
        write_lines(folder / RECORDS, map(Selections(folder).reduced, records))
        summary = write_summary(folder, manifest, records, report_md)
        if manifest.get("kind") == IMPORTED:
            add_account(folder, manifest)
        again = {"at": now(), "git": git_state(), "key": key_name(manifest)}
        again |= {} if cited is None else {"evidence": evidence_name(manifest)}
        manifest["rescored"] = [*manifest.get("rescored", []), again]
        write_json(folder / MANIFEST, manifest)
    pairs = zip(old, records, strict=True)
    return summary, sum(before["scores"] != after["scores"] for before, after in pairs)


def _citing(dataset: Dataset, manifest: Manifest, folder: Path) -> Manifest:
    """Return the manifest with the evidence key of `dataset`; InputError if the files differ, or if
    the run names sessions by other ids.
    """
    check_files(dataset, manifest, folder)
    ids = manifest["config"].get("dataset", {}).get("session_ids")
    if dataset.published_sessions and ids != "neutral":
        raise InputError(
            f"{folder}: names sessions by their published ids, {dataset.name} by neutral ones; "
            "rescore it without --evidence"
        )
    others = {name: value for name, value in manifest.items() if name != "evidence"}
    if dataset.evidence is None:
        has_choice = "evidence" in manifest["config"].get("dataset", {})
        return _with_settings(others, {"evidence": "original" if has_choice else None})
    changed = _with_settings(others, {"evidence": dataset.evidence.name})
    return cast(Manifest, {**changed, "evidence": asdict(dataset.evidence)})


def check_files(dataset: Dataset, manifest: Manifest, folder: Path) -> None:
    """Raise InputError if the run in `folder` answers other files than those of `dataset`."""
    if {file["sha256"] for file in manifest["data"]} != {file.sha256 for file in dataset.files}:
        names = ", ".join(file["name"] for file in manifest["data"])
        raise InputError(
            f"{folder}: answers {names}, not the files of {dataset.name}; name the same files by "
            "--dataset"
        )


def _with_settings(manifest: Mapping[str, Any], settings: Mapping[str, str | None]) -> Manifest:
    """Return the manifest with other settings of the data set; None removes one."""
    config = dict(manifest["config"])
    others = {k: v for k, v in config.get("dataset", {}).items() if k not in settings}
    config["dataset"] = others | {k: v for k, v in settings.items() if v is not None}
    sha256 = digest({"config": config, "choices": manifest["choices"]})
    return cast(Manifest, {**manifest, "config": config, "config_sha256": sha256})


def _recited(record: Record, question: Question | None) -> Record:
    """Return `record` with the evidence of `question`, if it is given; if that is other evidence,
    without scores of the ranking, which may not be known any more.
    """
    if question is None:
        return record
    others = {name: value for name, value in record.items() if name != "evidence_original"}
    if list(question.evidence) != record["evidence"]:
        unknown = dict.fromkeys(of_rankings(record["scores"]))
        others["scores"] = record["scores"] | unknown
        if original := record["scores_original"]:
            others["scores_original"] = original | unknown
    return cast(Record, others | evidence_fields(question, record["retrieved"]))


def _rescored(record: Record, question: Question | None, ranked: UnitRanking | None) -> Record:
    """Score `record` again, under the key that `question` was loaded with, if it is given. Without
    the ranking behind it, its scores remain. An answer key changes no evidence, whose sessions the
    run may name by other ids than `question` does.
    """
    verdicts = verdicts_of(record)
    if question is not None:
        fields = {k: v for k, v in question_fields(question).items() if k != "evidence_sessions"}
        record = cast(Record, record | fields)
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


def verdicts_of(record: Record) -> dict[str | None, float | None]:
    """Return the judge's verdicts, which cannot be recomputed, by the gold answer they judge."""
    key, verdict = record["key"], record["scores"].get("judge")
    if key is None:
        return {record["gold"]: verdict}
    original = (record["scores_original"] or {}).get("judge")
    return {key["original_gold"]: original, record["gold"]: verdict}
