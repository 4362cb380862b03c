"""The judges of the answers, their verdicts and their agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from eval.metrics.stats.interval import Interval
from eval.pages.report.runs import ReportedRun
from eval.rendering.blocks import Block, Part, Table
from eval.rendering.numbers import interval, number
from eval.summary.sample import Sample

_SETTINGS = ("model", "rubric", "prompt", "prompt_sha256", "threshold")


def judges_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the judges of each run and the members of panels; None where no judge ran."""
    judged = [(run, judge) for run in runs if (judge := run.summary["judge"]) is not None]
    if not judged:
        return None
    means = [
        [
            run.label,
            judge["name"],
            judge["score"],
            f"{judge['n']:,}",
            _mean(judge),
            _settings(judge),
        ]
        for run, judge in judged
    ]
    members = [row for run, judge in judged for row in _members(run, judge)]
    parts: list[Part] = [
        Table(["run", "judge", "score", "n judged", "mean, all types", "settings"], means),
        "Share of answers that each judge passed, as the mean of its repetitions over the same "
        "answers, with the standard deviation between these:",
        Table(["run", "member", "n judged", "share passed", "repetitions", "deviation"], members),
    ]
    if agreement := [row for run, judge in judged for row in _agreement(run.label, judge)]:
        parts.append("Agreement of the members of a panel beyond chance, over all judged answers:")
        parts.append(Table(["run", "members", "n judged", "kappa"], agreement))
    parts.append(
        "Only a score called judge is J; a stand-in has another name. docs/judges.md describes the "
        "accuracy of judges."
    )
    return Block("judges", "Judges", parts)


def _mean(judge: Mapping[str, Any]) -> str:
    mean = judge["mean"]
    return interval(None if mean is None else Interval(mean, *judge["mean_ci"]))


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


def _agreement(label: str, judge: Mapping[str, Any]) -> list[list[str]]:
    if judge["agreement"] is None:
        return []
    pairs = dict(judge["agreement"]["cohen"]) | {"all (Fleiss)": judge["agreement"]["fleiss"]}
    return [[label, names, f"{judge['n']:,}", _kappa(one)] for names, one in pairs.items()]


def _kappa(one: Mapping[str, Any]) -> str:
    if one["kappa"] is None or one["ci"][0] is None:
        return number(one["kappa"])
    return interval(Interval(one["kappa"], *one["ci"]))
