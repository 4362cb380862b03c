"""What the command prints: the tables of the measures that were asked for, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.analyse.retrieval.differences import (
    both_keys,
    comparable,
    differences,
    objections,
    section,
)
from eval.analyse.retrieval.measured import (
    KINDS,
    SELECTED,
    Measured,
    about,
    by_type,
    compared,
    definitions,
    main_measures,
    measured,
    of_runs,
    of_sets,
    set_measures,
    side_by_side,
)
from eval.metrics.retrieval.registry import Measure, Unit
from eval.records.run import Run
from eval.rendering.blocks import Section
from eval.summary.contrast import Row
from eval.summary.measures import types_of
from eval.summary.retrieval import ended_early, is_selected, unit_of, unknown
from memsys.core.errors import InputError

_CUTOFFS = (10,)
Reasons = Mapping[str, Mapping[str, str]]  # by run label and measure: why it is unknown


@dataclass(frozen=True, slots=True)
class Request:
    """What is measured. `measures`: those that the user named, which replace the default ones.

    `unit`, `kind`, `cutoffs` and `type` are None where the user chose none. `every`: all
    definitions side by side, without differences.
    """

    unit: Unit | None = None
    kind: str | None = None
    cutoffs: tuple[int, ...] | None = None
    type: str | None = None
    measures: tuple[Measure, ...] = ()
    every: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measured runs: those with rankings, and those that only select memories. `sections` are
    printed; `differences` are those of the ranked runs to the first of them. `unit`, `types`: of
    the tables.
    """

    ranked: Sequence[Run]
    selected: Sequence[Run]
    unit: Unit
    types: Sequence[str]
    sections: Sequence[Section]
    differences: Sequence[Sequence[Row]]


def evaluate(runs: Sequence[Run], request: Request) -> Evaluation:
    """Measure `runs` as requested. Raises InputError where rankings do not determine a measure."""
    types = _types(runs, request.type)
    selected = [run for run in runs if is_selected(run)]
    ranked = [run for run in runs if run not in selected]
    unit = request.unit or unit_of(runs)
    chosen = _chosen(request, unit)
    notes = list(_notes(runs))
    sections: list[Section] = []
    rows: list[list[Row]] = []
    if ranked:
        more, sections = _of_ranked(ranked, request, unit, types)
        notes += more
    if selected:
        notes += _not_applied(selected, request, request.measures if ranked else ())
        measures = set_measures(unit)
        if request.measures and not ranked:
            measures = list(request.measures)
            _refuse({run.label: unknown(run, measures) for run in selected})
        found = [measured(run, measures, request.seed) for run in selected]
        _check_type(found, request.type)
        sections.append(Section(SELECTED, of_sets(found, measures, types)))
    if ranked and (both := both_keys(ranked, chosen, types, request.seed)):
        sections.append(both)
    if len(ranked) > 1 and not request.every:
        rows, why_none = _differences(ranked, chosen, types, request.seed)
        notes += why_none
    if rows:
        sections.append(section(rows, ranked))
    start = Section("Runs", [of_runs(runs), *(f"note: {note}" for note in notes)])
    return Evaluation(ranked, selected, unit, types, [start, *sections], rows)


def _of_ranked(
    runs: Sequence[Run], request: Request, unit: Unit, types: Sequence[str]
) -> tuple[list[str], list[Section]]:
    """Return notes, and a section for each table of the runs that rank."""
    groups = list(_groups(request, unit))
    asked = list(dict.fromkeys(one for _, measures in groups for one in measures))
    reasons = {run.label: unknown(run, asked) for run in runs}
    if not request.every:
        _refuse(reasons)
    sections = []
    for title, measures in groups:
        found = [
            measured(run, [m for m in measures if str(m) not in reasons[run.label]], request.seed)
            for run in runs
        ]
        _check_type(found, request.type)
        table = side_by_side if request.every else by_type
        sections.append(Section(title, [about(found, types), table(found, measures, types)]))
    return [*_unknown(reasons), *_ended(runs, asked, reasons)], sections


