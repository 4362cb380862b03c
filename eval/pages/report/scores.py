"""The headline, the scores of answers and of rankings by question type, and the judges."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from eval.analyse.retrieval.measured import named
from eval.metrics.evidence import RECORDED
from eval.metrics.retrieval.registry import CUTOFFS, UNITS, Measure, Unit, parse
from eval.metrics.stats.interval import Interval
from eval.pages.report.runs import ReportedRun, looks_of
from eval.records.head import heads
from eval.rendering.blocks import Block, Chart, Part, Section, Table
from eval.rendering.charts import dots, trends
from eval.rendering.numbers import interval, number, percent
from eval.rendering.tables import answered, by_run, interval_of, run_tables, scope_of, type_name
from eval.summary.measures import types_of
from eval.summary.retrieval import OF_SETS, by_type, depth_of, is_selected, unit_of
from eval.summary.sample import Sample
from eval.summary.subset_score import estimate_sentences
from eval.summary.summarise import OVERALL

_OF_RANKINGS = tuple((name, name) for name in RECORDED)
_FIT = 11  # columns of a table, most of them with intervals, in a window of 1280 pixels
_DISPENSABLE = ("BLEU-1", "retrieve p95 ms", "n, type 5")  # from the headline, if it is too wide
_SCORES = (("f1", "F1"), ("judge", "judge"), ("evidence_recall", "evidence recall"))
_SETTINGS = ("model", "rubric", "prompt", "prompt_sha256", "threshold")


def headline_block(runs: Sequence[ReportedRun], conclusions: Sequence[str]) -> Block:
    """Return a table of all runs, the `conclusions` or one run's means, and all warnings."""
    table = by_run([(run.label, run.summary) for run in runs]).filled()
    kept = list(range(len(table.header)))  # as many columns as fit a page
    for name in (*_DISPENSABLE, *reversed(table.header)):
        if len(kept) > _FIT:
            kept = [i for i in kept if table.header[i] != name]
    header, *rows = ([row[i] for i in kept] for row in (table.header, *table.rows))
    shown = Table(header, rows)
    parts: list[Part] = [*heads([(run.label, run.manifest) for run in runs]), shown]
    parts.append(
        f"Scores of {answered(runs[0].summary['by_type'])}, unless another type is named. In "
        f"brackets: 95% intervals {scope_of(run.summary for run in runs)}. Failed questions "
        "count in n and in no mean."
    )
    parts += [_sentence(runs[0])] if len(runs) == 1 else conclusions
    parts += [
        f"{run.label} on {estimate}" for run in runs for estimate in estimate_sentences(run.summary)
    ]
    if len(shown.header) < len(table.header):
        parts.append(Section("All columns", [table]))
    parts += [
        f"Warning, {run.label}: {warning}" for run in runs for warning in run.summary["warnings"]
    ]
    return Block("headline", "Headline", parts)


