"""Contrasts of runs as rows of a table, as CSV and as sentences."""

from collections.abc import Iterator, Sequence
from itertools import chain, product
from math import isnan

from eval.metrics.stats.interval import scope
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, change, interval, p_value, share, signed
from eval.rendering.tables import answered, type_name
from eval.summary.contrast import NOT_SHOWN, Contrast, Row
from eval.summary.measures import ABSTAINED, lower_is_better, types_of
from eval.summary.summarise import OVERALL

_DECIDING = ("difference", "p (Holm)", "verdict")
_EXPLAINING = ("d_z", "detectable")
_OF_QUANTITIES = ("change", "p (Holm)", "verdict", "detectable")
COLUMNS = (
    *("score", "type", "run", "run_id", "reference", "n", "conversations"),
    *("mean", "mean_low", "mean_high", "difference", "difference_low", "difference_high"),
    *("p", "p_holm", "p_mcnemar", "d_z", "needed", "verdict"),
)
_RATIO = ("ratio", "ratio_low", "ratio_high")  # columns of CSV where a quantity was compared


def table(rows: Sequence[Row], runs: Sequence[Run]) -> Table:
    """Return a line per run of each row; McNemar's p only where some row has one.

    First what decides, the difference, p and the verdict, then what explains it.
    """
    header = _header(rows)
    lines, types = [], types_of(runs)
    for row in rows:
        reference = ["reference", *[""] * (len(header) - 1)]
        for i, run in enumerate(runs):
            start = ["" if i else type_name(row.type, types), run.label, str(row.n)]
            judged = _contrast(row, row.contrasts[i - 1], header) if i else reference
            lines.append([*start, mean_text(row, i), *judged])
    quantity = next((row.quantity for row in rows), None)
    aggregate = "mean" if quantity is None else quantity.aggregate
    return Table(["type", "run", "n", aggregate, *header], lines)


