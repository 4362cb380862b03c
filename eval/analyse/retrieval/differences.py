"""Paired differences of rankings to the first run, as memsys compare prints those of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.analyse.retrieval.measured import known, measured
from eval.metrics.retrieval.registry import UNITS, Measure
from eval.records.answer_key_views import ORIGINAL, evidence_name
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table
from eval.rendering.contrasts import conclusions, method, table
from eval.rendering.numbers import ABSENT, interval
from eval.rendering.tables import type_name
from eval.summary import measures as compared
from eval.summary.contrast import Row, contrast
from eval.summary.measures import data_files, same_data, share
from eval.summary.retrieval import FIRST_RANK, evidence_of

_SHOWN = 3  # question ids in a message
_NO_SCORES = {FIRST_RANK, "store_share"}


def objections(runs: Sequence[Run]) -> list[str]:
    """Return why the rankings of further runs cannot be compared with the first run's."""
    first, found = runs[0], []
    for run in runs[1:]:
        if not same_data(first, run):
            found.append(
                f"no difference of {run.label} to {first.label}: they ranked different data "
                f"({data_files(first)} and {data_files(run)})"
            )
        elif other := _other_evidence(first, run):
            found.append(
                f"no difference of {run.label} to {first.label}: the evidence of {len(other):,} "
                f"questions differs ({', '.join(other[:_SHOWN])}"
                f"{', ...' if len(other) > _SHOWN else ''}); use the same for both: python -m "
                f"eval rescore {run.folder} --evidence {evidence_name(first.manifest)}"
            )
    return found


def comparable(runs: Sequence[Run], measures: Sequence[Measure]) -> tuple[list[Measure], list[str]]:
    """Return the measures that have differences, scores from 0 to 1 of which more is better, and
    notes on those of whole rankings, which have none where the recorded depths differ.
    """
    scores = [one for one in measures if one.metric.name not in _NO_SCORES]
    used = [run.manifest["retrieval"] for run in runs]
    depths = [one and one["depth"] for one in used]
    whole = [one for one in scores if one.whole and len(set(depths)) > 1]
    notes = [
        f"{one}: no difference, since the rankings are of depth "
        f"{', '.join('all' if depth is None else f'{depth:,}' for depth in depths)}; "
        f"use {one}@{min(filter(None, depths))} or less"
        for one in whole
    ]
    return [one for one in scores if one not in whole], notes


def differences(
    runs: Sequence[Run], measures: Sequence[Measure], types: Sequence[str], seed: int
) -> list[list[Row]]:
    """Return a row for each of `measures` and question types, of questions that all runs ranked."""
    named = [compared.Measure(str(one), tuple(types), one) for one in measures]
    return [rows for rows in contrast([(one, share(runs, one)) for one in named], seed) if rows]


def section(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> Section:
    """Return the tables of differences, how they were computed, and conclusions."""
    parts: list[str | Table] = []
    for rows in tables:
        parts += [rows[0].key, Table(*table(rows, runs))]
    return Section(
        f"Differences to {runs[0].label}",
        [*parts, method(tables, runs), *conclusions(tables, runs)],
    )


def _other_evidence(first: Run, run: Run) -> list[str]:
    """Return the ids of questions of both runs that have different evidence."""
    return [
        id_
        for id_, one in first.records.items()
        if (other := run.records.get(id_)) is not None and _evidence(one) != _evidence(other)
    ]


def _evidence(record: Record) -> list[set[str]]:
    """Return the evidence in each unit, without the conversation that a pooled store adds."""
    owner = f"{record['conversation']}:"
    return [{id_.removeprefix(owner) for id_ in evidence_of(record, unit)} for unit in UNITS]


def both_keys(
    runs: Sequence[Run], measures: Sequence[Measure], types: Sequence[str], seed: int
) -> Section | None:
    """Return `measures` of the runs with another evidence key, under the original evidence and
    under theirs; None where there is no such run.
    """
    found = []
    for run in runs:
        if any("evidence_original" in record for record in run.records.values()):
            other = _under_original(run)
            keys = [measured(one, known(one, measures), seed) for one in (other, run)]
            found.append((run, keys))
    if not found:
        return None
    rows = []
    for type_ in types:
        shown = [one for one in found if one[1][0].n(type_)]
        for i, (run, keys) in enumerate(shown):
            row = ["" if i else type_name(type_), run.label]
            row += [f"{key.n(type_):,}" for key in keys]
            for measure in map(str, measures):
                means = [key.means.get(type_, {}).get(measure) for key in keys]
                row += [interval(mean) if mean else ABSENT for mean in means]
            rows.append(row)
    keys_used = {evidence_name(run.manifest) for run, *_ in found}
    names = (ORIGINAL, keys_used.pop() if len(keys_used) == 1 else "other")
    header = ["type", "run", *(f"n {name}" for name in names)]
    header += [f"{measure.title} {name}" for measure in measures for name in names]
    return Section(
        f"Under the {names[0]} and the {names[1]} evidence",
        [*(_about(run) for run, *_ in found), Table(header, rows)],
    )


def _under_original(run: Run) -> Run:
    """Return the run with the evidence of the data set, and the same rankings."""
    records = {id_: _original(record) for id_, record in run.records.items()}
    other = replace(run, records=records)
    other.__dict__["rankings"] = run.rankings  # as the cached property stores them
    return other


def _original(record: Record) -> Record:
    evidence = record.get("evidence_original")
    return record if evidence is None else {**record, "evidence": evidence}


def _about(run: Run) -> str:
    changed = [row for row in run.records.values() if row.get("evidence_original") is not None]
    left_out = sum(not row["evidence"] for row in changed)
    return (
        f"{run.label}: evidence key {evidence_name(run.manifest)}, {len(changed) - left_out:,} "
        f"questions with other evidence and {left_out:,} without any."
    )