def types_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return charts of each score by question type, then the tables of each run that has answers;
    None where there is neither.
    """
    parts: list[Part] = [
        _chart(runs, column, name)
        for column, name in _SCORES
        if any(run.overall[column] is not None for run in runs)
    ]
    with_answers = [run for run in runs if run.has_answers]
    if any(run.summary["by_type"]["adversarial"]["n"] for run in with_answers):
        parts.append(
            "LoCoMo's F1 of the adversarial type is the official phrase match; abstention is in "
            "the headline and in the error analysis."
        )
    if len(runs) == 1:
        parts += run_tables(runs[0].summary) if with_answers else ()
    else:
        parts += [
            Section(f"{run.label}: every score by type", list(run_tables(run.summary)))
            for run in with_answers
        ]
    if not parts:
        return None
    if without := [run.label for run in runs if not run.has_answers]:
        parts.append(f"No answers: {', '.join(without)}.")
    return Block("types", "Scores by question type", parts)


def _sentence(run: ReportedRun) -> str:
    overall, adversarial = run.overall, run.summary["by_type"]["adversarial"]
    means = [
        f"{name} {interval(mean)}"
        for column, name in (*_SCORES, *(() if run.has_answers else _OF_RANKINGS))
        if (mean := interval_of(overall, column)) is not None
    ]
    if (tokens := interval_of(overall, "context_tokens_mean")) is not None:
        means.append(f"context tokens {interval(tokens, 0)}")
    n, means_text = overall["n"] - overall["errors"], ", ".join(means) or "no score"
    of = f"{overall['n']:,} questions of {answered(run.summary['by_type'])}"
    if not run.has_answers:
        return (
            f"{run.label} on {run.summary['dataset']}: no answers, only its ranking; {means_text}, "
            f"means of those with evidence among {n:,} of {of}."
        )
    sentence = (
        f"{run.label} on {run.summary['dataset']}: {means_text}, mean of the {n:,} answered of {of}"
    )
    if (abstained := interval_of(adversarial, "abstained")) is not None:
        sentence += f"; abstained on {percent(abstained)} of {abstained.n:,} of type 5"
    return f"{sentence}."


def _chart(runs: Sequence[ReportedRun], column: str, name: str) -> Chart:
    rows, lines, looks = [], [], looks_of(runs)
    types = runs[0].summary["by_type"]
    for type_ in types:
        cells = [run.summary["by_type"][type_] for run in runs]
        values = [interval_of(cell, column) for cell in cells]
        if any(values):
            where = type_name(type_, types)
            rows.append((where, values))
            for run, cell, value in zip(runs, cells, values, strict=True):
                lines.append([where, run.label, str(cell["n"] - cell["errors"]), interval(value)])
    caption = f"{name} by question type, 95% interval"
    svg = dots(caption, rows, looks, name, shares=True)
    by_run = zip(*(values for _, values in rows), strict=True)
    legend = [look for look, of_run in zip(looks, by_run, strict=True) if any(of_run)]
    return Chart(caption, svg, Table(["type", "run", "n answered", name], lines), legend)


def judges_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the judges of each run and the members of panels; None where no judge ran."""
    judged = [(run, judge) for run in runs if (judge := run.summary["judge"]) is not None]
    if not judged:
        return None
    members = [row for run, judge in judged for row in _members(run, judge)]
    parts: list[Part] = [
        Table.of(
            judged,
            {
                "run": lambda pair: pair[0].label,
                "judge": lambda pair: pair[1]["name"],
                "score": lambda pair: pair[1]["score"],
                "n judged": lambda pair: f"{pair[1]['n']:,}",
                "mean, all types": lambda pair: interval_of(pair[1], "mean"),
                "settings": lambda pair: _settings(pair[1]),
            },
        ),
        "Share of answers that each judge passed, as the mean of its repetitions over the same "
        "answers, with the standard deviation between these:",
        Table(["run", "member", "n judged", "share passed", "repetitions", "deviation"], members),
    ]
    agreement_rows = []
    for run, judge in judged:
        agreement = judge["agreement"] or {"cohen": {}}
        pairs = agreement["cohen"] | (
            {"all (Fleiss)": agreement["fleiss"]} if "fleiss" in agreement else {}
        )
        for names, entry in pairs.items():
            kappa = number(entry["kappa"])
            if entry["kappa"] is not None and entry["ci"][0] is not None:
                kappa = interval(Interval(entry["kappa"], *entry["ci"]))
            agreement_rows.append([run.label, names, f"{judge['n']:,}", kappa])
    if agreement_rows:
        parts.append("Agreement of the members of a panel beyond chance, over all judged answers:")
        parts.append(Table(["run", "members", "n judged", "kappa"], agreement_rows))
    parts.append(
        "Only a score called judge is J; a stand-in has another name. docs/judges.md describes the "
        "accuracy of judges."
    )
    return Block("judges", "Judges", parts)


def _settings(judge: Mapping[str, Any]) -> str:
    settings = [f"{name} {judge[name]}" for name in _SETTINGS if judge.get(name) is not None]
    return ", ".join(settings) or "see the manifest"


def _members(run: ReportedRun, judge: Mapping[str, Any]) -> list[list[str]]:
    records = [row for row in run.records.values() if row["status"] == "ok" and row["judge"]]
    rows = []
    for name, member in judge["members"].items():
        shares = [fmean((record["judge"] or {})[name]) for record in records]
        passed = interval(Sample.of(records, shares, run.seed).score())
        deviation = number(member["deviation"], 4)
        count, repetitions = f"{len(records):,}", str(len(member["runs"]))
        rows.append([run.label, name, count, passed, repetitions, deviation])
    return rows


_RANKED = ("recall@10", "recall_any@10", "recall_all@10", "ndcg@10", "mrr", "store_share@10")
_OF_SESSIONS = "session_recall_any@5"  # shown beside the measures of turns
_NOTE = (
    "recall: the share of the evidence among the first k ranks; any and all: the share of "
    "questions with at least one, and with all of their evidence there; share of store: the part "
    "of the store that the cutoff is. docs/retrieval.md defines each measure."
)


class _Measured(NamedTuple):
    """Means of a run's rankings of `unit`s by type and name of the measure. `shown`: the measures
    of its tables. `unknown`: why others are not known. `selected`: the rankings have no order.
    """

    run: ReportedRun
    unit: Unit
    selected: bool
    shown: tuple[Measure, ...]
    means: Mapping[str, Mapping[str, Interval]]
    unknown: Sequence[str]