def comma_separated(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> str:
    """Return CSV with all numbers at full precision: a line per run of each row."""
    quantities = any(row.quantity for rows in tables for row in rows)
    return text_of((*COLUMNS, *(_RATIO if quantities else ())), csv_lines(tables, runs))


def csv_lines(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> Iterator[dict[str, object]]:
    """Yield a line per run of each row, its values by COLUMNS."""
    for row, (i, run) in product(chain(*tables), enumerate(runs)):
        line = {
            **{"score": row.key, "type": row.type, "reference": runs[0].label},
            **{"run": run.label, "run_id": run.manifest["run_id"]},
            **{"n": row.n, "conversations": row.clusters, "mean": row.means[i]},
        }
        if i:
            gap = row.contrasts[i - 1]
            line |= {"p": gap.p, "p_holm": gap.p_holm, "needed": gap.needed, "verdict": gap.verdict}
            if row.quantity is None:
                line |= {"difference": gap.difference, "d_z": gap.effect}
                line["p_mcnemar"] = gap.p_mcnemar
            else:
                line["ratio"] = gap.difference.shifted(1)
        yield line


def pairs(rows: Sequence[Row], runs: Sequence[Run]) -> Table:
    """Return a line for each pair of `runs`. `rows`: of each run but the last, its contrasts with
    the runs after it.
    """
    header = _header(rows)
    lines = [
        [other.label, reference.label, str(row.n), *_contrast(row, contrast, header)]
        for i, (reference, row) in enumerate(zip(runs[:-1], rows, strict=True))
        for other, contrast in zip(runs[i + 1 :], row.contrasts, strict=True)
    ]
    return Table(["run", "reference", "n", *header], lines)


def difference_cells(contrast: Contrast) -> list[str]:
    """Return the difference with its interval, the adjusted p and the verdict; `no difference
    shown` is followed by the least that would be shown.
    """
    verdict: str = contrast.verdict
    if contrast.verdict == NOT_SHOWN:
        least = _detectable(contrast)
        verdict += f" ({f'detectable: {least}' if 0 < contrast.needed <= 1 else least})"
    return [interval(contrast.difference, form=signed), p_value(contrast.p_holm), verdict]


def _header(rows: Sequence[Row]) -> list[str]:
    """Return the headings of contrasts, with McNemar's p where some contrast has one."""
    if any(row.quantity for row in rows):
        return [*_OF_QUANTITIES]
    exact = any(contrast.p_mcnemar is not None for row in rows for contrast in row.contrasts)
    return [*_DECIDING, *(["p (McNemar)"] if exact else []), *_EXPLAINING]


def mean_text(row: Row, index: int) -> str:
    """Return the mean, or the percentile, of the run `index` with its interval."""
    return interval(row.means[index], 3 if row.quantity is None else row.quantity.digits)


def difference_text(row: Row, contrast: Contrast) -> str:
    """Return a difference with its interval; of a quantity the change in percent."""
    if row.quantity is None:
        return interval(contrast.difference, form=signed)
    return interval(contrast.difference, 1, change)


def _contrast(row: Row, contrast: Contrast, header: Sequence[str]) -> list[str]:
    """Return the cells of a contrast of `row` below `header`."""
    cells = {
        header[0]: difference_text(row, contrast),
        "p (Holm)": p_value(contrast.p_holm),
        "verdict": contrast.verdict,
        "p (McNemar)": ABSENT if contrast.p_mcnemar is None else p_value(contrast.p_mcnemar),
        "d_z": signed(contrast.effect, 2),
        "detectable": _detectable(contrast) if row.quantity is None else share(contrast.needed),
    }
    return [cells[name] for name in header]


def _detectable(contrast: Contrast) -> str:
    """Return the minimum detectable difference, or why there is none."""
    if contrast.needed == 0:
        return "all scores are equal"
    return "too few questions" if contrast.needed > 1 else f"{contrast.needed:.3f}"


def conclusions(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> list[str]:
    """Return a sentence per run after the first and per measure, on overall if it is there, else
    the last type.

    Abstention is reported only if nothing else was compared.
    """
    return [_conclusion(row, i, runs) for i in range(len(runs) - 1) for row in _concluding(tables)]


def brief(tables: Sequence[Sequence[Row]], runs: Sequence[Run]) -> list[str]:
    """Return the conclusions as one short sentence each."""
    sentences = []
    for i, row in product(range(len(runs) - 1), _concluding(tables)):
        first, run, contrast = runs[0].label, runs[i + 1].label, row.contrasts[i]
        score, where, p = _named(row, contrast, runs)
        start = f"{run} is {contrast.verdict} than {first} on {where}"
        if contrast.verdict == NOT_SHOWN:
            start = f"{run}: no difference from {first} shown on {where}"
        sentences.append(f"{start}: {score} {interval(contrast.difference, form=signed)}, {p}.")
    return sentences


def method(
    tables: Sequence[Sequence[Row]], runs: Sequence[Run], reference: str = "", extra: int = 0
) -> str:
    """Return one paragraph on how differences, p and `detectable` were computed. `reference`: by
    default the first run; `extra`: number of the last tables that are adjusted apart.
    """
    counts = [sum(len(row.contrasts) for row in rows) for rows in tables]
    count, apart = sum(counts[: len(counts) - extra]), sum(counts[len(counts) - extra :])
    over = scope(row.clusters for rows in tables for row in rows)
    adjusted = f"Holm's over the {count} comparisons shown" if count > 1 else "one comparison"
    if apart:
        adjusted += f", and apart from them over {apart} of retrieval"
    taken = {row.quantity is not None for rows in tables for row in rows}
    against = reference or runs[0].label
    ways = {
        False: f"Difference: run minus {against} on the same questions, 95% interval {over}. "
        f"p: sign-flip test, {adjusted}.",
        True: f"Change: the run's mean or percentile divided by that of {against}, minus 1, 95% "
        f"interval {over}. p: of its logarithm, {adjusted}.",
    }
    parts = [text for kind, text in ways.items() if kind in taken]
    parts.append("detectable: the minimum detectable difference at 80% power.")
    return " ".join([*parts, "docs/statistics.md explains them."])


def _concluding(tables: Sequence[Sequence[Row]]) -> list[Row]:
    scored = [rows for rows in tables if rows and rows[0].key != ABSTAINED]
    reported = scored or [rows for rows in tables if rows]
    return [next((row for row in rows if row.type == OVERALL), rows[-1]) for rows in reported]


def _conclusion(row: Row, index: int, runs: Sequence[Run]) -> str:
    first, run, contrast = runs[0].label, runs[index + 1].label, row.contrasts[index]
    score, where, p = _named(row, contrast, runs)
    if isnan(contrast.difference.value):
        zero = f"{first}; name another run first" if row.means[index + 1].value else "both"
        return f"No ratio of {run} to {first} on {where}: {score} is 0 in {zero}."
    verb = "is" if row.quantity is None else "takes"
    if contrast.verdict == NOT_SHOWN:
        start = f"No difference shown between {run} and {first} on {where}"
    else:
        start = f"{run} {verb} {contrast.verdict} than {first} on {where}"
    form = signed if row.quantity is None else change
    value, low, high = map(
        form, (contrast.difference.value, contrast.difference.low, contrast.difference.high)
    )
    extent = "no interval" if isnan(contrast.difference.low) else f"95% interval {low} to {high}"
    needed = _detectable(contrast)
    if isnan(contrast.needed):
        needed = "too few questions"
    elif row.quantity is not None:
        needed = f"minimum detectable change at 80% power: {share(contrast.needed)}"
    elif contrast.needed > 1:
        needed += " to detect any difference"
    elif contrast.needed:
        needed = f"minimum detectable difference at 80% power: {needed}"
    return (
        f"{start}: {score} {value} ({extent}, {p}; {row.n} question{'s' if row.n > 1 else ''} of "
        f"{row.clusters} conversation{'s' if row.clusters > 1 else ''}); {needed}."
    )


def _named(row: Row, contrast: Contrast, runs: Sequence[Run]) -> tuple[str, str, str]:
    """Return the score, the question types and the p value of a conclusion."""
    refusals = row.key == ABSTAINED and lower_is_better(row.key, row.type)
    score = "false refusals" if refusals else row.key
    where = answered(types_of(runs)) if row.type == OVERALL else row.type
    return score, where, f"p = {p_value(contrast.p_holm)}".replace("= <", "<")
