"""Run one composed configuration into its folder: the same for the command and for Python."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from eval.cli import FAILED
from eval.exchange.track.finished import log_run, tracker_of
from eval.judges.panel import reply_formats
from eval.records import folder as folders
from eval.records.head import head
from eval.records.manifest import describe, load_manifest, resume_command
from eval.records.prices import PaidCalls
from eval.records.run import error_of
from eval.records.schema import Cell, Manifest, Record, Summary
from eval.rendering.run_tables import as_text, how_to_read, report_md, run_tables
from eval.rendering.tables import answered, scope_note
from eval.rendering.width import command_lines, sentence
from eval.run import hydra_help
from eval.run.again import Repetition, plan
from eval.run.arguments import check_folder
from eval.run.build import Built, build, lower_limits
from eval.run.failures import FailurePolicy
from eval.run.next_steps import after_failure, after_run, in_place, show_next
from eval.run.progress import Spending
from eval.run.runner import Runner
from eval.run.settings import check_overrides, check_settings
from eval.run.unused import without_effect
from eval.summary.closing import close
from memsys.core.errors import InputError
from memsys.core.places import CONF, MANIFEST
from memsys.llm.budget import BudgetReached


def composed(arguments: Sequence[str]) -> tuple[DictConfig, dict[str, str]]:
    """Compose the configuration and the chosen options from the arguments of `eval.run`.

    Raises HydraException on an unknown option, InputError on flags other than --config-dir and on
    a setting that a run cannot use.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--config-dir")
    options, overrides = parser.parse_known_args(list(arguments))
    if flags := [one for one in overrides if one.startswith("-")]:
        raise InputError(f"{flags[0]}: a single run takes overrides and --config-dir alone")
    if options.config_dir:
        check_folder(options.config_dir)
        overrides.append(f"hydra.searchpath=[file://{Path(options.config_dir).resolve()}]")
    check_overrides(overrides)
    hydra_help.register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides, return_hydra_config=True)
    choices = options_of(config.hydra.runtime.choices)
    OmegaConf.set_struct(config, False)
    del config["hydra"]
    OmegaConf.set_struct(config, True)
    check_settings(config)
    return config, choices


def options_of(choices: Mapping[str, str | None]) -> dict[str, str]:
    """Return the chosen option of each group of memsys, without Hydra's groups, without `tracker`,
    which cannot change a result, and without `debug` unless it is chosen.
    """
    return {
        name: cast(str, option)
        for name, option in choices.items()
        if "hydra" not in name and name != "tracker" and (name != "debug" or option is not None)
    }


def execute(
    config: DictConfig,
    choices: dict[str, str],
    folder: Path,
    resume: str | int | None = None,
    overrides: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
    details: Mapping[str, Any] | None = None,
    note: str | None = None,
) -> int:
    """Build, run and close one run in `folder`, with its start and end on the terminal.

    Returns the exit code: 1 if more questions failed than `failures.tolerated` allows, else 0.

    `arguments` (None: those of this process) and `overrides` make up the manifest's command;
    `details` are further fields of the manifest; `note` is printed after the start. Raises
    InputError, BudgetReached, RepeatedFailure and KeyboardInterrupt; after these and any other
    exception the run is marked as interrupted.
    """
    began = time.perf_counter()
    check_settings(config)
    config, choices, again = plan(config, choices, overrides or arguments or ())
    if again is not None:
        overrides = again.named(overrides)
    tracker = tracker_of(config)
    policy = FailurePolicy(**config.failures)
    paid = PaidCalls(folder)
    spending = Spending(paid)
    built = build(config, choices, spending)
    _embed_as_before(built, again, folder if resume is not None else None)
    idle = list(without_effect(config, choices, overrides or arguments or ()))
    manifest = describe(
        *(folder.name, built.resolved(config), choices, built.dataset, built.described()),
        *(overrides, arguments),
    )
    manifest["sweep"] = None
    manifest.update(details or {})  # type: ignore[typeddict-item] # fields of the manifest
    if again is not None:
        again.check(manifest, built)
        manifest |= {"parent": again.described(), "retrieval": again.manifest["retrieval"]}
    with folders.locked(folder):
        manifest = folders.begin(folder, manifest, resume)
        manifest.pop("budget_usd", None)
        notes = [*([] if note is None else [note]), *idle, *lower_limits(config)]
        _show_start(manifest, built, notes)
        if manifest["retrieval"] is None:  # as of a run that is older than rankings
            built = replace(built, depth=0)
        runner = Runner(built, folder, config.concurrency, policy, spending)
        try:
            if again is not None:
                again.take_over(folder, built)
                runner.instead = again.jobs(built)
            records = runner.run()
            manifest["warnings"] = _unlike(  # a resumed run has some
                *(manifest["warnings"], built.models.warnings, runner.warnings)
            )
            manifest["system"] = runner.details or manifest.get("system")
            if formats := reply_formats(built.models.judge):
                manifest["reply_formats"] = {**manifest.get("reply_formats", {}), **formats}
            summary = close(folder, manifest, records, runner.seconds, began, report_md)
        except BaseException as stop:
            if isinstance(stop, BudgetReached) and stop.enough_usd is not None:
                manifest["budget_usd"] = stop.enough_usd
            folders.interrupt(folder, manifest, runner.seconds, began)
            _show_place(paid, config)
            print(
                "\nstopped; the records written so far remain. Resume by:\n"
                + command_lines(in_place(resume_command(manifest), folder)),
                file=sys.stderr,
            )
            raise
        _show_place(paid, config)
        _show_end(folder, manifest, summary, records)
    if tracker is not None:
        log_run(tracker, folder)
    return _code(policy, summary)


