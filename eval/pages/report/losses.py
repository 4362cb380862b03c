"""Error analysis: scores lost in retrieval and in reading, by run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eval.analyse.diagnose.__main__ import report
from eval.analyse.diagnose.pairing import pair_with_direct, pair_with_expanded
from eval.analyse.diagnose.retrieval_vs_reading import points_lost
from eval.pages.report.runs import ReportedRun
from eval.records.run import Run
from eval.rendering.blocks import Block, Chart, Fold, Part, Section, Table
from eval.rendering.charts import stacked
from eval.rendering.numbers import interval
from eval.rendering.tables import type_name
from eval.summary.measures import types_of
from eval.summary.sample import by_type
from memsys.core.errors import InputError

_PARTS = ("scored", "lost in retrieval", "lost in reading")


def losses_block(runs: Sequence[ReportedRun]) -> Block:
    """Return a chart of each run and, folded, the tables of `python -m eval diagnose`."""
    parts: list[Part] = []
    if any(run.has_answers for run in runs):
        parts.append(
            "The score of each type, the loss in retrieval (its distance from the score of the "
            "questions with all evidence retrieved) and the loss in reading (the distance of these "
            "from a perfect score). docs/diagnose.md describes the limits of this split."
        )
    parts += [chart for run in runs if (chart := _chart(run)) is not None]
    for run in runs:
        direct, expanded = counterparts(run, runs)
        try:
            sections = report(run, direct, expanded, run.marking)
        except InputError as error:
            parts.append(f"{run.label}: no error analysis ({error}).")
            continue
        against = [f"without expansion: {direct.label}"] if direct else []
        against += [f"always expanded: {expanded.label}"] if expanded else []
        name = run.label + (f" ({'; '.join(against)})" if against else "")
        parts.append(Fold(name, [_section(one) for one in sections]))
    return Block("losses", "Error analysis", parts)


def _section(section: Section) -> Part:
    """Return the section as a fold, or as a sentence if it has no table."""
    if any(isinstance(part, Table) for part in section.parts):
        return Fold(section.title, section.parts)
    return " ".join([f"{section.title}:", *(str(part) for part in section.parts)])


def counterparts(run: Run, runs: Sequence[Run]) -> tuple[Run | None, Run | None]:
    """Return the one of `runs` that is `run` without expansion, and the one with an open gate."""
    direct = _first(pair_with_direct, run, runs)
    return direct, direct and _first(pair_with_expanded, run, runs)


def _first(pair: Callable[[Run, Run], object], run: Run, runs: Sequence[Run]) -> Run | None:
    """Return the first other run that `pair` accepts."""
    for other in runs:
        if other is not run:
            try:
                pair(run, other)
            except InputError:
                continue
            return other
    return None


def _chart(run: ReportedRun) -> Chart | None:
    if not run.retrieval_known:
        return None
    bars, lines, types = [], [], types_of([run])
    for name, records in by_type(run.counted):
        values = [run.marking.value(record) for record in records]
        loss = points_lost(records, values, run.seed)
        if loss is None:
            continue
        parts = (loss.score, loss.retrieval, loss.reading)
        bars.append((type_name(name, types), [part.value for part in parts]))
        counts = [str(loss.score.n), str(loss.whole)]
        lines.append([type_name(name, types), *counts, *map(interval, parts)])
    if not bars:
        return None
    title = f"{run.label}: {run.own_f1}, scored and lost"
    table = Table(["type", "n", "with all evidence", *_PARTS], lines)
    return Chart(title, stacked(title, bars, _PARTS), table, bars=_PARTS)
