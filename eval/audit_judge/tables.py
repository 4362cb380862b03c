"""An audit for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eval.audit_judge.corrected import ENOUGH, OVERALL, CorrectedType
from eval.audit_judge.probes import KINDS
from eval.audit_judge.statistics import Audit
from eval.stats.interval import Interval
from eval.stats.rates import Corrected, Rate

Draw = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def kinds_table(audit: Audit) -> tuple[list[str], list[list[str]]]:
    """Header and one row a kind of probe: how often the judge was wrong about it."""
    rows = []
    for one in audit.kinds:
        right, told = KINDS[one.kind]
        rows.append(
            [
                f"{one.kind} ({told})",
                "pass" if right else "reject",
                str(one.mistaken.n if one.mistaken else 0),
                str(one.errors),
                *_rate(one.mistaken),
            ]
        )
    return ["probe", "should", "n", "errors", "wrong verdicts", "Wilson 95%", "clustered"], rows


def sentences(audit: Audit) -> list[str]:
    """What else there is to tell, a sentence each."""
    told = []
    if audit.false_rejects is not None:
        share, interval, _ = _rate(audit.false_rejects)
        told.append(f"False rejects over all right probes: {share} {interval}.")
    for bare, rise in audit.lengths.items():
        told.append(
            f"Length: in a long text, {bare} passes {100 * rise.value:+.1f} points "
            f"[{100 * rise.low:+.1f}, {100 * rise.high:+.1f}] more often than bare "
            f"({rise.n} questions)."
        )
    for kind, (shorter, longer) in audit.halves.items():
        told.append(
            f"Length: {kind} passes {shorter:.1%} of its shorter half, {longer:.1%} of its longer."
        )
    for name, figure in audit.self_agreement.items():
        told.append(f"Self-agreement of {name} over its runs: Fleiss' kappa {_figure(figure)}.")
    if audit.panel is not None:
        for (one, other), figure in audit.panel.pairs.items():
            told.append(f"Agreement of {one} and {other}: Cohen's kappa {_figure(figure)}.")
        if audit.panel.all_members is not None:
            told.append(
                f"Agreement of all members: Fleiss' kappa {_figure(audit.panel.all_members)}."
            )
    return told


def corrected_table(found: Sequence[CorrectedType], name: str) -> tuple[list[str], list[list[str]]]:
    """Header and one row a type: `name` (J) as judged, and corrected under each kind of wrong."""
    kinds = list(found[0].corrected)
    rows = []
    for one in found:
        label = "overall (types 1-4)" if one.type == OVERALL else one.type
        rates = "own" if one.own_rates or one.type == OVERALL else "all types'"
        apparent = one.apparent
        low, high = max(apparent.low, 0.0), min(apparent.high, 1.0)
        rows.append(
            [
                label,
                str(apparent.n),
                f"{apparent.value:.1%} [{low:.1%}, {high:.1%}]",
                *(_corrected(one.corrected[kind]) for kind in kinds),
                rates,
            ]
        )
    return ["type", "n", name, *(f"if {kind}" for kind in kinds), "rates"], rows


def corrected_note(found: Sequence[CorrectedType], rejects_probed: bool) -> str:
    """How to read the table of corrected shares."""
    note = (
        "Rogan-Gladen estimator, 95% by the delta method with the uncertainty of both rates. Which "
        "wrong answers a system gives is not known: each column takes all of them for one kind."
    )
    if any(not one.own_rates and one.type != OVERALL for one in found):
        note += f" A type with fewer than {ENOUGH} probes of a kind takes the rates of all types."
    if not rejects_probed:
        note += " False rejects were not probed and count as none."
    if any(one and one.outside for row in found for one in row.corrected.values()):
        note += (
            " (!): the estimate (where it says impossible: all of its interval) lay outside of 0 "
            "to 1, so that J and these rates contradict."
        )
    return note


def as_json(audit: Audit, corrected: Sequence[CorrectedType]) -> dict[str, Any]:
    """All figures as plain JSON; what is not a number is null."""
    panel = audit.panel
    plain = {
        "kinds": [asdict(one) for one in audit.kinds],
        "false_rejects": None if audit.false_rejects is None else asdict(audit.false_rejects),
        "lengths": {name: asdict(one) for name, one in audit.lengths.items()},
        "halves": {name: list(pair) for name, pair in audit.halves.items()},
        "self_agreement": {name: asdict(one) for name, one in audit.self_agreement.items()},
        "panel": None
        if panel is None
        else {
            "members": {name: asdict(one) for name, one in panel.members.items()},
            "pairs": [{"members": list(pair), **asdict(one)} for pair, one in panel.pairs.items()],
            "all": None if panel.all_members is None else asdict(panel.all_members),
        },
        "corrected": [_typed(one) for one in corrected],
    }
    return _finite(plain)  # type: ignore[no-any-return]


def _typed(one: CorrectedType) -> dict[str, Any]:
    shares = {kind: None if c is None else c._asdict() for kind, c in one.corrected.items()}
    return asdict(one) | {"corrected": shares}


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rate(rate: Rate | None) -> list[str]:
    if rate is None:
        return ["-", "-", "-"]
    low, high = rate.wilson
    clustered = "-"
    if rate.clustered is not None:
        clustered = f"[{rate.clustered[0]:.1%}, {rate.clustered[1]:.1%}]"
    return [f"{rate.share:.1%}", f"[{low:.1%}, {high:.1%}]", clustered]


def _figure(figure: Interval) -> str:
    if math.isnan(figure.value):
        return f"undefined, one verdict throughout (n {figure.n})"
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}] (n {figure.n})"


def _corrected(one: Corrected | None) -> str:
    if one is None:
        return "no correction"
    if one.low == one.high:
        return "impossible (!)"  # the whole interval lay outside
    mark = " (!)" if one.outside else ""
    return f"{one.value:.1%} [{one.low:.1%}, {one.high:.1%}]{mark}"
