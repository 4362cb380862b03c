"""`python -m eval.audit_judge judge=...`: probe a judge before its verdicts are believed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hydra import compose, initialize_config_module
from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.audit_judge.corrected import CorrectedType, correct, read_run
from eval.audit_judge.measure import Outcome, measure
from eval.audit_judge.probes import Probe, given_probes, make_probes
from eval.audit_judge.published import files, published, verdicts
from eval.audit_judge.statistics import Audit, audit
from eval.audit_judge.tables import (
    Draw,
    as_json,
    corrected_note,
    corrected_table,
    kinds_table,
    sentences,
)
from eval.cli import BAD_INPUT, INTERRUPTED
from eval.datasets.types import Dataset
from eval.judges.base import Judge
from eval.judges.recorded import Recorded, RecordedSettings
from eval.records.jsonl import write_json
from eval.records.manifest import load_manifest
from eval.records.schema import Record
from eval.rendering.tables import markdown, plain
from eval.run.sweep_errors import blame
from memsys.errors import InputError
from memsys.llm.base import LLM
from memsys.llm.budget import Budget, BudgetReached
from memsys.llm.client import NoModel
from memsys.llm.meter import Meter
from memsys.llm.pricing import load_pricing
from memsys.llm.recording import Recording

_PUBLISHED = "published wrong answers (dial481/locomo-audit)"
_OF_A_MODEL = 50  # probes of a kind where nobody said how many


class Opened(NamedTuple):
    """The judge, how many probes it may be asked at once, and how many of a kind."""

    judge: Judge
    workers: int
    limit: int | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit and print; exit code 2 for wrong input, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.audit_judge",
        description="Probe a judge with answers whose verdict is known. Settings are those of "
        "eval.run (dataset, judge, llm) and of conf/audit_judge.yaml.",
        epilog="example: judge=llm judge.runs=3 llm=openai dataset=locomo limit=50 run=RUN out=DIR",
    )
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE")
    settings = parser.parse_args(arguments).settings
    try:
        with initialize_config_module("conf", version_base="1.3"):
            config = compose("audit_judge", overrides=list(settings))
        _audit(config, settings)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        message = str(error) if isinstance(error, BudgetReached) else blame(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _audit(config: DictConfig, settings: Sequence[str]) -> None:
    folder = _new_folder(config.out)
    if config.limit is not None and (type(config.limit) is not int or config.limit < 1):
        raise InputError(f"limit={config.limit}: must be 1 or more, or null")
    dataset = instantiate(config.dataset).load()
    paths = files(config.probes)
    opened = _open(config, list(paths.values()))
    judge = opened.judge
    records, judged_by = _run(config.run, judge.score_key)
    probes, origin = _probes(config, opened, dataset, paths)
    print(f"judge: {judge.name} ({_told(judge.details)})")
    print(f"probes: {len(probes):,} over {dataset.name}; {origin}\n")
    outcomes = measure(judge, probes, opened.workers)
    found = audit(outcomes, config.seed)
    corrected = correct(records, judge.score_key, outcomes, config.seed) if records else []
    print(_report(found, plain))
    name = "J" if judge.score_key == "judge" else judge.score_key
    other = "" if judged_by == judge.name else "; check that they are one judge"
    whose = f"{name} of {config.run}, judged by {judged_by}, audited {judge.name}{other}:"
    if corrected:
        print("\n" + _corrected(found, corrected, name, whose, plain))
    _show_errors(outcomes)
    if folder is not None:
        told = {"judge": judge.name, "details": dict(judge.details), "dataset": dataset.name}
        told |= {"settings": list(settings), "wrong_answers": origin, "run": config.run}
        title = f"# Audit of {judge.name} on {dataset.name}\n\n{_told(judge.details)}\n\n"
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "audit.json", told | as_json(found, corrected))
        report = title + _report(found, markdown)
        if corrected:
            report += "\n\n" + _corrected(found, corrected, name, whose, markdown)
        (folder / "audit.md").write_text(report + "\n", encoding="utf-8")
        print(f"\nWritten: {folder}/audit.json, audit.md")


def _open(config: DictConfig, paths: Sequence[Path]) -> Opened:
    """The judge of `config`; recorded verdicts are by default those of the published probes."""
    settings = instantiate(config.judge)
    if isinstance(settings, RecordedSettings) and settings.path is None:
        if not paths:
            raise InputError(
                "judge=recorded: no verdicts on published probes here; set probes to a folder "
                "with ap_wrong_v1.jsonl.gz and ap_wrong_v2.jsonl.gz"
            )
        return Opened(Recorded("published probes", verdicts(paths)), 1, config.limit)
    if not settings.needs_llm:
        judge = settings.open(None)
        if judge is None:
            raise InputError("judge=none: there is no judge to audit; set judge")
        return Opened(judge, 1, config.limit)
    if isinstance(config.judge_llm, str):  # a group under another name is chosen by both
        given = config.judge_llm
        raise InputError(f"judge_llm={given}: choose the judging model by llm@judge_llm={given}")
    model = instantiate(config.judge_llm)
    if isinstance(model, NoModel):
        model = instantiate(config.llm)
    recording, meter = Recording(config.cache, model.cache), Meter()
    budget = None if model.budget_usd is None else Budget(model.budget_usd, load_pricing())

    def named(name: str) -> LLM:
        other: LLM = replace(model, model=name).open(recording, meter, budget)
        return other

    llm = model.open(recording, meter, budget)
    workers = getattr(model, "concurrency", 1)
    return Opened(settings.open(llm, named), workers, config.limit or _OF_A_MODEL)


def _probes(
    config: DictConfig, opened: Opened, dataset: Dataset, paths: Mapping[str, Path]
) -> tuple[list[Probe], str]:
    given = published(paths, dataset)
    if isinstance(opened.judge, Recorded):  # has verdicts on nothing else
        if not given:
            raise InputError(
                f"judge=recorded: no recorded verdicts on answers to {dataset.name}; set "
                "dataset=locomo"
            )
        return given_probes(dataset.questions, given, opened.limit, config.seed), _PUBLISHED
    origin = _PUBLISHED if given else "wrong answers made by rule"
    return make_probes(dataset.questions, given, opened.limit, config.seed), origin


def _run(name: str | None, score_key: str) -> tuple[list[Record], str]:
    """The judged records of a run folder and who judged them, as its manifest says."""
    if name is None:
        return [], ""
    records = read_run(Path(name), score_key)
    judge = load_manifest(Path(name)).get("models", {}).get("judge") or "unknown"
    return records, str(judge.get("name")) if isinstance(judge, dict) else str(judge)


def _report(found: Audit, draw: Draw) -> str:
    return draw(*kinds_table(found)) + "\n\n" + "\n".join(f"- {x}" for x in sentences(found))


def _corrected(
    found: Audit, corrected: Sequence[CorrectedType], name: str, whose: str, draw: Draw
) -> str:
    note = corrected_note(corrected, rejects_probed=found.false_rejects is not None)
    return "\n\n".join([whose, draw(*corrected_table(corrected, name)), note])


def _show_errors(outcomes: Sequence[Outcome]) -> None:
    failed = [one for one in outcomes if one.error is not None]
    if failed:
        print(f"\nErrors, in no rate: {len(failed):,} of {len(outcomes):,}: {failed[0].error}")


def _told(details: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in details.items())


def _new_folder(name: str | None) -> Path | None:
    if name is None:
        return None
    folder = Path(name).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"out={name}: is there already and not empty; name another folder")
    return folder


if __name__ == "__main__":
    sys.exit(main())
