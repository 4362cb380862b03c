"""`from=RUN` and `only=`: a part of a run again, without paying for the rest or timing it again.

The new run takes over the parent's records without what is done again: with `judge=` the verdicts,
with `reader=` the answers and verdicts, with `only=failed` the questions that failed.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from hydra import compose
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from eval.judges.judge import reference
from eval.records.files import (
    CALLS,
    CONTEXTS,
    INGEST,
    MEMORIES,
    RANKINGS,
    Row,
    read_lines,
    replacing,
    write_lines,
)
from eval.records.manifest import OPERATIONAL, OPERATIONAL_OF_MODELS, load_manifest
from eval.records.rankings import Selections
from eval.records.schema import CONTEXT_LINE, INGEST_LINE, RECORD, Manifest, Record, with_defaults
from eval.run.build import FAILED_ONES, Built
from eval.run.failures import Failure
from eval.run.question import Asked, failed, read_again
from memsys.core.errors import InputError, refuse
from memsys.core.files import open_entry
from memsys.core.places import RECORDS, find_run, in_runs
from memsys.core.trusted import check_addresses, check_config

Part = Literal["judge", "answer", "failed"]
_MODELS = {"llm": "llm", "judge_llm": "llm@judge_llm"}  # by setting: the group as Hydra names it
_AGAIN = {"reader", "judge", *_MODELS}  # groups that a repetition may set
_FREE = {*OPERATIONAL, "from", "only", "seed", "resamples"}  # settings that it may set, too
_OF_DATA = ("data", "key", "evidence")  # fields of a manifest that must be the parent's
_PENDING = {"phase": "judge", "kind": "Pending", "message": "the judge has not been asked yet"}


@dataclass(frozen=True, slots=True)
class Repetition:
    """The `part` of the run in `folder` that a new run does again."""

    folder: Path
    manifest: Manifest
    part: Part

    def fields(self) -> dict[str, Any]:
        """Return the fields of the new run's manifest that say what was taken over."""
        parent = self.manifest
        identity = {"run_id": parent["run_id"], "config_sha256": parent["config_sha256"]}
        return {"parent": {**identity, "again": self.part}, "retrieval": parent["retrieval"]}

    def check(self, manifest: Manifest, built: Built) -> None:
        """Raise InputError unless the new run has the parent's data, asks none but its questions,
        and can do the part again.
        """
        ids, where = {row["id"] for row in self._rows()}, f"from={self.folder.name}"
        others = [question.id for question in built.dataset.questions if question.id not in ids]
        changed = [name for name in _OF_DATA if manifest.get(name) != self.manifest.get(name)]
        reader = built.models.reader if self.part == "answer" else None
        faults = {
            f"{where}: the data files or their keys have changed since; start a new run": changed,
            f"{where}: the run did not ask {''.join(others[:1])}; start a new run for it": others,
            f"{where}: reader={manifest['choices']['reader']} reads memories, and a run stores "
            "contexts; start a new run, which costs nothing with this reader": reader is not None
            and not reader.reads_context,
        }
        refuse(faults)

    def named(self, overrides: Sequence[str]) -> list[str]:
        """Return `overrides` with the parent's id: what `last` or a part of an id stands for may
        change until the new run is resumed.
        """
        if not in_runs(self.folder):
            return list(overrides)
        rest = [override for override in overrides if not override.startswith("from=")]
        return [*rest, f"from={self.folder.name}"]

    def take_over(self, folder: Path, built: Built) -> None:
        """Write to `folder`, that of a new run, what is not done again. Does nothing if it has
        been done already, as in a resumed run.
        """
        if (folder / RECORDS).exists():
            return
        asked = {question.id: question for question in built.dataset.questions}
        conversations = {question.searched for question in asked.values()}
        for name in (CONTEXTS, RANKINGS, MEMORIES):
            with (
                suppress(FileNotFoundError),
                open_entry(self.folder / name) as file,
                replacing(folder / name) as copy,
            ):
                shutil.copyfileobj(file, copy)
        steps = read_lines(self.folder / INGEST, schema=INGEST_LINE)
        ingested = (step for step in steps if step["conversation"] in conversations)
        write_lines(folder / INGEST, (step for step in ingested if step["status"] == "ok"))
        rows = [row for row in self._rows() if row["id"] in asked and row["status"] == "ok"]
        done = {None, *(row["id"] for row in rows)}  # None: of an ingestion
        if calls := [row for row in read_lines(self.folder / CALLS) if self._is_kept(row, done)]:
            write_lines(folder / CALLS, calls)
        judge = built.models.judge
        if self.part == "answer":
            rows = []
        elif self.part == "judge":
            wanted = [reference(judge, asked[row["id"]]) if judge else None for row in rows]
            rows = list(map(self._without_verdict, rows, wanted))
        write_lines(folder / RECORDS, rows)

    def jobs(self, built: Built) -> Mapping[str, partial[Asked]] | None:
        """Return the job of each question that the runner would retrieve for; None: it does so.

        A question that failed before its context was complete remains a failure.
        """
        if self.part == "failed":
            return None
        contexts, selections = {}, Selections(self.folder)
        if self.part == "answer":
            rows = read_lines(self.folder / CONTEXTS, schema=CONTEXT_LINE)
            contexts = {row["sha256"]: row["text"] for row in rows}
        stored = {row["id"]: row for row in self._rows()}
        jobs = {}
        for question in built.dataset.questions:
            record = stored[question.id]
            digest = record.get("context_sha256")
            if self.part == "judge" or (digest is None and record["status"] == "error"):
                error = record["error"] or {"phase": "retrieve", "kind": "", "message": "no record"}
                failure = Failure(error["phase"], error["kind"], error["message"])
                jobs[question.id] = partial(failed, question, failure)
                continue
            if digest not in contexts:
                raise InputError(
                    f"{self.folder / CONTEXTS}: holds no context of {question.id}; start a new run"
                )
            selection = None if "retrieved" in record else selections.of(record)
            record, models = cast(Record, selections.filled(cast(Row, record))), built.models
            jobs[question.id] = partial(
                read_again,
                *(question, record, contexts[digest], selection),
                *(models.reader, models.judge, built.meter),
            )
        return jobs

    def _rows(self) -> Iterable[Record]:
        yield from map(with_defaults, read_lines(self.folder / RECORDS, schema=RECORD))

    def _without_verdict(self, record: Record, compared: str | None) -> Record:
        """Return `record` as if nobody had judged it; `compared`: with what its answer is to be
        compared, None if nobody judges.
        """
        row = cast(Row, record)
        measured = {
            name: {part: value for part, value in (row.get(name) or {}).items() if part != "judge"}
            for name in ("usage", "latency_ms", "waited_ms")
        }
        key = (self.manifest["judge"] or {}).get("score")
        rest = {name: value for name, value in row.items() if name != "judge_reasons"}
        scores = {name: value for name, value in record["scores"].items() if name != key}
        pending = None if compared is None or record["answer"] is None else _PENDING
        new = {"scores": scores, "judge": None, "judge_error": pending}
        return cast(Record, {**rest, **measured, **new})

    def _is_kept(self, call: Row, done: set[str | None]) -> bool:
        """Return whether the recorded call belongs to what is not done again, such as to one of the
        questions `done`.
        """
        dropped = {"judge": ("judge",), "answer": ("answer", "judge"), "failed": ()}[self.part]
        return call.get("phase") not in dropped and call.get("question") in done


