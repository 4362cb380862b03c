"""Where answers are lost, with the runs that are given as each other's counterparts."""

from __future__ import annotations

from collections.abc import Sequence

from eval.diagnose.__main__ import report
from eval.diagnose.pairing import pair_with_direct, pair_with_expanded
from eval.diagnose.retrieval_vs_reading import points_lost
from eval.rendering.blocks import Block, Chart, Fold, Part
from eval.rendering.numbers import interval
from eval.rendering.section import Section, Table
from eval.rendering.svg import stacked
from eval.rendering.tables import type_name
from eval.report.runs import Reported
from eval.summary.sample import by_type
from memsys.errors import InputError

_PARTS = ("scored", "lost in retrieval", "lost in reading")


def lost(runs: Sequence[Reported]) -> Block:
    """Charts of every run, and folded away the tables of `python -m eval.diagnose`."""
    parts: list[Part] = [
        "What a type scores, what retrieval lost (what it scores less than its questions with all "
        "evidence), and what reading lost (what these fall short of a perfect score). "
        "docs/diagnose.md tells how far to believe this split."
    ]
    parts += [chart for run in runs if (chart := _chart(run)) is not None]
    for run in runs:
        direct, expanded = counterparts(run, runs)
        try:
            sections: Sequence[Section] = report(
                run.run,
                direct.run if direct else None,
                expanded.run if expanded else None,
                run.marking,
            )
        except InputError as error:
            parts.append(f"{run.label}: cannot be told ({error}).")
            continue
        told = [f"without expansion: {direct.label}"] if direct else []
        told += [f"always expanded: {expanded.label}"] if expanded else []
        name = run.label + (f" ({'; '.join(told)})" if told else "")
        parts.append(Fold(name, [_section(one) for one in sections]))
    return Block("losses", "Where answers are lost", parts)


def _section(section: Section) -> Part:
    """A sentence where there is no table to show."""
    if any(isinstance(part, Table) for part in section.parts):
        return Fold(section.title, section.parts)
    return " ".join([f"{section.title}:", *(str(part) for part in section.parts)])


def counterparts(
    run: Reported, runs: Sequence[Reported]
) -> tuple[Reported | None, Reported | None]:
    """Those of `runs` that are `run` without its expansion, and with its gate always open."""
    direct = next((other for other in runs if other is not run and _is_direct(run, other)), None)
    if direct is None:
        return None, None
    return direct, next((o for o in runs if o is not run and _is_expanded(run, o)), None)


def _is_direct(run: Reported, other: Reported) -> bool:
    try:
        pair_with_direct(run.run, other.run)
    except InputError:
        return False
    return True


def _is_expanded(run: Reported, other: Reported) -> bool:
    try:
        pair_with_expanded(run.run, other.run)
    except InputError:
        return False
    return True


def _chart(run: Reported) -> Chart | None:
    if not run.run.retrieval_known:
        return None
    drawn, lines = [], []
    for name, records in by_type(run.run.counted):
        values = [run.marking.value(record) for record in records]
        found = points_lost(records, values, run.run.seed)
        if found is None:
            continue
        parts = (found.score, found.retrieval, found.reading)
        drawn.append((type_name(name), [part.value for part in parts]))
        counts = [str(found.score.n), str(found.whole)]
        lines.append([type_name(name), *counts, *map(interval, parts)])
    if not drawn:
        return None
    title = f"{run.label}: {run.marking.score}, scored and lost"
    table = Table(["type", "n", "with all evidence", *_PARTS], lines)
    return Chart(title, stacked(title, drawn, _PARTS), table, _PARTS, bars=True)
