"""What the command prints: the tables of the measures that were asked for, and paired differences
to the first run, as memsys compare prints those of answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

from eval.analyse.compare.comparable import listed
from eval.analyse.retrieval.measured import (
    KINDS,
    Measured,
    Request,
    about,
    by_type,
    compared,
    definitions,
    main_measures,
    measured,
    of_runs,
    set_measures,
    side_by_side,
)
from eval.imports.rankings.import_run import UnwrittenRun
from eval.metrics.retrieval.registry import UNITS, Measure, Unit
from eval.records.answer_key_views import ORIGINAL, evidence_name
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Part, Section, Table
from eval.rendering.contrasts import conclusions, method, table
from eval.rendering.numbers import interval
from eval.rendering.tables import type_name
from eval.summary import measures as scores
from eval.summary.contrast import Row, contrast
from eval.summary.measures import chosen_types, data_files, same_data, share
from eval.summary.retrieval import FIRST_RANK, ended_early, evidence_of, is_selected, unit_of
from memsys.core.errors import InputError

_CUTOFFS = (10,)
_OF_SETS = (
    "These strategies give memories without an order: all that was given counts, without a cutoff."
)
_NO_SCORES = {FIRST_RANK, "store_share"}


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
    types = chosen_types(runs, request.type)
    selected = [run for run in runs if is_selected(run)]
    ranked = [run for run in runs if run not in selected]
    unit = request.unit or unit_of(runs)
    asked = request.measures or compared(unit, request.kind, request.cutoffs or _CUTOFFS)
    notes = []
    for run in runs:
        if run.manifest["status"] != "complete":
            notes.append(f"{run.label}: the run is {run.manifest['status']}, not complete")
        if failed := sum(record["status"] != "ok" for record in run.records.values()):
            count = f"{failed:,} of {len(run.records):,}"
            notes.append(f"{run.label}: {count} questions failed, in no mean")
    sections: list[Section] = []
    rows: list[list[Row]] = []
    if ranked:
        tables = list(_groups(request, unit))
        shown = list(dict.fromkeys(measure for _, measures in tables for measure in measures))
        results, unknown = _measured(ranked, shown, request, refuse=not request.every)
        notes += [*unknown, *_ended(results, shown)]
        in_rows = side_by_side if request.every else by_type
        for title, measures in tables:
            sections.append(
                Section(title, [about(results, types), in_rows(results, measures, types)])
            )
    if selected:
        ignored = request.measures if ranked else ()
        given = {"--kind": request.kind, "--at": request.cutoffs, "--measure": ignored}
        if options := [name for name, value in given.items() if value]:
            text = f"{' and '.join(options)} {'does' if len(options) == 1 else 'do'} not apply"
            notes += [f"{run.label} only selects memories: {text}" for run in selected]
        measures = set_measures(unit)
        if request.measures and not ranked:
            measures = list(request.measures)
        results, _ = _measured(selected, measures, request, refuse=True)
        about_sets = f"{', '.join(run.label for run in selected)}: selected, not ranked. {_OF_SETS}"
        parts: list[Part] = [about_sets, by_type(results, measures, types)]
        sections.append(Section("Selected, not ranked", parts))
    if ranked and (both := _both_keys(ranked, asked, types, request.seed)):
        sections.append(both)
    if len(ranked) > 1 and not request.every:
        rows, why_none = _differences(ranked, asked, types, request.seed)
        notes += why_none
    if rows:
        parts = [part for group in rows for part in (group[0].key, table(group, ranked))]
        parts += [method(rows, ranked), *conclusions(rows, ranked)]
        sections.append(Section(f"Differences to {ranked[0].label}", parts))
    start = Section("Runs", [of_runs(runs), *(f"note: {note}" for note in notes)])
    return Evaluation(ranked, selected, unit, types, [start, *sections], rows)


def _measured(
    runs: Sequence[Run], measures: Sequence[Measure], request: Request, *, refuse: bool
) -> tuple[list[Measured], list[str]]:
    """Return the means of each run, and a note per run on measures that its rankings do not
    determine, which `refuse` raises as InputError. Raises it as well if no question has evidence,
    or none of the type that was asked for.
    """
    results, notes = [measured(run, measures, request.seed) for run in runs], []
    for reasons in [result.unknown for result in results if result.unknown]:
        first, *_ = reasons.values()
        other = [name for name, text in reasons.items() if text != first]
        notes.append(first + f" (also unknown: {', '.join(other)})" * bool(other))
    if notes and refuse:
        raise InputError("; ".join(notes))
    if request.type and not any(result.n(request.type) for result in results):
        raise InputError(f"--type {request.type}: no question of this type has evidence")
    return results, notes


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


def _ended(results: Sequence[Measured], asked: Sequence[Measure]) -> Iterator[str]:
    """Yield a note per run on rankings that end before the greatest cutoff of a unit."""
    for result in results:
        measures = [measure for measure in asked if str(measure) not in result.unknown]
        greatest = {m.unit: m for m in sorted(measures, key=lambda m: m.cutoff or 0)}
        for measure in greatest.values():
            if short := ended_early(result.run, measure):
                yield (
                    f"{result.run.label}: the recorded rankings of {short:,} questions contain "
                    f"fewer than {measure.cutoff:,} {measure.unit}s; nothing is taken to follow"
                )


def _differences(
    runs: Sequence[Run], asked: Sequence[Measure], types: Sequence[str], seed: int
) -> tuple[list[list[Row]], list[str]]:
    """Return a row for each measure and question type, of questions that all runs ranked, and notes
    on the differences that there are not: of runs on other data or evidence, of measures that are
    no score of which more is better, and of whole rankings of different depths.
    """
    if against := list(_objections(runs)):
        return [], against
    used = [run.manifest["retrieval"] for run in runs]
    depths = [setting and setting["depth"] for setting in used]
    tables, notes = [], []
    for measure in asked:
        if measure.metric.name in _NO_SCORES:
            continue
        if measure.whole and len(set(depths)) > 1:
            shown = ", ".join("all" if depth is None else f"{depth:,}" for depth in depths)
            notes.append(
                f"{measure}: no difference, since the rankings are of depth {shown}; use "
                f"{measure}@{min(filter(None, depths))} or less"
            )
            continue
        named = scores.Measure(str(measure), tuple(types), measure)
        tables.append((named, share(runs, named)))
    return [rows for rows in contrast(tables, seed) if rows], notes


def _objections(runs: Sequence[Run]) -> Iterator[str]:
    """Yield why the rankings of further runs cannot be compared with the first run's."""
    first = runs[0]
    for run in runs[1:]:
        start = f"no difference of {run.label} to {first.label}"
        other = [
            id_
            for id_, record in first.records.items()
            if id_ in run.records and _evidence(record) != _evidence(run.records[id_])
        ]
        if not same_data(first, run):
            yield f"{start}: they ranked different data ({data_files(first)} and {data_files(run)})"
        elif other:
            yield (
                f"{start}: the evidence of {len(other):,} questions differs ({listed(other)}); use "
                f"the same for both: python -m eval rescore {run.folder} --evidence "
                f"{evidence_name(first.manifest)}"
            )