def resolve_parent(
    config: DictConfig, choices: dict[str, str], overrides: Sequence[str]
) -> tuple[DictConfig, dict[str, str], Repetition | None]:
    """Return the configuration of the run and, with `from=`, what is repeated of its parent: all
    settings that `overrides` do not name are then the parent's.

    Raises InputError if `from` names no complete run, or if `overrides` set anything but a judge, a
    reader or their models.
    """
    if config["from"] is None:
        if config.only == FAILED_ONES:
            raise InputError(
                "only=failed: of which run? add from=RUN; resume=RUN asks the questions that "
                "failed again in the same run"
            )
        return config, choices, None
    folder = find_run(str(config["from"]))
    where, parent = f"from={folder.name}", load_manifest(folder)
    paths = [_path(override) for override in overrides]
    others = [path for path in paths if path.partition(".")[0] not in _AGAIN | _FREE]
    faults = {
        f"{where}: the run is {parent['status']}; resume it to its end first": parent["status"]
        != "complete",
        f"{where}: its answers were imported; name a run of eval.run": "strategy"
        not in parent["config"],
        f"{where}: {''.join(others[:1])} is set, but retrieval is not repeated; leave it out, or "
        "start a new run without from=": others,
    }
    refuse(faults)
    for name, value in parent["config"].items():  # the folder may be somebody else's
        if name not in paths:
            check_config(value, "llm" if name in _MODELS else name, where)
    check_addresses(parent["config"], where)
    merged, options = _merged(config, parent, choices, paths)
    merged["from"] = folder.name if in_runs(folder) else str(folder)
    new_config = OmegaConf.create(merged)
    OmegaConf.set_struct(new_config, True)
    part = _part(paths, options, where, only=config.only)
    return new_config, options, Repetition(folder, parent, part)


def _merged(
    config: DictConfig, parent: Manifest, choices: dict[str, str], paths: Sequence[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the parent's settings and options, with those of `config` that `paths` name."""
    new = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    options = dict(parent["choices"])
    merged = OmegaConf.create({**new, **parent["config"]})
    if "only" in paths and (new["only"] != FAILED_ONES or not merged.only):
        merged.only = new["only"]
    for name in OPERATIONAL & set(new):
        merged[name] = new[name]
    # Manifests do not contain the operational settings of models.
    for group, option in _MODELS.items():
        default = compose("config", [f"{option}={options[option]}"])[group]
        for name in OPERATIONAL_OF_MODELS & set(default):
            merged[group][name] = default[name]
    for path in sorted({*paths} - {"only"}):
        group = _MODELS.get(path, path)
        if group in choices:
            merged[path], options[group] = new[path], choices[group]
        else:
            OmegaConf.update(merged, path, OmegaConf.select(config, path))
    settings = cast(dict[str, Any], OmegaConf.to_container(merged, resolve=True))
    if "key_file" not in settings["dataset"]:  # manifests name a key also where there is no choice
        settings["dataset"].pop("key", None)
    return settings, options


def _part(paths: Sequence[str], options: Mapping[str, str], where: str, *, only: object) -> Part:
    """Return the part that is done again because of the settings that were named."""
    groups = {
        path.partition(".")[0]
        for path in paths
        if not (
            path.startswith(tuple(_MODELS)) and path.rpartition(".")[2] in OPERATIONAL_OF_MODELS
        )
    }
    named = sorted(groups & _AGAIN)
    if only == FAILED_ONES:
        if named:
            raise InputError(
                f"{where}: only=failed asks again as the run did, but {named[0]} is set; leave one "
                "of the two out"
            )
        return "failed"
    if "reader" in groups or ("llm" in groups and options["reader"] == "llm"):
        return "answer"
    if named:
        return "judge"
    raise InputError(
        f"{where}: nothing to do again; add judge=..., reader=..., their llm=..., or only=failed"
    )


def _path(override: str) -> str:
    """Return the setting that an override of Hydra's grammar names, without its package."""
    parsed = OverridesParser.create().parse_override(override)
    return str(parsed.package or parsed.key_or_group)
