"""The headline, the scores by question type, and the judges that gave them."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from eval.metrics.evidence import RECORDED
from eval.metrics.stats.interval import Interval
from eval.pages.report.runs import ReportedRun, looks_of
from eval.records.head import heads
from eval.rendering.blocks import Block, Chart, Part, Section, Table
from eval.rendering.charts import dots
from eval.rendering.numbers import interval, number, percent
from eval.rendering.tables import answered, by_run, interval_of, run_tables, scope_of, type_name
from eval.summary.sample import Sample
from eval.summary.subset_score import estimate_sentences

_OF_RANKINGS = tuple((name, name) for name in RECORDED)
_FIT = 11  # columns of a table, most of them with intervals, in a window of 1280 pixels
_DISPENSABLE = ("BLEU-1", "retrieve p95 ms", "n, type 5")  # from the headline, if it is too wide
_SCORES = (("f1", "F1"), ("judge", "judge"), ("evidence_recall", "evidence recall"))
_SETTINGS = ("model", "rubric", "prompt", "prompt_sha256", "threshold")


def headline_block(runs: Sequence[ReportedRun], conclusions: Sequence[str]) -> Block:
    """Return a table of all runs, the `conclusions` or one run's means, and all warnings."""
    table = by_run([(run.label, run.summary) for run in runs]).filled()
    kept = list(range(len(table.header)))  # as many columns as fit a page
    for name in (*_DISPENSABLE, *reversed(table.header)):
        if len(kept) > _FIT:
            kept = [i for i in kept if table.header[i] != name]
    header, *rows = ([row[i] for i in kept] for row in (table.header, *table.rows))
    shown = Table(header, rows)
    parts: list[Part] = [*heads([(run.label, run.manifest) for run in runs]), shown]
    parts.append(
        f"Scores of {answered(runs[0].summary['by_type'])}, unless another type is named. In "
        f"brackets: 95% intervals {scope_of(run.summary for run in runs)}. Failed questions "
        "count in n and in no mean."
    )
    parts += [_sentence(runs[0])] if len(runs) == 1 else conclusions
    parts += [
        f"{run.label} on {estimate}" for run in runs for estimate in estimate_sentences(run.summary)
    ]
    if len(shown.header) < len(table.header):
        parts.append(Section("All columns", [table]))
    parts += [
        f"Warning, {run.label}: {warning}" for run in runs for warning in run.summary["warnings"]
    ]
    return Block("headline", "Headline", parts)


