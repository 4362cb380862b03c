"""The report of an audit as text or markdown, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eval.audit_judge.probes import KINDS
from eval.audit_judge.statistics import ENOUGH, OVERALL, Audit, CorrectedType
from eval.metrics.stats.agreement import CorrectedShare, Rate
from eval.metrics.stats.interval import FEWEST, Interval, scope
from eval.rendering.blocks import Table
from eval.rendering.numbers import interval, share
from eval.rendering.tables import type_name


def report(audit: Audit) -> list[str | Table]:
    """Return the table of the kinds of probes and the sentences below it."""
    return [kinds_table(audit), "\n".join(f"- {x}" for x in sentences(audit))]


def kinds_table(audit: Audit) -> Table:
    """Return the rate of wrong verdicts, a row per kind of probe."""
    rows = []
    for one in audit.kinds:
        right, description = KINDS[one.kind]
        probe = [f"{one.kind} ({description})", "pass" if right else "reject"]
        counts = [str(one.mistaken.n if one.mistaken else 0), str(one.errors)]
        rows.append([*probe, *counts, *_rate(one.mistaken)])
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
        for (one, other), kappa in audit.panel.pairs.items():
            lines.append(f"Agreement of {one} and {other}: Cohen's kappa {_kappa(kappa)}.")
        if (together := audit.panel.all_members) is not None:
            lines.append(f"Agreement of all members: Fleiss' kappa {_kappa(together)}.")
    if 0 < audit.conversations < FEWEST:
        lines.append(f"Intervals are {scope([audit.conversations])}.")
    return lines


def corrected_table(corrections: Sequence[CorrectedType], name: str) -> Table:
    """Return a row per type: `name` (J) as judged, and corrected by kind of wrong answer."""
    kinds = list(corrections[0].corrected)
    rows = []
    for one in corrections:
        apparent = interval(one.apparent, 1, share)
        shares = (_corrected(one.corrected[kind]) for kind in kinds)
        rates = "own" if one.own_rates or one.type == OVERALL else "all types'"
        rows.append([type_name(one.type), str(one.apparent.n), apparent, *shares, rates])
    return Table(["type", "n", name, *(f"if {kind}" for kind in kinds), "rates"], rows)


def corrected_note(corrections: Sequence[CorrectedType], rejects_probed: bool) -> str:
    """Return an explanation of the table of corrected shares."""
    note = (
        "Rogan-Gladen estimator, 95% by the delta method with the uncertainty of both rates. Which "
        "wrong answers a system gives is unknown: each column assumes that all are of one kind."
    )
    if any(not one.own_rates and one.type != OVERALL for one in corrections):
        note += f" A type with fewer than {ENOUGH} probes of a kind uses the rates of all types."
    if not rejects_probed:
        note += " False rejects were not probed and count as none."
    if any(one and one.outside for row in corrections for one in row.corrected.values()):
        note += (
            " (!): the estimate (impossible: the whole interval) is outside of 0 to 1, so J and "
            "these rates contradict each other."
        )
    return note


def as_json(audit: Audit, corrected: Sequence[CorrectedType]) -> dict[str, Any]:
    """Return all statistics as plain JSON; nan and infinity become null."""
    plain = asdict(audit) | {"corrected": [asdict(one) for one in corrected]}
    if (panel := audit.panel) is not None:
        plain["panel"]["pairs"] = [
            {"members": pair, **asdict(one)} for pair, one in panel.pairs.items()
        ]
        plain["panel"]["all"] = plain["panel"].pop("all_members")
    return _finite(plain)  # type: ignore[no-any-return]


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rate(rate: Rate | None) -> list[str]:
    if rate is None:
        return ["-", "-", "-"]
    both = (rate.wilson, rate.clustered)
    return [share(rate.share), *(f"[{one[0]:.1%}, {one[1]:.1%}]" if one else "-" for one in both)]


def _kappa(kappa: Interval) -> str:
    if math.isnan(kappa.value):
        return f"undefined, one verdict throughout (n {kappa.n})"
    return f"{interval(kappa)} (n {kappa.n})"


def _corrected(one: CorrectedShare | None) -> str:
    if one is None:
        return "no correction"
    if one.low == one.high:
        return "impossible (!)"  # the whole interval is outside
    mark = " (!)" if one.outside else ""
    return interval(Interval(one.value, one.low, one.high), 1, share) + mark
