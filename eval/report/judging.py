"""Who judged the answers, what the judges found, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from eval.rendering.blocks import Block, Part
from eval.rendering.numbers import interval
from eval.rendering.section import Table
from eval.report.runs import Reported
from eval.summary.sample import Sample

_TOLD = ("model", "rubric", "prompt", "prompt_sha256", "threshold")  # of what a judge is


def judging(runs: Sequence[Reported]) -> Block | None:
    """The judges of each run by member of a panel; None where nobody of this project judged."""
    found = {run.label: judge for run in runs if (judge := run.summary["judge"]) is not None}
    if not found:
        return None
    means = [
        [label, told["name"], told["score"], f"{told['n']:,}", _mean(told), _settings(told)]
        for label, told in found.items()
    ]
    members = [row for run in runs if run.label in found for row in _members(run, found[run.label])]
    parts: list[Part] = [
        Table(["run", "judge", "score", "n judged", "mean, all types", "settings"], means),
        "What each judge passed, the mean of its runs over the same answers, and the standard "
        "deviation between these runs:",
        Table(["run", "member", "n judged", "share passed", "runs", "deviation"], members),
    ]
    agreed = [row for label, told in found.items() for row in _agreement(label, told)]
    if agreed:
        parts.append("Agreement of the members of a panel beyond chance, over all answers judged:")
        parts.append(Table(["run", "members", "n judged", "kappa"], agreed))
    parts.append(
        "Only a score called judge is J; a stand-in has a name of its own. How far to believe a "
        "judge: docs/judges.md."
    )
    return Block("judges", "Judges", parts)


def _mean(told: Mapping[str, Any]) -> str:
    if told["mean"] is None:
        return "-"
    low, high = told["mean_ci"]
    return f"{told['mean']:.3f} [{low:.3f}, {high:.3f}]"


def _settings(told: Mapping[str, Any]) -> str:
    known = [f"{name} {told[name]}" for name in _TOLD if told.get(name) is not None]
    return ", ".join(known) or "see the manifest"


def _members(run: Reported, judge: Mapping[str, Any]) -> list[list[str]]:
    answered = [record for record in run.records.values() if record["status"] == "ok"]
    rows = [record for record in answered if record["judge"]]
    found = []
    for name, told in judge["members"].items():
        shares = [fmean((record["judge"] or {})[name]) for record in rows]
        share = interval(Sample.of(rows, shares, run.run.seed).score())
        deviation = "-" if told["deviation"] is None else f"{told['deviation']:.4f}"
        found.append([run.label, name, f"{len(rows):,}", share, str(len(told["runs"])), deviation])
    return found


def _agreement(label: str, told: Mapping[str, Any]) -> list[list[str]]:
    if told["agreement"] is None:
        return []
    pairs = dict(told["agreement"]["cohen"]) | {"all (Fleiss)": told["agreement"]["fleiss"]}
    return [[label, names, f"{told['n']:,}", _kappa(one)] for names, one in pairs.items()]


def _kappa(one: Mapping[str, Any]) -> str:
    if one["kappa"] is None:
        return "-"
    low, high = one["ci"]
    shown = f"{one['kappa']:.3f}"
    return shown if low is None else f"{shown} [{low:.3f}, {high:.3f}]"
