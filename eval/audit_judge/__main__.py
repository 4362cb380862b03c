"""`python -m eval audit_judge judge=...`: measure a judge on answers with a known verdict."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval.audit_judge.probes import KINDS, Probe, make_probes, published_answers, published_files
from eval.audit_judge.statistics import (
    ENOUGH,
    Audit,
    CorrectedType,
    as_json,
    audit,
    correct,
    judge_probes,
    judged_records,
)
from eval.cli import code_of
from eval.cli import parser as command_parser
from eval.datasets.types import Dataset
from eval.judges.judge import Judge
from eval.judges.recorded import RecordedJudge, RecordedSettings, read_judged
from eval.metrics.stats.agreement import Rate
from eval.metrics.stats.interval import FEWEST, Interval, scope
from eval.records.files import write_json
from eval.records.run import load_run
from eval.rendering.blocks import Table
from eval.rendering.errors import blame
from eval.rendering.numbers import interval, share
from eval.rendering.tables import as_text, type_name
from eval.summary.closing import check_empty
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, check_whole
from memsys.core.places import CONF, cache_folder
from memsys.llm.base import LLM
from memsys.llm.budget import Budget, BudgetReached
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.pricing import load_pricing
from memsys.llm.recording import Recording

_PUBLISHED = "published wrong answers (dial481/locomo-audit)"
_OF_A_MODEL = 50  # probes of each kind that a model is asked by default


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit and print; return exit code 2 for invalid input, 130 after Ctrl-C."""
    parser = command_parser(
        "audit_judge",
        description="Measure a judge on answers whose verdict is known. Settings are those of "
        "eval.run (dataset, judge, llm) and of conf/audit_judge.yaml.",
        epilog="example: judge=llm judge.runs=3 llm=openai dataset=locomo limit=50 run=RUN out=DIR",
    )
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE")
    return code_of(lambda: _run(parser.parse_args(arguments).settings))


def _run(settings: Sequence[str]) -> None:
    OmegaConf.register_new_resolver("memsys_cache", lambda: str(cache_folder()), replace=True)
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config = compose("audit_judge", overrides=list(settings))
        _audit(config, settings)
    except Exception as error:
        message = str(error) if isinstance(error, BudgetReached) else blame(error)
        if message is None:
            raise
        raise InputError(message) from error


def _audit(config: DictConfig, settings: Sequence[str]) -> None:
    folder = None if config.out is None else Path(config.out).expanduser()
    if folder is not None:
        check_empty(folder, "out")
    if config.limit is not None:
        check_whole("limit (null: none)", config.limit)
    dataset = instantiate(config.dataset).load()
    paths = published_files(config.probes)
    judge, workers, limit = _open(config, list(paths.values()))
    records, judged_by = [], ""
    if config.run is not None:
        run = load_run(config.run, complete=False, answered=False)
        records = judged_records(run, judge.score_key)
        named, models = run.manifest["judge"] or {}, run.manifest["models"]
        judged_by = named.get("name") or models.get("judge") or "unknown"
    probes, origin = _probes(config, judge, limit, dataset, paths)
    details = ", ".join(f"{name} {value}" for name, value in judge.details.items())
    print(f"judge: {judge.name} ({details})")
    print(f"probes: {len(probes):,} over {dataset.name}; {origin}\n")
    outcomes = judge_probes(judge, probes, workers)
    audited = audit(outcomes, config.seed)
    parts: list[str | Table] = [kinds_table(audited)]
    parts.append("\n".join(f"- {x}" for x in sentences(audited)))
    corrected = correct(records, judge.score_key, outcomes, config.seed) if records else []
    if corrected:
        name = "J" if judge.score_key == "judge" else judge.score_key
        other = "" if judged_by == judge.name else "; check that they are one judge"
        parts += [
            f"{name} of {config.run}, judged by {judged_by}, audited {judge.name}{other}:",
            corrected_table(corrected, name),
            corrected_note(corrected, rejects_probed=audited.false_rejects is not None),
        ]
    print(as_text(parts, text=str))
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if failed:
        print(f"\nErrors, in no rate: {len(failed):,} of {len(outcomes):,}: {failed[0].error}")
    if folder is not None:
        facts = {"judge": judge.name, "details": dict(judge.details), "dataset": dataset.name}
        facts |= {"settings": list(settings), "wrong_answers": origin, "run": config.run}
        title = f"# Audit of {judge.name} on {dataset.name}\n\n{details}\n\n"
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "audit.json", facts | as_json(audited, corrected))
        (folder / "audit.md").write_text(
            title + as_text(parts, Table.markdown, str) + "\n", encoding="utf-8"
        )
        print(f"\nWritten: {folder}/audit.json, audit.md")


def _open(config: DictConfig, paths: Sequence[Path]) -> tuple[Judge, int, int | None]:
    """Return the judge of `config`, the number of probes it is asked at once, and the limit of each
    kind; `paths`: published answers, the default of judge=recorded.
    """
    settings = instantiate(config.judge)
    if isinstance(settings, RecordedSettings) and settings.path is None:
        if not paths:
            raise InputError(
                "judge=recorded: no verdicts on published probes here; set probes to a folder "
                "with ap_wrong_v1.jsonl.gz and ap_wrong_v2.jsonl.gz"
            )
        answers = [answer for path in paths for answer in read_judged(path)]
        return RecordedJudge("published probes", answers), 1, config.limit
    if not settings.needs_llm:
        judge = settings.open(None)
        if judge is None:
            raise InputError("judge=none: there is no judge to audit; set judge")
        return judge, 1, config.limit
    if isinstance(config.judge_llm, str):  # a renamed group is selected by group@name
        name = config.judge_llm
        raise InputError(f"judge_llm={name}: choose the judging model by llm@judge_llm={name}")
    model = instantiate(config.judge_llm)
    if isinstance(model, NoModel):
        model = instantiate(config.llm)
    recording, meter = Recording(config.cache, model.cache), Meter()
    budget = None if model.budget_usd is None else Budget(model.budget_usd, load_pricing())

    def named(name: str) -> LLM:
        other: LLM = replace(model, model=name).open(recording, meter, budget)
        return other

    llm = model.open(recording, meter, budget)
    workers = model.concurrency if isinstance(model, ChatSettings) else 1
    return settings.open(llm, named), workers, config.limit or _OF_A_MODEL


