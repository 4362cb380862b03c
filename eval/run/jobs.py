"""The runs that a command orders: one, those of a sweep, or their estimates; each prepared, made in
its folder and closed.
"""

import copy
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval.cli import BAD_INPUT, FAILED, heeding_termination
from eval.exchange.track.finished import log_run, tracker_of
from eval.judges.panel import reply_formats
from eval.records import folder as folders
from eval.records.manifest import describe, load_manifest
from eval.records.prices import PaidCalls
from eval.records.schema import Manifest
from eval.rendering.errors import configuration_errors, explain, one_line
from eval.rendering.tables import report_md
from eval.run import console
from eval.run.again import resolve_parent
from eval.run.build import Built, build
from eval.run.compatible import lower_limits, without_effect
from eval.run.composing import CONFIG, Order, composition, ordered, readable
from eval.run.failures import LOG, FailurePolicy, RepeatedFailure, log
from eval.run.runner import Runner
from eval.run.settings import check_settings
from eval.run.sweep import left_behind, runs, show_sweep, state
from eval.summary.closing import close
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError, complain
from memsys.core.places import MANIFEST
from memsys.llm.budget import BudgetReached

_STRATEGY_SETTINGS = {"strategy", "experiment"}  # settings that name the strategies to estimate
_PHASES = {"judge": ("judge",), "answer": ("answer", "judge")}  # of a run, done again by from=
_COMPOSED = 50  # configurations of a sweep that are in memory at once


class Ended(NamedTuple):
    """The exit code of a run, and the programming error that ended it; None if none did."""

    code: int
    fault: str | None = None


def single(arguments: Sequence[str]) -> int:
    """Make the run that `arguments` order; return its exit code."""
    with configuration_errors(), ordered(arguments) as order:
        return _run(order).code


def sweep(options: Any, arguments: Sequence[str]) -> int:
    """Make the runs of a sweep, in this process or in those of a launcher."""
    state.arguments = tuple(arguments)
    try:
        overrides = [*_of_jobs(options.overrides), "hydra.mode=MULTIRUN"]
        with readable(), composition(options.config_dir) as hydra, _composed_once():
            batches = hydra.multirun(options.config_name or CONFIG, _job, overrides)
    except BrokenExecutor as error:  # joblib's launcher: it then ends its other workers too
        complain(f"{type(error).__name__}: a worker of the sweep died")
        return FAILED
    except (HydraException, OmegaConfBaseException, InputError, OSError) as error:
        if (message := explain(error)) is None:
            raise
        complain(message)
        return FAILED if runs() else BAD_INPUT
    ended: list[Ended] = [job.return_value for batch in batches for job in batch]
    if not ended:
        raise InputError(f"the sweep has no run: {' '.join(arguments)}; a glob or a range is empty")
    first = next((job for job in ended if job.code), Ended(0))
    if first.fault is not None:
        complain(f"a run of the sweep failed: {first.fault}")
        return FAILED
    return 0 if not first.code else FAILED if runs() else BAD_INPUT


def _of_jobs(overrides: Sequence[str]) -> list[str]:
    """Return the `overrides` of a sweep. A setting of a group whose options are swept, as
    strategy.k=3 beside strategy=bm25,fusion, becomes a choice of one value: others have to fit the
    group's default option, too.
    """
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    swept = {override.key_or_group for override in parsed if override.is_sweep_override()}
    texts = []
    for text, override in zip(overrides, parsed, strict=True):
        key, _, value = text.partition("=")
        group, _, setting = override.key_or_group.partition(".")
        is_shared = setting and value and group in swept and not override.is_sweep_override()
        texts.append(f"{key}=choice({value})" if is_shared else text)
    return texts


@contextmanager
def _composed_once() -> Iterator[None]:
    """Have Hydra, which composes all jobs to check them and each job again to start it in this
    process, do so once for the first _COMPOSED jobs; it takes a tenth of a second a job.
    """
    compose = ConfigLoaderImpl.load_sweep_config
    checked: dict[tuple[str, ...], DictConfig] = {}

    def once(
        loader: ConfigLoaderImpl, master_config: DictConfig, sweep_overrides: list[str]
    ) -> DictConfig:
        key = tuple(sweep_overrides)
        if key in checked:
            return checked.pop(key)
        config = compose(loader, master_config, sweep_overrides)
        if len(checked) < _COMPOSED:
            checked[key] = copy.deepcopy(config)
        return config

    ConfigLoaderImpl.load_sweep_config = once  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ConfigLoaderImpl.load_sweep_config = compose  # type: ignore[method-assign]


