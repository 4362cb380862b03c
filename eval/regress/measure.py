"""Run a pinned command in this process and collect its scores."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval.metrics.protocols import protocols
from eval.records.bundle import read_calls
from eval.records.jsonl import INGEST, read_lines
from eval.records.manifest import describe
from eval.records.run import error_of
from eval.records.schema import Record
from eval.regress.by_question import of_records
from eval.regress.pins import DIGITS, SCORES, Outcome
from eval.rendering.errors import blame, one_line
from eval.run.build import build
from eval.run.composing import composed
from eval.run.runner import Runner
from eval.summary.measures import JUDGE
from eval.summary.summarise import summarise
from memsys.core.errors import InputError
from memsys.llm.budget import BudgetReached
from memsys.llm.recording import Recording


def measure(arguments: Sequence[str], bundle: Path | None = None, live: bool = False) -> Outcome:
    """Run `python -m eval.run ARGUMENTS`, a single run, and return its scores; no folder remains.

    Vectors are cached as usual. The recorded answers of a `bundle` replace the model, in a separate
    cache. `live`: models are called, nothing is replayed or recorded.

    Raises InputError on arguments that eval.run refuses, if the budget is exhausted, if a question
    fails although no model was called, and if all fail.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            config, choices = composed([*arguments, *_answers_from(bundle, live, Path(folder))])
            built = build(config, choices)
            resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
            described = built.described()
            manifest = describe("regress", resolved, choices, built.dataset, described)
            records = list(Runner(built, Path(folder), config.concurrency).run())
            called = _called([*records, *read_lines(Path(folder) / INGEST)])
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(blame(error) or one_line(error)) from error
    except BudgetReached as error:
        raise InputError(f"{error}; a pin needs the whole run") from error
    _check_answered(records, some=called)
    summary = summarise(records, manifest, manifest["seed"], resamples=2)  # intervals are unused
    protocol = protocols(manifest["scoring"])[0]
    return Outcome(
        protocol.name,
        {file["name"]: file["sha256"] for file in manifest["data"]},
        {name: _cell(cell) for name, cell in summary["by_type"].items() if cell["n"]},
        of_records(records, protocol.f1) if called else None,
    )


def _answers_from(bundle: Path | None, live: bool, folder: Path) -> list[str]:
    """Return overrides for the source of a model's answers; [] keeps that of the command."""
    if live:
        return ["llm.cache=off"]
    if bundle is None:
        return []
    Recording(folder / "cache").keep(*read_calls(bundle))
    return [f"cache={folder / 'cache'}", "llm.cache=replay"]


def _called(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a model was called, live or replayed, for any question or session."""
    usages = [line["usage"] or {} for line in lines]
    phases = [one for usage in usages for one in (usage, *usage.values()) if isinstance(one, dict)]
    return any(one.get("calls") for one in phases)


def _check_answered(records: Sequence[Record], *, some: bool) -> None:
    failed = [record for record in records if record["status"] == "error"]
    if failed and not (some and len(failed) < len(records)):
        raise InputError(
            f"{len(failed)} of {len(records)} questions failed, the first {failed[0]['id']} in "
            f"{error_of(failed[0])}"
        )


def _cell(cell: Mapping[str, Any]) -> dict[str, float | None]:
    names = [*SCORES, *([JUDGE] if cell[JUDGE] is not None else [])]
    values = {name: cell[name] for name in names}
    return {
        "n": cell["n"],
        **{name: None if one is None else round(one, DIGITS) for name, one in values.items()},
    }