def _probes(
    config: DictConfig, judge: Judge, limit: int | None, dataset: Dataset, paths: Mapping[str, Path]
) -> tuple[list[Probe], str]:
    if all(question.gold is None for question in dataset.questions):
        raise InputError(
            f"dataset={dataset.name}: has no gold answers, of which probes are made; use another"
        )
    answers = published_answers(paths, dataset)
    by_rule = not isinstance(judge, RecordedJudge)  # it has verdicts on no other answers
    if not answers and not by_rule:
        raise InputError(
            f"judge=recorded: no recorded verdicts on answers to {dataset.name}; set dataset=locomo"
        )
    origin = _PUBLISHED if answers else "wrong answers generated by rule"
    probes = make_probes(dataset.questions, answers, limit, config.seed, by_rule=by_rule)
    return probes, origin


def kinds_table(audit: Audit) -> Table:
    """Return the rate of wrong verdicts, a row per kind of probe."""
    rows = []
    for kind in audit.kinds:
        right, description = KINDS[kind.kind]
        probe = [f"{kind.kind} ({description})", "pass" if right else "reject"]
        counts = [str(kind.mistaken.n if kind.mistaken else 0), str(kind.errors)]
        rows.append([*probe, *counts, *_rate(kind.mistaken)])
    header = ["probe", "should", "n", "errors", "wrong verdicts", "Wilson 95%", "clustered"]
    return Table(header, rows)


def sentences(audit: Audit) -> list[str]:
    """Return false rejects, effects of length and agreement, one sentence each."""
    lines = []
    if audit.false_rejects is not None:
        rejected, wilson, _ = _rate(audit.false_rejects)
        lines.append(f"False rejects over all right probes: {rejected} {wilson}.")
    for bare, rise in audit.lengths.items():
        lines.append(
            f"Length: in a long text, {bare} passes {100 * rise.value:+.1f} points "
            f"[{100 * rise.low:+.1f}, {100 * rise.high:+.1f}] more often than bare "
            f"({rise.n} questions)."
        )
    for kind, (shorter, longer) in audit.halves.items():
        halves = f"{shorter:.1%} of its shorter half, {longer:.1%} of its longer"
        lines.append(f"Length: {kind} passes {halves}.")
    for name, kappa in audit.self_agreement.items():
        lines.append(f"Self-agreement of {name} over its runs: Fleiss' kappa {_kappa(kappa)}.")
    if audit.panel is not None:
        for (member, other), kappa in audit.panel.pairs.items():
            lines.append(f"Agreement of {member} and {other}: Cohen's kappa {_kappa(kappa)}.")
        if (together := audit.panel.all_members) is not None:
            lines.append(f"Agreement of all members: Fleiss' kappa {_kappa(together)}.")
    if 0 < audit.conversations < FEWEST:
        lines.append(f"Intervals are {scope([audit.conversations])}.")
    return lines


def corrected_table(corrections: Sequence[CorrectedType], name: str) -> Table:
    """Return a row per type: `name` (J) as judged, and corrected by kind of wrong answer."""
    kinds = list(corrections[0].corrected)
    rows = []
    for row in corrections:
        apparent = interval(row.apparent, 1, share)
        shares = []
        for estimate in (row.corrected[kind] for kind in kinds):
            if estimate is None or estimate.low == estimate.high:  # the whole interval is outside
                shares.append("impossible (!)" if estimate else "no correction")
            else:
                text = interval(Interval(estimate.value, estimate.low, estimate.high), 1, share)
                shares.append(text + " (!)" * estimate.outside)
        rates = "own" if row.own_rates or row.type == OVERALL else "all types'"
        rows.append([type_name(row.type), str(row.apparent.n), apparent, *shares, rates])
    return Table(["type", "n", name, *(f"if {kind}" for kind in kinds), "rates"], rows)


def corrected_note(corrections: Sequence[CorrectedType], rejects_probed: bool) -> str:
    """Return an explanation of the table of corrected shares."""
    note = (
        "Rogan-Gladen estimator, 95% by the delta method with the uncertainty of both rates. Which "
        "wrong answers a system gives is unknown: each column assumes that all are of one kind."
    )
    if any(not row.own_rates and row.type != OVERALL for row in corrections):
        note += f" A type with fewer than {ENOUGH} probes of a kind uses the rates of all types."
    if not rejects_probed:
        note += " False rejects were not probed and count as none."
    if any(value and value.outside for row in corrections for value in row.corrected.values()):
        note += (
            " (!): the estimate (impossible: the whole interval) is outside of 0 to 1, so J and "
            "these rates contradict each other."
        )
    return note


def _rate(rate: Rate | None) -> list[str]:
    if rate is None:
        return ["-", "-", "-"]
    both = (rate.wilson, rate.clustered)
    return [share(rate.share), *(f"[{ci[0]:.1%}, {ci[1]:.1%}]" if ci else "-" for ci in both)]


def _kappa(kappa: Interval) -> str:
    if math.isnan(kappa.value):
        return f"undefined, one verdict throughout (n {kappa.n})"
    return f"{interval(kappa)} (n {kappa.n})"


if __name__ == "__main__":
    sys.exit(main())