def retrieval_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the recall curves and tables of all runs with rankings; None where no run has any.

    Runs without rankings, or that only select memories, are named, as are unknown measures.
    """
    ranked = [run for run in runs if run.rankings]
    results = []
    for run in ranked:  # MRR has a cutoff if rankings of the same unit have different depths
        beside = [other for other in ranked if unit_of([other]) == unit_of([run])]
        depths = {depth_of(other) for other in beside if not is_selected(other)}
        results.append(_measured(run, "@10" if len(depths) > 1 else ""))
    if not results:
        return None
    parts: list[Part] = [*_recall_charts(runs, results), *_tables(results)]
    if selecting := [result.run.label for result in results if result.selected]:
        parts.append(
            f"Without a ranking: {', '.join(selecting)} select memories. Their recall is that "
            "of everything selected; measures with a cutoff or an order do not apply."
        )
    if without := [run.label for run in runs if not run.rankings]:
        parts.append(f"No rankings are recorded: {', '.join(without)}.")
    parts += [f"{reason}." for result in results for reason in result.unknown]
    return Block("retrieval", "Retrieval", [*parts, _NOTE])


def _measured(run: ReportedRun, cut: str) -> _Measured:
    selected, unit = is_selected(run), unit_of([run])
    names = OF_SETS if selected else [name + cut * (name == "mrr") for name in _RANKED]
    shown = tuple(named(unit, names))
    if unit == "turn" and not selected:
        shown += (parse(_OF_SESSIONS),)
    measures = shown if selected else dict.fromkeys((*shown, *_curve(unit).values()))
    means, reasons = by_type(run, [*measures], run.seed)
    return _Measured(run, unit, selected, shown, means, list(dict.fromkeys(reasons.values())))


def _curve(unit: Unit) -> dict[int, Measure]:
    return dict(zip(CUTOFFS, named(unit, (f"recall@{at}" for at in CUTOFFS)), strict=True))


def _recall_charts(runs: Sequence[ReportedRun], results: Sequence[_Measured]) -> Iterator[Chart]:
    """Yield a chart of recall against the cutoff for each unit in which a run has a curve."""
    for unit in UNITS:
        of_unit = [result for result in results if result.unit == unit]
        means = {result.run.label: result.means.get(OVERALL, {}) for result in of_unit}
        curve = _curve(unit)
        series = [
            [(float(at), of_run[str(m)]) for at, m in curve.items() if str(m) in of_run]
            for of_run in (means.get(run.label, {}) for run in runs)
        ]
        looks = [look for look, points in zip(looks_of(runs), series, strict=True) if points]
        if looks:
            table = _table("run", curve.values(), {look.name: means[look.name] for look in looks})
            where = answered(types_of(runs))
            caption = f"Recall of evidence {unit}s against the cutoff, {where}, 95% interval"
            axes = (f"{unit}s (log scale)", "recall")
            svg = trends(caption, [points for points in series if points], looks, axes)
            yield Chart(caption, svg, table, looks)


def _tables(results: Sequence[_Measured]) -> list[Part]:
    """Return the table of types 1 to 4 by run, then of all types; one run has the latter alone."""
    if len(results) == 1:
        return _types(results[0])
    parts: list[Part] = []
    ordered = sorted(results, key=lambda result: result.selected)
    for shown in dict.fromkeys(result.shown for result in ordered):
        alike = (result for result in results if result.shown == shown)
        if overall := {r.run.label: means for r in alike if (means := r.means.get(OVERALL))}:
            parts.append(_table("run", shown, overall))
    folds = {f"{result.run.label}: retrieval by type": _types(result) for result in results}
    return [*parts, *(Section(title, tables) for title, tables in folds.items() if tables)]


def _types(result: _Measured) -> list[Part]:
    """Return the table of all question types; [] where no measure is known."""
    types = types_of([result.run])
    rows = {type_name(type_, types): means for type_, means in result.means.items() if means}
    return [_table("type", result.shown, rows)] if rows else []


def _table(
    first: str, measures: Collection[Measure], rows: Mapping[str, Mapping[str, Interval]]
) -> Table:
    """Return a table with n and the `measures` of each of `rows`, means by the name of the row."""
    lines = []
    for name, means in rows.items():
        cells = [means.get(str(measure)) for measure in measures]
        counts = dict.fromkeys(f"{mean.n:,}" for mean in cells if mean is not None)
        lines.append([name, "/".join(counts) or "0", *map(interval, cells)])
    return Table([first, "n", *(measure.title for measure in measures)], lines)