def _job(config: DictConfig) -> Ended:
    """Make one run of a sweep. Launchers send this function to the processes of their jobs."""
    hydra, given = HydraConfig.get(), () if state.job is None else state.job[0].arguments
    with heeding_termination():
        return _run(Order.of(config, hydra, hydra.runtime.output_dir, given))


def _run(order: Order) -> Ended:
    """Make a run, or estimate it. An exception becomes one line and an exit code: 2 for bad input,
    1 for a reached budget, for failures in a row and for a programming error, whose traceback goes
    to log.txt of the run folder. In a sweep the line names the run by its values.
    """
    named = f"{state.cell}: " if state.cell else ""
    folder, resume = order.folder, order.config.resume
    try:
        folders.claim(folder)
        if order.config.estimate:
            folders.discard_if_empty(folder)
            _estimate(order)
            return Ended(0)
        if resume is not None and not order.is_named and state.job is None:
            resume = folder.name  # to which the configuration has resolved it
        if left := left_behind(folder):
            folders.discard_if_empty(folder)
            folder, resume = left, left.name
        return Ended(execute(order, folder, resume))
    except (BudgetReached, RepeatedFailure) as error:
        complain(f"{named}{error}", "stopped")
        return Ended(FAILED)
    except Exception as error:
        if (message := explain(error)) is not None:
            folders.discard_if_empty(folder)
            complain(f"{named}{message}")
            return Ended(BAD_INPUT)
        fault = without_secrets(one_line(error))
        try:
            log(folder, traceback.format_exc())
            complain(f"{named}{fault}; traceback: {folder / LOG}")
        except InputError:
            complain(f"{named}{fault}")
        return Ended(FAILED, fault)


def execute(order: Order, folder: Path, resume: str | int | None) -> int:
    """Make the run of `order` in `folder`, with its start and end on the terminal. Returns the exit
    code: 1 if more questions failed than `failures.tolerated` allows.

    `resume`: see eval.records.folder.begin. A job of a sweep takes over what the earlier ones have
    loaded and made. Raises InputError on unusable settings or data, before anything is written, and
    BudgetReached, RepeatedFailure and KeyboardInterrupt; after these and any other exception the
    run is marked as interrupted.
    """
    began, sweep_job = time.perf_counter(), state.described
    if sweep_job is not None:  # those of a single run were checked when it was composed
        check_settings(order.config)
    config, choices, again = resolve_parent(order.config, order.choices, order.overrides)
    paid = PaidCalls(folder)
    tracker, policy = tracker_of(config), FailurePolicy(**config.failures)
    built = build(config, choices, paid, state.shared)
    if again is not None:
        built.embedders.fallback_of = again.manifest.get("embedders", {})
    elif resume is not None and (folder / MANIFEST).is_file():
        built.embedders.fallback_of = load_manifest(folder).get("embedders", {})
    notes = [
        *_experiment_note(order, is_single=sweep_job is None),
        *without_effect(config, choices, order.overrides),
        *lower_limits(config),
    ]
    given = order.overrides if again is None else again.named(order.overrides)
    described = built.resolved(config), choices, built.dataset, built.described()
    manifest = describe(folder.name, *described, given, order.arguments)
    manifest["sweep"] = sweep_job
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
    completed = {
        **manifest,
        "warnings": list(dict.fromkeys(warnings)),
        "system": runner.details or manifest.get("system"),
        **({"reply_formats": formats} if formats else {}),
    }
    return cast(Manifest, completed)


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


def _estimate(order: Order) -> None:
    """Estimate this run (with `from=`, the part of another that is done again), or every strategy
    if a single run names none. A sweep shows one table at its end, but for jobs in other processes,
    each of which shows its own.
    """
    from eval.run import estimate  # noqa: PLC0415 - a run needs none of it

    config, choices, again = resolve_parent(order.config, order.choices, order.overrides)
    names = {override.lstrip("+~").partition("=")[0] for override in order.overrides}
    if (
        state.described
        or again
        or any(name.partition(".")[0] in _STRATEGY_SETTINGS for name in names)
    ):
        others = [override for override in order.overrides if not override.startswith("strategy=")]
        for note in without_effect(config, choices, order.overrides):
            print(note, file=sys.stderr)
        phases = _PHASES.get(again.part) if again else None
        estimate.add_estimate(config, choices["strategy"], others, phases)
    else:
        estimate.add_every_strategy(config)
    if state.in_a_worker:
        estimate.show_estimates()


def show_end() -> None:
    """Show at the end the runs of a sweep, and the table of estimates, if there were any."""
    show_sweep()
    if estimate := sys.modules.get("eval.run.estimate"):
        estimate.show_estimates()
