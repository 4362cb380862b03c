"""Retrieval: recall against the cutoff, and measures of the recorded rankings by question type."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.metrics.retrieval.registry import CUTOFFS, UNITS, Unit, parse
from eval.metrics.stats.interval import Interval
from eval.pages.report.runs import ReportedRun, looks_of
from eval.records.run import Run
from eval.rendering.blocks import Block, Chart, Part, Section, Table
from eval.rendering.charts import trends
from eval.rendering.numbers import interval
from eval.rendering.tables import answered, type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import OF_SETS, by_type, depth_of, is_selected, unit_of
from eval.summary.summarise import OVERALL

_SHOWN = ("recall@10", "recall_any@10", "recall_all@10", "ndcg@10", "mrr", "store_share@10")
_OF_SESSIONS = "session_recall_any@5"  # shown beside the measures of turns
_NOTE = (
    "recall: the share of the evidence among the first k ranks; any and all: the share of "
    "questions with at least one, and with all of their evidence there; share of store: the part "
    "of the store that the cutoff is. docs/retrieval.md defines each measure."
)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Means of a run's rankings of `unit`s by type and name of the measure. `shown`: the measures
    of its tables. `unknown`: why others are not known. `selected`: the rankings have no order.
    """

    run: Run
    unit: Unit
    selected: bool
    shown: tuple[str, ...]
    means: Mapping[str, Mapping[str, Interval]]
    unknown: Sequence[str]


def retrieval_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the recall curves and tables of all runs with rankings; None where no run has any.

    Runs without rankings, or that only select memories, are named, as are unknown measures.
    """
    ranked = [run for run in runs if run.rankings]
    found = []
    for run in ranked:  # MRR has a cutoff if rankings of the same unit have different depths
        beside = [one for one in ranked if unit_of([one]) == unit_of([run])]
        depths = {depth_of(one) for one in beside if not is_selected(one)}
        found.append(_measured(run, "@10" if len(depths) > 1 else ""))
    if not found:
        return None
    parts: list[Part] = [*_charts(runs, found), *_tables(found)]
    if selecting := [one.run.label for one in found if one.selected]:
        parts.append(
            f"Without a ranking: {', '.join(selecting)} select memories. Their recall is that "
            "of everything selected; measures with a cutoff or an order do not apply."
        )
    if without := [run.label for run in runs if not run.rankings]:
        parts.append(f"No rankings are recorded: {', '.join(without)}.")
    parts += [f"{reason}." for one in found for reason in one.unknown]
    return Block("retrieval", "Retrieval", [*parts, _NOTE])


def _measured(run: ReportedRun, cut: str) -> _Measured:
    selected, unit = is_selected(run), unit_of([run])
    shown = tuple(_of(unit, name) for name in (OF_SETS if selected else _SHOWN))
    shown = tuple(name + cut if name.endswith("mrr") else name for name in shown)
    if unit == "turn" and not selected:
        shown += (_OF_SESSIONS,)
    names = shown if selected else (*shown, *_curve(unit).values())
    measures = [parse(name) for name in dict.fromkeys(names)]
    means, reasons = by_type(run, measures, run.seed)
    return _Measured(run, unit, selected, shown, means, list(dict.fromkeys(reasons.values())))


def _of(unit: Unit, name: str) -> str:
    return name if unit == "turn" else f"{unit}_{name}"


def _curve(unit: Unit) -> dict[int, str]:
    return {cutoff: _of(unit, f"recall@{cutoff}") for cutoff in CUTOFFS}


def _charts(runs: Sequence[ReportedRun], found: Sequence[_Measured]) -> Iterator[Chart]:
    """Yield a chart of recall against the cutoff for each unit in which a run has a curve."""
    for unit in UNITS:
        means = {one.run.label: one.means.get(OVERALL, {}) for one in found if one.unit == unit}
        names = _curve(unit)
        series = [
            [(float(at), of_run[name]) for at, name in names.items() if name in of_run]
            for of_run in (means.get(run.label, {}) for run in runs)
        ]
        looks = [look for look, points in zip(looks_of(runs), series, strict=True) if points]
        if looks:
            cells = [[one.name, *_cells(means[one.name], names.values())] for one in looks]
            caption = (
                f"Recall of evidence {unit}s against the cutoff, {answered(types_of(runs))}, "
                "95% interval"
            )
            axes = (f"{unit}s (log scale)", "recall")
            svg = trends(caption, [points for points in series if points], looks, axes)
            yield Chart(caption, svg, Table(["run", "n", *_titles(names.values())], cells), looks)


def _tables(found: Sequence[_Measured]) -> list[Part]:
    """Return the tables of types 1 to 4 by run, then all types of each run; one run has the latter
    alone.
    """
    if len(found) == 1:
        return _types(found[0])
    parts: list[Part] = []
    for shown in dict.fromkeys(one.shown for one in sorted(found, key=lambda one: one.selected)):
        rows = [
            [one.run.label, *_cells(one.means[OVERALL], shown)]
            for one in found
            if one.shown == shown and one.means.get(OVERALL)
        ]
        if rows:
            parts.append(Table(["run", "n", *_titles(shown)], rows))
    folds = {f"{one.run.label}: retrieval by type": _types(one) for one in found}
    return [*parts, *(Section(title, tables) for title, tables in folds.items() if tables)]


def _types(one: _Measured) -> list[Part]:
    """Return the table of all question types; [] where no measure is known."""
    types = types_of([one.run])
    rows = [
        [type_name(type_, types), *_cells(means, one.shown)]
        for type_, means in one.means.items()
        if means
    ]
    return [Table(["type", "n", *_titles(one.shown)], rows)] if rows else []


def _titles(names: Iterable[str]) -> list[str]:
    return [parse(name).title for name in names]


def _cells(means: Mapping[str, Interval], names: Collection[str]) -> list[str]:
    counts = dict.fromkeys(f"{means[name].n:,}" for name in names if name in means)
    return ["/".join(counts) or "0", *(interval(means.get(name)) for name in names)]
