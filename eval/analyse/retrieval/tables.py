"""Tables of retrieval measures: by question type and run, and all definitions side by side."""

from __future__ import annotations

from collections.abc import Sequence

from eval.analyse.retrieval.measured import Measured
from eval.metrics.retrieval.registry import Measure
from eval.metrics.stats.interval import scope
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, interval, share
from eval.rendering.tables import answered, type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import FIRST_RANK
from eval.summary.summarise import OVERALL

SELECTED = "Selected, not ranked"
_OF_SETS = (
    "These strategies give memories without an order: all that was given counts, without a cutoff."
)
_SHARE = "store_share"


def of_runs(runs: Sequence[Run]) -> Table:
    """Return a row per run: its folder, the recorded depth and the sizes of its stores."""
    return Table(
        ["run", "folder", "depth", "turns of a store", "sessions"],
        [
            [run.label, str(run.folder), _depth(run), _sizes(run, "turns"), _sizes(run, "sessions")]
            for run in runs
        ],
    )


def about(found: Sequence[Measured], types: Sequence[str]) -> str:
    """Return a sentence on the questions and the intervals of a table."""
    type_ = OVERALL if OVERALL in types else types[-1]
    where = answered(types_of([one.run for one in found])) if type_ == OVERALL else type_
    counts = {(one.n(type_), one.conversations(type_)) for one in found}
    parts = [
        f"{n:,} questions of {where} with evidence, in "
        f"{clusters} conversation{'s' if clusters != 1 else ''}"
        for n, clusters in sorted(counts, reverse=True)
    ]
    over = scope(one.conversations(name) for one in found for name in types)
    return f"{' or '.join(parts)}. Mean with 95% interval {over}."


def by_type(found: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]) -> Table:
    """Return a row per question type and run, with the mean of each measure and its interval."""
    named = len(found) > 1
    rows, known = [], types_of([one.run for one in found])
    for type_ in types:
        for i, one in enumerate(one for one in found if one.n(type_)):
            start = ["" if i else type_name(type_, known), *([one.run.label] if named else [])]
            rows.append([*start, f"{one.n(type_):,}", *(_cell(one, type_, m) for m in measures)])
    return Table(["type", *(["run"] if named else []), "n", *(m.title for m in measures)], rows)


def side_by_side(
    found: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]
) -> Table:
    """Return a row per measure, by its name, on the last of `types`, with a column per run."""
    rows = [[str(m), *(_cell(one, types[-1], m) for one in found)] for m in measures]
    return Table(["measure", *(one.run.label for one in found)], rows)


def of_sets(
    found: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]
) -> list[str | Table]:
    """Return the table by type of runs that only select memories, after a sentence on it."""
    table = by_type(found, measures, types)
    return [f"{', '.join(one.run.label for one in found)}: selected, not ranked. {_OF_SETS}", table]


def _cell(one: Measured, type_: str, measure: Measure) -> str:
    """Return a mean with its interval; of first ranks the median and the share with a find; of
    shares of the store the mean alone, which follows from the cutoff and the data.
    """
    if measure.metric.name == FIRST_RANK:
        ranks = one.first_ranks.get(measure.unit, {}).get(type_)
        if ranks is None:
            return ABSENT
        median = ABSENT if ranks.median is None else f"{ranks.median:g}"
        return f"{median} (found in {share(ranks.found.value)})"
    mean = one.means.get(type_, {}).get(str(measure))
    if mean is not None and measure.metric.name == _SHARE:
        return share(mean.value)
    return interval(mean)


def _depth(run: Run) -> str:
    used = run.manifest.get("retrieval")
    if used is None:
        return ABSENT
    return "all" if used["depth"] is None else f"{used['depth']:,}"


def _sizes(run: Run, unit: str) -> str:
    """Return the least and the greatest number of `unit`s of the stores."""
    sizes = sorted(one[unit] for one in run.manifest["stores"].values() if one.get(unit))
    if not sizes:
        return ABSENT
    return f"{sizes[0]:,}" + (f" to {sizes[-1]:,}" if sizes[-1] > sizes[0] else "")
