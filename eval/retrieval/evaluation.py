"""What the command prints: the tables of the measures that were asked for, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.metrics.retrieval.registry import Measure, Unit
from eval.records.rankings import SESSION
from eval.records.run import Run
from eval.rendering.blocks import Section
from eval.retrieval import choice, tables
from eval.retrieval.differences import differences, objections, section
from eval.retrieval.measured import measured
from eval.summary.contrast import Row
from eval.summary.measures import types_of
from eval.summary.retrieval import ended_early, unknown
from memsys.errors import InputError

_CUTOFFS = (10,)


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
    selected = [run for run in runs if choice.is_selected(run)]
    ranked = [run for run in runs if run not in selected]
    unit = request.unit or ("session" if all(map(_of_sessions, runs)) else "turn")
    groups = list(_groups(request, unit)) if ranked else []
    if not request.every:
        _check(ranked, [one for _, measures in groups for one in measures])
    notes = [*_notes(runs), *_ended(ranked, groups)]
    sections = []
    for title, measures in groups:
        found = [measured(run, choice.known(run, measures), request.seed) for run in ranked]
        table = tables.side_by_side if request.every else tables.by_type
        sections.append(Section(title, [tables.about(found, types), table(found, measures, types)]))
        notes += [note for run in ranked for note in _unknown(run, measures)]
    if selected:
        of_sets = choice.set_measures(unit)
        found = [measured(run, of_sets, request.seed) for run in selected]
        sections.append(Section(tables.SELECTED, tables.of_sets(found, of_sets, types)))
    rows: list[list[Row]] = []
    if len(ranked) > 1 and not request.every:
        against = objections(ranked)
        notes += against
        if not against:
            of_pairs = request.measures or choice.compared(
                unit, request.kind, request.cutoffs or _CUTOFFS
            )
            rows = differences(ranked, _bounded(of_pairs), types, request.seed)
    if rows:
        sections.append(section(rows, ranked))
    start = Section("Runs", [tables.of_runs(runs), *(f"note: {note}" for note in notes)])
    return Evaluation(ranked, selected, unit, types, [start, *sections], rows)


def _types(runs: Sequence[Run], type_: str | None) -> tuple[str, ...]:
    types = types_of(runs)
    if type_ and type_ not in types:
        raise InputError(f"--type {type_}: no such type; use {', '.join(types)}")
    return (type_,) if type_ else types


def _of_sessions(run: Run) -> bool:
    used = run.manifest.get("retrieval")
    return used is not None and used["unit"] == SESSION


def _groups(request: Request, unit: Unit) -> Iterator[tuple[str, list[Measure]]]:
    """Yield the title and the measures of each table."""
    if request.measures:
        yield "Measures", list(request.measures)
    elif request.every:
        yield "Definitions", choice.definitions(request.unit, request.kind, request.cutoffs)
    else:
        kinds = request.kind or f"{', '.join(list(choice.KINDS)[:-1])} and {list(choice.KINDS)[-1]}"
        for at in request.cutoffs or _CUTOFFS:
            yield (
                f"Unit {unit}, recall {kinds}, cutoff {at}",
                choice.main_measures(unit, request.kind, at),
            )


def _check(runs: Sequence[Run], measures: Sequence[Measure]) -> None:
    """Raise InputError with each reason why rankings do not determine `measures`."""
    reasons = [reason for run in runs for reason in unknown(run, measures).values()]
    if reasons:
        raise InputError("; ".join(dict.fromkeys(reasons)))


def _bounded(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that have differences: scores from 0 to 1, the higher the better."""
    return [one for one in measures if one.metric.name not in {"first_rank", "store_share"}]


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.manifest["status"] != "complete":
            yield f"{run.label}: the run is {run.manifest['status']}, not complete"
        failed = sum(record["status"] != "ok" for record in run.records.values())
        if failed:
            yield f"{run.label}: {failed:,} of {len(run.records):,} questions failed, in no mean"


def _ended(runs: Sequence[Run], groups: Sequence[tuple[str, Sequence[Measure]]]) -> Iterator[str]:
    """Yield a note per run and unit on rankings that end before the greatest cutoff."""
    measures = [one for _, group in groups for one in group if one.cutoff is not None]
    for unit in dict.fromkeys(one.unit for one in measures):
        most = max((one for one in measures if one.unit == unit), key=lambda one: one.cutoff or 0)
        for run in runs:
            if short := not unknown(run, [most]) and ended_early(run, most):
                yield (
                    f"{run.label}: the recorded rankings of {short:,} questions contain fewer "
                    f"than {most.cutoff} {unit}s; nothing is taken to follow"
                )


def _unknown(run: Run, measures: Sequence[Measure]) -> Iterator[str]:
    """Yield a note on measures that the rankings of a run do not determine."""
    reasons = list(dict.fromkeys(unknown(run, measures).values()))
    if reasons:
        more = f" (and {len(reasons) - 1} more measures)" if len(reasons) > 1 else ""
        yield f"{reasons[0]}{more}"