def types_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return charts of each score by question type, then the tables of each run that has answers;
    None where there is neither.
    """
    parts: list[Part] = [
        _chart(runs, column, name)
        for column, name in _SCORES
        if any(run.overall[column] is not None for run in runs)
    ]
    with_answers = [run for run in runs if run.has_answers]
    if any(run.summary["by_type"]["adversarial"]["n"] for run in with_answers):
        parts.append(
            "LoCoMo's F1 of the adversarial type is the official phrase match; abstention is in "
            "the headline and in the error analysis."
        )
    if len(runs) == 1:
        parts += run_tables(runs[0].summary) if with_answers else ()
    else:
        parts += [
            Section(f"{run.label}: every score by type", list(run_tables(run.summary)))
            for run in with_answers
        ]
    if not parts:
        return None
    if without := [run.label for run in runs if not run.has_answers]:
        parts.append(f"No answers: {', '.join(without)}.")
    return Block("types", "Scores by question type", parts)


def _sentence(run: ReportedRun) -> str:
    overall, adversarial = run.overall, run.summary["by_type"]["adversarial"]
    means = [
        f"{name} {interval(mean)}"
        for column, name in (*_SCORES, *(() if run.has_answers else _OF_RANKINGS))
        if (mean := interval_of(overall, column)) is not None
    ]
    if (tokens := interval_of(overall, "context_tokens_mean")) is not None:
        means.append(f"context tokens {interval(tokens, 0)}")
    n, means_text = overall["n"] - overall["errors"], ", ".join(means) or "no score"
    of = f"{overall['n']:,} questions of {answered(run.summary['by_type'])}"
    if not run.has_answers:
        return (
            f"{run.label} on {run.summary['dataset']}: no answers, only its ranking; {means_text}, "
            f"means of those with evidence among {n:,} of {of}."
        )
    sentence = (
        f"{run.label} on {run.summary['dataset']}: {means_text}, mean of the {n:,} answered of {of}"
    )
    if (abstained := interval_of(adversarial, "abstained")) is not None:
        sentence += f"; abstained on {percent(abstained)} of {abstained.n:,} of type 5"
    return f"{sentence}."


def _chart(runs: Sequence[ReportedRun], column: str, name: str) -> Chart:
    rows, lines, looks = [], [], looks_of(runs)
    types = runs[0].summary["by_type"]
    for type_ in types:
        cells = [run.summary["by_type"][type_] for run in runs]
        values = [interval_of(cell, column) for cell in cells]
        if any(values):
            where = type_name(type_, types)
            rows.append((where, values))
            for run, cell, value in zip(runs, cells, values, strict=True):
                lines.append([where, run.label, str(cell["n"] - cell["errors"]), interval(value)])
    caption = f"{name} by question type, 95% interval"
    svg = dots(caption, rows, looks, name, shares=True)
    by_run = zip(*(values for _, values in rows), strict=True)
    legend = [look for look, of_run in zip(looks, by_run, strict=True) if any(of_run)]
    return Chart(caption, svg, Table(["type", "run", "n answered", name], lines), legend)


def judges_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the judges of each run and the members of panels; None where no judge ran."""
    judged = [(run, judge) for run in runs if (judge := run.summary["judge"]) is not None]
    if not judged:
        return None
    members = [row for run, judge in judged for row in _members(run, judge)]
    parts: list[Part] = [
        Table.of(
            judged,
            {
                "run": lambda one: one[0].label,
                "judge": lambda one: one[1]["name"],
                "score": lambda one: one[1]["score"],
                "n judged": lambda one: f"{one[1]['n']:,}",
                "mean, all types": lambda one: interval_of(one[1], "mean"),
                "settings": lambda one: _settings(one[1]),
            },
        ),
        "Share of answers that each judge passed, as the mean of its repetitions over the same "
        "answers, with the standard deviation between these:",
        Table(["run", "member", "n judged", "share passed", "repetitions", "deviation"], members),
    ]
    agreement_rows = []
    for run, judge in judged:
        agreement = judge["agreement"] or {"cohen": {}}
        pairs = agreement["cohen"] | (
            {"all (Fleiss)": agreement["fleiss"]} if "fleiss" in agreement else {}
        )
        for names, one in pairs.items():
            has_interval = one["kappa"] is not None and one["ci"][0] is not None
            kappa = (
                interval(Interval(one["kappa"], *one["ci"]))
                if has_interval
                else number(one["kappa"])
            )
            agreement_rows.append([run.label, names, f"{judge['n']:,}", kappa])
    if agreement_rows:
        parts.append("Agreement of the members of a panel beyond chance, over all judged answers:")
        parts.append(Table(["run", "members", "n judged", "kappa"], agreement_rows))
    parts.append(
        "Only a score called judge is J; a stand-in has another name. docs/judges.md describes the "
        "accuracy of judges."
    )
    return Block("judges", "Judges", parts)


def _settings(judge: Mapping[str, Any]) -> str:
    settings = [f"{name} {judge[name]}" for name in _SETTINGS if judge.get(name) is not None]
    return ", ".join(settings) or "see the manifest"


def _members(run: ReportedRun, judge: Mapping[str, Any]) -> list[list[str]]:
    records = [one for one in run.records.values() if one["status"] == "ok" and one["judge"]]
    rows = []
    for name, member in judge["members"].items():
        shares = [fmean((record["judge"] or {})[name]) for record in records]
        passed = interval(Sample.of(records, shares, run.seed).score())
        deviation = number(member["deviation"], 4)
        count, repetitions = f"{len(records):,}", str(len(member["runs"]))
        rows.append([run.label, name, count, passed, repetitions, deviation])
    return rows
