"""Means of retrieval measures of runs by question type, as numbers and as tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.metrics.retrieval import METRICS
from eval.metrics.retrieval.registry import BUDGETS, UNITS, Measure, Unit, cuts_of, parse
from eval.metrics.stats.interval import Interval, scope
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, interval, number, share
from eval.rendering.tables import answered, type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import FIRST_RANK, OF_SETS, FirstRanks, evidence_of, first_ranks
from eval.summary.retrieval import by_type as means_by_type
from eval.summary.summarise import OVERALL, groups
from memsys.core.errors import InputError

KINDS = {"fraction": "recall", "any": "recall_any", "all": "recall_all"}
_SIDE_BY_SIDE = (5, 10)  # cutoffs of the table of all definitions
_GRID = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # cutoffs of a curve

_SHARE = "store_share"


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
class Measured:
    """Means of a run by question type and name of the measure, and the ranks of the first evidence
    by unit and type, where they were asked for. `unknown`: by name why the rankings do not
    determine a measure.
    """

    run: Run
    means: Mapping[str, Mapping[str, Interval]]
    first_ranks: Mapping[Unit, Mapping[str, FirstRanks]]
    unknown: Mapping[str, str]

    def n(self, type_: str) -> int:
        """Return the number of questions of `type_` that were measured."""
        return max((mean.n for mean in self.means.get(type_, {}).values()), default=0)

    def conversations(self, type_: str) -> int:
        """Return the number of their conversations."""
        return max((mean.clusters for mean in self.means.get(type_, {}).values()), default=0)


def measured(run: Run, measures: Sequence[Measure], seed: int) -> Measured:
    """Return the means of `measures`, of types that have questions with evidence.

    Raises InputError if rankings determine one of them and no question has evidence.
    """
    by_types, unknown = means_by_type(run, measures, seed)
    means = {type_: cells for type_, cells in by_types.items() if cells}
    known_measures = [measure for measure in measures if str(measure) not in unknown]
    if not means and known_measures:
        raise InputError(
            f"{run.label}: no question has evidence, so no ranking can be measured; the data set "
            "must name evidence turns or sessions"
        )
    units = {measure.unit for measure in known_measures if measure.metric.name == FIRST_RANK}
    return Measured(run, means, {unit: first_ranks(run, unit, seed) for unit in units}, unknown)


def named(unit: Unit, names: Iterable[str]) -> list[Measure]:
    """Return the measures called `names` of turns, or those of sessions."""
    return [parse("session_" * (unit == "session") + name) for name in names]


def main_measures(unit: Unit, kind: str | None, cutoff: int) -> list[Measure]:
    """Return the measures of the default table at `cutoff`; `kind`: see KINDS, None for each."""
    recalls = [name for key, name in KINDS.items() if kind in {None, key}]
    cut = [f"{name}@{cutoff}" for name in (*recalls, "ndcg")]
    return named(unit, [*cut, "mrr", f"{_SHARE}@{cutoff}"])


def compared(unit: Unit, kind: str | None, cutoffs: Sequence[int]) -> list[Measure]:
    """Return the measures whose differences are shown: recall and nDCG at `cutoffs`, and MRR."""
    names = [f"{name}@{at}" for at in cutoffs for name in (KINDS[kind or "fraction"], "ndcg")]
    return named(unit, [*names, "mrr"])


def set_measures(unit: Unit) -> list[Measure]:
    """Return the measures of memories that were selected, which have no order."""
    return named(unit, OF_SETS)


def definitions(
    unit: Unit | None, kind: str | None, cutoffs: Sequence[int] | None
) -> list[Measure]:
    """Return every metric of a ranking at `cutoffs` (None: 5 and 10), recall of the sessions of so
    many turns, and recall within budgets of tokens; `unit` and `kind` restrict them.
    """
    left_out = {name for key, name in KINDS.items() if kind not in {None, key}}
    measures = []
    for level in (unit,) if unit else UNITS:
        for metric in METRICS:
            if metric.name in left_out:
                continue
            if metric.ordered and "" in metric.cuts:
                measures.append(Measure(level, metric))
            if "rank" in metric.cuts:
                measures += [Measure(level, metric, cutoff=at) for at in cutoffs or _SIDE_BY_SIDE]
            if "turns" in cuts_of(metric, level):
                measures += [Measure(level, metric, turns=at) for at in cutoffs or _SIDE_BY_SIDE]
            if level == "turn" and metric.name == KINDS[kind or "fraction"]:
                measures += [Measure(level, metric, tokens=budget) for budget in BUDGETS]
    return measures


@dataclass(frozen=True, slots=True)
class Point:
    """Mean recall of a run on a question type, at a cutoff of `at` ranks, or `within` a budget of
    `at` tokens. `tokens`: mean of the context at the cutoff, None where it is unknown.
    """

    run: Run
    type: str
    at: int
    within: bool
    tokens: float | None
    recall: Interval


def points(run: Run, unit: Unit, kind: str, seed: int) -> list[Point]:
    """Return the points of both curves for each question type, as far as rankings determine them;
    `kind`: see KINDS.
    """
    cuts = [*_GRID, *(f"{budget}tokens" for budget in BUDGETS)]
    measures = named(unit, [f"{KINDS[kind]}@{cut}" for cut in cuts])
    by_types = groups([row for row in run.counted if evidence_of(row, unit)])
    return [
        Point(
            run,
            type_,
            measure.tokens or measure.cutoff or 0,
            measure.tokens is not None,
            _tokens(run, by_types[type_], unit, measure.cutoff),
            cells[str(measure)],
        )
        for type_, cells in measured(run, measures, seed).means.items()
        for measure in measures
        if str(measure) in cells
    ]


def _tokens(run: Run, asked: Sequence[Record], unit: Unit, cutoff: int | None) -> float | None:
    """Return the mean number of tokens of the first `cutoff` ranks of the questions `asked`."""
    spent = []
    for ranked in [run.rankings[row["id"]] for row in asked] if cutoff is not None else ():
        ranking = ranked.turns if unit == "turn" else ranked.sessions
        if ranking is None or ranking.tokens is None:
            return None
        spent.append(ranking.tokens[:cutoff][-1] if ranking.tokens else 0)
    return fmean(spent) if spent else None


def of_runs(runs: Sequence[Run]) -> Table:
    """Return a row per run: its folder, the recorded depth and the sizes of its stores."""

    def depth(run: Run) -> str:
        used = run.manifest.get("retrieval")
        return "all" if used and used["depth"] is None else number(used and used["depth"], 0)

    def sizes(run: Run, unit: str) -> str:
        units = sorted(store[unit] for store in run.manifest["stores"].values() if store.get(unit))
        return " to ".join(f"{size:,}" for size in dict.fromkeys(units[:1] + units[-1:])) or ABSENT

    columns: dict[str, Callable[[Run], str]] = {
        "run": lambda run: run.label,
        "folder": lambda run: str(run.folder),
        "depth": depth,
        "turns of a store": lambda run: sizes(run, "turns"),
        "sessions": lambda run: sizes(run, "sessions"),
    }
    return Table.of(runs, columns)


def about(results: Sequence[Measured], types: Sequence[str]) -> str:
    """Return a sentence on the questions and the intervals of a table."""
    type_ = OVERALL if OVERALL in types else types[-1]
    where = answered(types_of([result.run for result in results])) if type_ == OVERALL else type_
    counts = {(result.n(type_), result.conversations(type_)) for result in results}
    parts = [
        f"{n:,} questions of {where} with evidence, in "
        f"{clusters} conversation{'s' if clusters != 1 else ''}"
        for n, clusters in sorted(counts, reverse=True)
    ]
    over = scope(result.conversations(name) for result in results for name in types)
    return f"{' or '.join(parts)}. Mean with 95% interval {over}."


def by_type(
    results: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]
) -> Table:
    """Return a row per question type and run, with the mean of each measure and its interval."""
    named = len(results) > 1
    rows, all_types = [], types_of([result.run for result in results])
    for type_ in types:
        for i, result in enumerate(result for result in results if result.n(type_)):
            start = [
                "" if i else type_name(type_, all_types),
                *([result.run.label] if named else []),
            ]
            rows.append(
                [*start, f"{result.n(type_):,}", *(_cell(result, type_, m) for m in measures)]
            )
    return Table(["type", *(["run"] if named else []), "n", *(m.title for m in measures)], rows)


def side_by_side(
    results: Sequence[Measured], measures: Sequence[Measure], types: Sequence[str]
) -> Table:
    """Return a row per measure, by its name, on the last of `types`, with a column per run."""
    rows = [[str(m), *(_cell(result, types[-1], m) for result in results)] for m in measures]
    return Table(["measure", *(result.run.label for result in results)], rows)


def _cell(result: Measured, type_: str, measure: Measure) -> str:
    """Return a mean with its interval; of first ranks the median and the share with a find; of
    shares of the store the mean alone, which follows from the cutoff and the data.
    """
    if measure.metric.name == FIRST_RANK:
        ranks = result.first_ranks.get(measure.unit, {}).get(type_)
        if ranks is None:
            return ABSENT
        median = ABSENT if ranks.median is None else f"{ranks.median:g}"
        return f"{median} (found in {share(ranks.found.value)})"
    mean = result.means.get(type_, {}).get(str(measure))
    if mean is not None and measure.metric.name == _SHARE:
        return share(mean.value)
    return interval(mean)


def csv_rows(
    result: Measured, measures: Sequence[Measure], order: str
) -> Iterator[dict[str, object]]:
    """Yield a row of retrieval.csv for each type and measure; of a first rank also the median."""
    of_run = {"run": result.run.label, "run_id": result.run.manifest["run_id"], "order": order}
    for type_, cells in result.means.items():
        for measure in measures:
            about = {
                **{**of_run, "type": type_, "metric": measure.metric.name},
                **{name: getattr(measure, name) for name in ("unit", "cutoff", "tokens", "turns")},
            }
            mean = cells.get(str(measure))
            if mean is not None:
                yield {**about, **counted(mean), "measure": str(measure)}
            ranks = result.first_ranks.get(measure.unit, {}).get(type_)
            if measure.metric.name == FIRST_RANK and ranks is not None:
                row = {**about, **counted(ranks.found)}
                median = {"value": ranks.median, "low": None, "high": None}
                yield {**row, "measure": f"{measure}_median", **median}
                yield {**row, "measure": f"{measure}_found"}


def counted(mean: Interval, name: str = "value") -> dict[str, object]:
    """Return the cells of a mean in CSV, its value by `name`."""
    ends = {name: mean.value, "low": mean.low, "high": mean.high}
    return {**ends, "n": mean.n, "conversations": mean.clusters}
