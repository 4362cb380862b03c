"""A command run again within this process, and what came of it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval.cache.bundle import read_bundle
from eval.metrics.protocols import protocols
from eval.records.jsonl import INGEST, read_lines
from eval.records.manifest import describe
from eval.records.run import error_of
from eval.records.schema import Record
from eval.regress.by_question import of_records
from eval.regress.pins import DIGITS, SCORES, Outcome
from eval.rendering.errors import blame, one_line
from eval.run.build import build
from eval.run.experiment import composed
from eval.run.runner import Runner
from eval.summary.measures import JUDGE
from eval.summary.summarise import summarise
from memsys.errors import InputError
from memsys.llm.budget import BudgetReached
from memsys.llm.recording import Recording


def measure(arguments: Sequence[str], bundle: Path | None = None, live: bool = False) -> Outcome:
    """Run `python -m eval.run ARGUMENTS` and keep nothing but its scores; one run, no sweep.

    Vectors come from and go to the cache as ever. With a `bundle` of recorded answers these stand
    in for the model, in a cache of their own. `live`: every model is asked anew, nothing is
    replayed or recorded.

    Raises InputError on what eval.run refuses, where the budget does not last, and where a
    question fails though no model was called, or all do: a score over fewer questions is no score
    to compare.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            config, choices = composed([*arguments, *_answers_from(bundle, live, Path(folder))])
            built = build(config, choices)
            resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
            described = built.described()
            manifest = describe("regress", resolved, choices, built.dataset, described)
            records = Runner(built, Path(folder), config.concurrency).run()
            called = _called([*records, *read_lines(Path(folder) / INGEST)])
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(blame(error) or one_line(error)) from error
    except BudgetReached as error:
        raise InputError(f"{error}; a pin needs the whole run") from error
    _check_answered(records, some=called)
    summary = summarise(
        records, manifest, manifest["seed"], resamples=2
    )  # no interval is looked at
    protocol = protocols(manifest["scoring"])[0]
    return Outcome(
        protocol.name,
        {file["name"]: file["sha256"] for file in manifest["data"]},
        {name: _cell(cell) for name, cell in summary["by_type"].items() if cell["n"]},
        of_records(records, protocol.f1) if called else None,
    )


def _answers_from(bundle: Path | None, live: bool, folder: Path) -> list[str]:
    """The settings that say where a model's answers come from; none: as the command has it."""
    if live:
        return ["llm.cache=off"]
    if bundle is None:
        return []
    Recording(folder / "cache").keep(read_bundle(bundle))
    return [f"cache={folder / 'cache'}", "llm.cache=replay"]


def _called(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a model was called for any of the questions or sessions, or a recorded call used."""
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
