"""The runs that a command orders: one, those of a sweep, or their estimates."""

from __future__ import annotations

import copy
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from eval.cli import BAD_INPUT, FAILED, heeding_termination
from eval.records import folder as folders
from eval.rendering.errors import configuration_errors, explain, one_line
from eval.run.again import resolve_parent
from eval.run.compatible import without_effect
from eval.run.composing import CONFIG, Order, composition, ordered, readable
from eval.run.experiment import execute
from eval.run.failures import LOG, RepeatedFailure, log
from eval.run.sweep import left_behind, runs, show_sweep, state
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError, complain
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
    overrides = [*options.overrides, "hydra.mode=MULTIRUN"]
    try:
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
    first = next((one for one in ended if one.code), Ended(0))
    if first.fault is not None:
        complain(f"a run of the sweep failed: {first.fault}")
        return FAILED
    return 0 if not first.code else FAILED if runs() else BAD_INPUT


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
    folder, resume, sweep = order.folder, order.config.resume, state.described
    try:
        folders.claim(folder)
        if order.config.estimate:
            folders.discard_if_empty(folder)
            _estimate(order)
            return Ended(0)
        if resume is not None and not order.is_named and sweep is None:
            resume = folder.name  # to which the configuration has resolved it
        if left := left_behind(folder):
            folders.discard_if_empty(folder)
            folder, resume = left, left.name
        return Ended(execute(order, folder, resume, sweep, state.shared))
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
        others = [one for one in order.overrides if not one.startswith("strategy=")]
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