def _evidence(record: Record) -> list[set[str]]:
    """Return the evidence in each unit, without the conversation that a pooled store adds."""
    owner = f"{record['conversation']}:"
    return [{id_.removeprefix(owner) for id_ in evidence_of(record, unit)} for unit in UNITS]


def _both_keys(
    runs: Sequence[Run], measures: Sequence[Measure], types: Sequence[str], seed: int
) -> Section | None:
    """Return `measures` of the runs with another evidence key, under the original evidence and
    under theirs; None where there is no such run.
    """
    entries = []
    for run in runs:
        if any("evidence_original" in record for record in run.records.values()):
            records = {
                id_: {**row, "evidence": row.get("evidence_original", row["evidence"])}
                for id_, row in run.records.items()
            }
            of_original = cast(Mapping[str, Record], records)
            other = UnwrittenRun(run.label, run.folder, run.manifest, of_original, run.rankings)
            keys = [measured(version, measures, seed) for version in (other, run)]
            entries.append((run, keys))
    if not entries:
        return None
    rows = []
    for type_ in types:
        shown = [entry for entry in entries if entry[1][0].n(type_)]
        for i, (run, keys) in enumerate(shown):
            counts = [f"{key.n(type_):,}" for key in keys]
            pairs = product(map(str, measures), keys)
            means = [interval(key.means.get(type_, {}).get(name)) for name, key in pairs]
            rows.append(["" if i else type_name(type_), run.label, *counts, *means])
    keys_used = {evidence_name(run.manifest) for run, *_ in entries}
    names = (ORIGINAL, keys_used.pop() if len(keys_used) == 1 else "other")
    header = ["type", "run", *(f"n {name}" for name in names)]
    header += [f"{measure.title} {name}" for measure in measures for name in names]
    parts: list[str | Table] = []
    for run, _ in entries:
        changed = [row for row in run.records.values() if "evidence_original" in row]
        left_out = sum(not row["evidence"] for row in changed)
        parts.append(
            f"{run.label}: evidence key {evidence_name(run.manifest)}, "
            f"{len(changed) - left_out:,} questions with other evidence and {left_out:,} without "
            "any."
        )
    title = f"Under the {names[0]} and the {names[1]} evidence"
    return Section(title, [*parts, Table(header, rows)])