def _embed_as_before(built: Built, again: Repetition | None, resumed: Path | None) -> None:
    """Embed each conversation as the run did that is repeated in part, or resumed."""
    if again is not None:
        built.embedders.chosen = again.manifest.get("embedders", {})
    elif resumed is not None and (resumed / MANIFEST).is_file():
        built.embedders.chosen = load_manifest(resumed).get("embedders", {})


def _unlike(*lists: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(chain(*lists)))


def _without_price(built: Built) -> list[str]:
    """Return a line for each model without a price."""
    return [
        f"warning: no price is known for {model}, so its cost is unknown; give one by pricing=FILE"
        for model in built.models.unpriced
    ]


def _code(policy: FailurePolicy, summary: Summary) -> int:
    """Return the exit code of a run that has ended, after a line on stderr if it failed."""
    failed = summary["errors"] + _unjudged(summary)
    if not policy.is_failed(failed, summary["n"]):
        return 0
    how_many = (
        "every question failed"
        if failed == summary["n"]
        else f"{failed} of {summary['n']} questions failed, more than "
        f"failures.tolerated={policy.tolerated} allows"
    )
    print(f"failed: {how_many} (exit code {FAILED})", file=sys.stderr)
    return FAILED


def _unjudged(summary: Summary) -> int:
    return int(summary["by_type"]["overall"]["judge_errors"])


def _show_place(paid: PaidCalls, config: DictConfig) -> None:
    """Print where the answers of models are recorded, if any were paid for."""
    if paid.added and OmegaConf.select(config, "llm.cache") != "off":
        print(f"answers of models are recorded in {config.cache}", file=sys.stderr)


def _show_start(manifest: Manifest, built: Built, notes: Iterable[str]) -> None:
    dataset = built.dataset
    print(
        f"{manifest['strategy']} on {dataset.name}: {len(dataset.conversations)} conversations, "
        f"{len(dataset.questions)} questions"
    )
    print(sentence(head(manifest)))
    if dataset.repairs:
        print(f"{len(dataset.repairs)} repairs to the data (see repairs in the manifest)")
    warnings = (f"warning: {one}" for one in built.models.warnings)
    for line in (*notes, *_without_price(built), *warnings):
        print(sentence(line), file=sys.stderr)


def _show_end(
    folder: Path, manifest: Manifest, summary: Summary, records: Iterable[Record]
) -> None:
    """Print the tables, warnings, the first failure and the run folder; unless it is a run of a
    sweep, also how to read the tables and what to do next.
    """
    alone = manifest["sweep"] is None
    reading = how_to_read(summary) if alone else ""
    print("\n" + as_text(run_tables(summary)))
    if notes := [note for note in (reading, scope_note([summary]).strip()) if note]:
        print("\n" + "\n".join(map(sentence, notes)))
    adversarial, overall = summary["by_type"]["adversarial"], summary["by_type"]["overall"]
    if adversarial["abstained"] is not None and overall["abstained"] is not None:
        text = (
            f"Abstained on {_share(adversarial)} questions of type 5, where that is right, and on "
            f"{_share(overall)} of {answered(summary['by_type'])}, where it is a false refusal."
        )
        print("\n" + sentence(text))
    first = None
    if summary["errors"]:
        print(f"{summary['errors']} of {summary['n']} questions failed; they are in no mean")
        first = next(record for record in records if record["status"] == "error")
        print(f"the first: {first['id']}: {error_of(first)}")
    if unjudged := _unjudged(summary):
        print(f"{unjudged} answers could not be judged; they count in all scores but the judge's")
    for warning in summary["warnings"]:
        print(sentence(f"warning: {warning}"))
    print(f"\nRun folder: {folder}")
    again = [in_place(resume_command(manifest), folder)] if first or unjudged else []
    if first and summary["errors"] == summary["n"]:
        show_next(after_failure(folder, manifest, first))
    elif alone:
        show_next([*again, *after_run(folder, manifest, summary)])
    else:
        show_next(again)


def _share(cell: Cell) -> str:
    low, high = cell["abstained_ci"]
    count = cell["n"] - cell["errors"]
    return f"{cell['abstained']:.1%} [{low:.1%}, {high:.1%}] of {count}"
