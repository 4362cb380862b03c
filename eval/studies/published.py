"""`python -m eval.studies.published [FILE ...]`: published LoCoMo tables, official category names.

Sources name the categories of LoCoMo differently. Where a source prints an overall, the counts by
category tell which names are meant: overall = sum(n_c * score_c) / sum(n_c).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from pathlib import Path

from eval.cli import code_of
from eval.datasets.types import TYPES
from eval.rendering.tables import plain
from eval.studies.published_files import COUNTS, SCALE, Row, Source, Table, load_published
from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class Relabelled:
    """One row under true names: scores by type and overalls in percent.

    `as_labelled` takes the printed names at their word, `true` takes the categories they stand for.
    `agrees` says of these two in turn whether that is the printed overall but for rounding.
    """

    system: str
    scores: Mapping[str, float]
    printed: float | None
    as_labelled: float
    true: float
    agrees: tuple[bool, bool]


def weighted_overall(row: Row, labels: Mapping[str, int]) -> float:
    """sum(n_c * score_c) / sum(n_c), n_c = COUNTS[c], over the categories `row` has scores for.

    `labels` gives the category of each printed label. Unit: that of the row. Raises InputError if
    a label has no category, or if the categories are not 1 to 4 (or 1 to 5) once each.
    """
    for label in row.scores:
        if label not in labels:
            raise InputError(f"{row.system}: no category for the label {label!r}; add it")
    found = sorted(labels[label] for label in row.scores)
    if found not in ([1, 2, 3, 4], [1, 2, 3, 4, 5]):
        raise InputError(f"{row.system}: categories {found}; an overall needs 1 to 4 once each")
    total = sum(COUNTS[labels[label]] * score for label, score in row.scores.items())
    return total / sum(COUNTS[category] for category in found)


def relabel(table: Table) -> tuple[Relabelled, ...]:
    """Every row under true names, types in official order, with its overall recomputed twice."""
    names = {label.category: label.printed for label in table.labels}
    scale = SCALE[table.unit]
    rows = []
    for row in table.rows:
        as_labelled = weighted_overall(row, {x.printed: x.reads_as for x in table.labels})
        true = weighted_overall(row, {x.printed: x.category for x in table.labels})
        rows.append(
            Relabelled(
                system=row.system,
                scores={TYPES[c]: scale * row.scores[names[c]] for c in sorted(names)},
                printed=None if row.overall is None else scale * row.overall,
                as_labelled=scale * as_labelled,
                true=scale * true,
                agrees=(_agrees(table, row, as_labelled), _agrees(table, row, true)),
            )
        )
    return tuple(rows)


def reproducing(table: Table) -> list[dict[str, int]]:
    """Every assignment of categories to labels that gives all printed overalls but for rounding.

    Rows without an overall, or whose overall is `explained`, are left aside; with no row left
    there is no such assignment.
    """
    rows = [row for row in table.rows if row.overall is not None and not row.explained]
    labels = [label.printed for label in table.labels]
    orders = permutations(label.category for label in table.labels)
    tried = [dict(zip(labels, order, strict=True)) for order in orders]
    return [
        labels_
        for labels_ in tried
        if rows and all(_agrees(table, row, weighted_overall(row, labels_)) for row in rows)
    ]


def _agrees(table: Table, row: Row, overall: float) -> bool:
    """Each score may be off by half a last digit, so their mean too, and the printed overall."""
    off = 10.0**-table.decimals
    return row.overall is not None and abs(overall - row.overall) <= off * (1 + 1e-6)


def show(source: Source) -> str:
    """The source's tables under true names, for the terminal."""
    parts = [f"{source.title} ({source.year})", source.address]
    renamed = [label for label in source.labels if label.reads_as != label.category]
    parts += [
        f"  {label.printed!r} there is category {label.category}, {TYPES[label.category]}"
        for label in renamed
    ] or ["  its names are the true ones"]
    for table in source.tables:
        rows = relabel(table)
        header = ["system", *rows[0].scores, "printed overall", "as labelled", "true names", ""]
        lines = [[*_cells(row), _verdict(row, bool(renamed))] for row in rows]
        parts += ["", f"{table.name}: {table.metric}, percent", plain(header, lines)]
        parts += [f"  {row.system}: {row.explained}" for row in table.rows if row.explained]
        if any(row.overall is not None for row in table.rows):
            parts.append(_ways(table))
    return "\n".join(parts)


def _cells(row: Relabelled) -> list[str]:
    values = [*row.scores.values(), row.printed, row.as_labelled, row.true]
    return [row.system, *("-" if value is None else f"{value:.2f}" for value in values)]


def _verdict(row: Relabelled, renamed: bool) -> str:
    as_labelled, true = row.agrees
    if row.printed is None:
        return "no overall printed"
    if not true:
        return "only as labelled" if as_labelled else "not reproduced"
    return "only by true names" if renamed and not as_labelled else "reproduced"


def _ways(table: Table) -> str:
    found = reproducing(table)
    true = {label.printed: label.category for label in table.labels}
    which = "the true names alone" if found == [true] else "the true names among them"
    return (
        f"  every overall but those explained is reproduced by {len(found)} of "
        f"{factorial(len(true))} ways to assign the categories, "
        + (which if true in found else "but not by the true names")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.studies.published",
        description="Published LoCoMo tables under the true category names, with their overalls "
        "recomputed as labelled and under the true names.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="default: every file of results/published",
    )
    files = parser.parse_args(arguments).files
    return code_of(lambda: print("\n\n".join(map(show, load_published(files)))))


if __name__ == "__main__":
    sys.exit(main())