def _types(runs: Sequence[Run], type_: str | None) -> tuple[str, ...]:
    types = types_of(runs)
    if type_ and type_ not in types:
        raise InputError(f"--type {type_}: no such type; use {', '.join(types)}")
    return (type_,) if type_ else types


def _groups(request: Request, unit: Unit) -> Iterator[tuple[str, list[Measure]]]:
    """Yield the title and the measures of each table."""
    if request.measures:
        yield "Measures", list(request.measures)
    elif request.every:
        yield "Definitions", definitions(request.unit, request.kind, request.cutoffs)
    else:
        kinds = request.kind or f"{', '.join(list(KINDS)[:-1])} and {list(KINDS)[-1]}"
        for at in request.cutoffs or _CUTOFFS:
            yield (
                f"Unit {unit}, recall {kinds}, cutoff {at}",
                main_measures(unit, request.kind, at),
            )


def _refuse(reasons: Reasons) -> None:
    """Raise InputError if there is any reason in `reasons`, with the first of each run."""
    if found := list(_unknown(reasons)):
        raise InputError("; ".join(found))


def _check_type(found: Sequence[Measured], type_: str | None) -> None:
    if type_ and not any(one.n(type_) for one in found):
        raise InputError(f"--type {type_}: no question of this type has evidence")


def _chosen(request: Request, unit: Unit) -> Sequence[Measure]:
    """Return the measures of differences and of evidence keys: those that the user named, or the
    main ones.
    """
    at = request.cutoffs or _CUTOFFS
    return request.measures or compared(unit, request.kind, at)


def _differences(
    ranked: Sequence[Run], chosen: Sequence[Measure], types: Sequence[str], seed: int
) -> tuple[list[list[Row]], list[str]]:
    """Return the differences to the first run, and notes on those that there are not."""
    if against := objections(ranked):
        return [], against
    measures, notes = comparable(ranked, chosen)
    return differences(ranked, measures, types, seed), notes


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.manifest["status"] != "complete":
            yield f"{run.label}: the run is {run.manifest['status']}, not complete"
        failed = sum(record["status"] != "ok" for record in run.records.values())
        if failed:
            yield f"{run.label}: {failed:,} of {len(run.records):,} questions failed, in no mean"


def _not_applied(
    selected: Sequence[Run], request: Request, ignored: Sequence[Measure]
) -> Iterator[str]:
    """Yield a note per run that only selects memories, where options do not apply to it."""
    given = {"--kind": request.kind, "--at": request.cutoffs, "--measure": ignored}
    if options := [name for name, chosen in given.items() if chosen]:
        does = "does" if len(options) == 1 else "do"
        for run in selected:
            yield f"{run.label} only selects memories: {' and '.join(options)} {does} not apply"


def _ended(runs: Sequence[Run], asked: Sequence[Measure], reasons: Reasons) -> Iterator[str]:
    """Yield a note per run on rankings that end before the greatest cutoff of a unit."""
    for run in runs:
        known = [one for one in asked if str(one) not in reasons[run.label]]
        greatest = {one.unit: one for one in sorted(known, key=lambda one: one.cutoff or 0)}
        for one in greatest.values():
            if short := ended_early(run, one):
                yield (
                    f"{run.label}: the recorded rankings of {short:,} questions contain fewer "
                    f"than {one.cutoff:,} {one.unit}s; nothing is taken to follow"
                )


def _unknown(reasons: Reasons) -> Iterator[str]:
    """Yield a note per run on measures that its rankings do not determine."""
    for one in reasons.values():
        texts = list(dict.fromkeys(one.values()))
        other = [name for name, text in one.items() if text != texts[0]]
        more = f" (also unknown: {', '.join(other)})" if other else ""
        if texts:
            yield f"{texts[0]}{more}"
