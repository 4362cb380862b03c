"""Titles and warnings of a comparison as plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.stats.interval import FEWEST, scope
from eval.records.head import differing
from eval.records.run import Run
from eval.records.schema import Manifest
from eval.summary.measures import ABSTAINED, ADVERSARIAL, JUDGE, Measure
from eval.summary.shared import Shared

_SHOWN = 3  # question ids in a sentence


def title(measure: Measure) -> str:
    """Return the title of a measure's table."""
    if measure.key != ABSTAINED:
        return measure.key
    if ADVERSARIAL not in measure.types:
        return f"{ABSTAINED}: false refusals (lower is better)"
    elsewhere = ", a false refusal elsewhere" if len(measure.types) > 1 else ""
    return f"{ABSTAINED}: right on {ADVERSARIAL}{elsewhere}"


def notes(runs: Sequence[Run], measures: Sequence[tuple[Measure, Shared]]) -> list[str]:
    """Return warnings: settings in which runs differ, unfinished runs, questions left out."""
    found = []
    first = runs[0]
    for run in runs[1:]:
        imported = [one.label for one in (first, run) if one.manifest.get("kind") == "imported"]
        settings = _differing(first.manifest, run.manifest)
        unused = _unused(first, run) if "embedder" in settings else set()
        shown = [name for name in settings if name not in unused]
        if shown and not imported:
            found.append(f"{run.label} differs from {first.label} in: {', '.join(shown)}")
        parts = differing(first.manifest, run.manifest, unused)
        found += [f"{run.label} against {first.label}: {part}" for part in parts]
    for run in runs:
        if run.manifest.get("kind") == "imported":
            found.append(f"{run.label}: imported answers, of unknown settings")
        if run.manifest["status"] != "complete":
            found.append(f"{run.label}: the run is {run.manifest['status']}, not complete")
    for measure, shared in measures:
        if shared.left_out:
            found.append(_left_out(measure, shared))
    if any(measure.key == JUDGE for measure, _ in measures) and _reported(runs):
        found.append("judge: verdicts as reported; that one judge gave them all is unverified")
    few = [count for _, shared in measures if (count := len(set(shared.conversations))) < FEWEST]
    if any(few):
        found.append(f"few conversations: intervals are {scope(few)}")
    return found


def _unused(one: Run, other: Run) -> set[str]:
    """Return the embedder unless both strategies use vectors: else it explains no difference."""
    return set() if one.has_vectors and other.has_vectors else {"embedder"}


def _left_out(measure: Measure, shared: Shared) -> str:
    ids = ", ".join(shared.left_out[:_SHOWN]) + (", ..." if len(shared.left_out) > _SHOWN else "")
    why = "; ".join(
        f"{label}: " + ", ".join(f"{count} {reason}" for reason, count in counts.items())
        for label, counts in shared.why.items()
    )
    return (
        f"{measure.key}: {len(shared.left_out)} questions do not count, {len(shared.ids)} do "
        f"({why}): {ids}"
    )


def _reported(runs: Sequence[Run]) -> bool:
    return any(
        record.get("judge_source") is not None for run in runs for record in run.records.values()
    )


def _differing(one: Manifest, other: Manifest) -> list[str]:
    """Return the top-level settings (`strategy`, `k`, ...) in which two configurations differ."""
    first, second = one["config"], other["config"]
    return [key for key in {**first, **second} if first.get(key) != second.get(key)]
