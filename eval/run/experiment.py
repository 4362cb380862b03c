"""One run: prepared, made in its folder, and closed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf

from eval.cli import FAILED
from eval.exchange.track.finished import log_run, tracker_of
from eval.judges.panel import reply_formats
from eval.records import folder as folders
from eval.records.manifest import describe, load_manifest
from eval.records.prices import PaidCalls
from eval.records.schema import Manifest
from eval.rendering.tables import report_md
from eval.run import console
from eval.run.again import resolve_parent
from eval.run.build import Built, build
from eval.run.compatible import lower_limits, without_effect
from eval.run.composing import Order
from eval.run.failures import FailurePolicy
from eval.run.runner import Runner
from eval.run.settings import check_settings
from eval.summary.closing import close
from memsys.core.places import MANIFEST
from memsys.llm.budget import BudgetReached
from memsys.strategies.shared import Shared


def execute(
    order: Order,
    folder: Path,
    resume: str | int | None,
    sweep: Any = None,
    shared: Shared | None = None,
) -> int:
    """Make the run of `order` in `folder`, with its start and end on the terminal. Returns the exit
    code: 1 if more questions failed than `failures.tolerated` allows.

    `resume`: see eval.records.folder.begin. `sweep`: id and job, for the manifest. `shared`: what
    its earlier jobs have loaded and made. Raises InputError on unusable settings or data, before
    anything is written, and BudgetReached, RepeatedFailure and KeyboardInterrupt; after these and
    any other exception the run is marked as interrupted.
    """
    began = time.perf_counter()
    if sweep is not None:  # those of a single run were checked when it was composed
        check_settings(order.config)
    config, choices, again = resolve_parent(order.config, order.choices, order.overrides)
    paid = PaidCalls(folder)
    tracker, policy = tracker_of(config), FailurePolicy(**config.failures)
    built = build(config, choices, paid, shared)
    if again is not None:
        built.embedders.chosen = again.manifest.get("embedders", {})
    elif resume is not None and (folder / MANIFEST).is_file():
        built.embedders.chosen = load_manifest(folder).get("embedders", {})
    notes = [
        *_experiment_note(order, is_single=sweep is None),
        *without_effect(config, choices, order.overrides),
        *lower_limits(config),
    ]
    given = order.overrides if again is None else again.named(order.overrides)
    described = built.resolved(config), choices, built.dataset, built.described()
    manifest = describe(folder.name, *described, given, order.arguments)
    manifest["sweep"] = sweep
    if again is not None:
        manifest = cast(Manifest, {**manifest, **again.fields()})
        again.check(manifest, built)
    with folders.locked(folder):
        manifest = folders.begin(folder, manifest, resume)
        console.show_start(manifest, built, notes)
        runner = Runner(built, folder, config.concurrency, policy, paid)
        try:
            if again is not None:
                again.take_over(folder, built)
                runner.instead = again.jobs(built)
            records = runner.run()
            manifest = _completed(manifest, built, runner)
            summary = close(folder, manifest, records, runner.seconds, began, report_md)
        except BaseException as stop:
            if isinstance(stop, BudgetReached) and stop.enough_usd is not None:
                manifest["budget_usd"] = stop.enough_usd
            folders.interrupt(folder, manifest, runner.seconds, began)
            console.show_stop(folder, manifest, _recordings_folder(config, paid))
            raise
        console.show_end(folder, manifest, summary, records, _recordings_folder(config, paid))
    if tracker is not None:
        log_run(tracker, folder)
    failed = summary["errors"] + console.unjudged(summary)
    if not policy.is_failed(failed, summary["n"]):
        return 0
    console.show_failure(failed, summary["n"], policy.tolerated)
    return FAILED


def _completed(manifest: Manifest, built: Built, runner: Runner) -> Manifest:
    """Return the manifest with what the run has shown; a resumed run has some of it already."""
    warnings = [*manifest["warnings"], *built.models.warnings, *runner.warnings]
    formats = {**manifest.get("reply_formats", {}), **reply_formats(built.models.judge)}
    found = {
        **manifest,
        "warnings": list(dict.fromkeys(warnings)),
        "system": runner.details or manifest.get("system"),
        **({"reply_formats": formats} if formats else {}),
    }
    return cast(Manifest, found)


def _recordings_folder(config: DictConfig, paid: PaidCalls) -> str | None:
    """Return the folder where the answers of models are recorded, if any were paid for."""
    is_recorded = OmegaConf.select(config, "llm.cache") != "off"
    return config.cache if paid.added and is_recorded else None


def _experiment_note(order: Order, *, is_single: bool) -> list[str]:
    """Return a note if an experiment is named without -m, which gives one run of its sweep; none if
    all parameters of the experiment are set, as in a command that repeats one run.
    """
    name = order.choices.get("experiment")
    named = {override.partition("=")[0] for override in order.overrides}
    if name is None or not is_single or order.varied <= named:
        return []
    return [
        f"note: experiment={name} is a sweep, and this is one run of it; to run all: "
        f"python -m eval.run -m experiment={name}"
    ]
