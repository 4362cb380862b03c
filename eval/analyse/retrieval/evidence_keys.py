"""Rankings under another evidence key and under the data set's own, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.analyse.retrieval.choice import known
from eval.analyse.retrieval.measured import measured
from eval.metrics.retrieval.registry import Measure
from eval.records.answer_key_views import ORIGINAL, evidence_name
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table
from eval.rendering.numbers import ABSENT, interval
from eval.rendering.tables import type_name


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
