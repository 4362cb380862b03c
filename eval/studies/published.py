"""`python -m eval.studies.published`: published LoCoMo tables under the official category names.

Sources name LoCoMo's categories differently. Where a source prints an overall score, the number of
questions per category shows which names are meant: overall = sum(n_c * score_c) / sum(n_c).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from pathlib import Path

from eval.cli import code_of, parser
from eval.datasets.types import TYPES
from eval.rendering.terminal import plain
from eval.studies import published_retrieval_tables as retrieval_tables
from eval.studies.published_claims import load_claims
from eval.studies.published_files import (
    COUNTS,
    OVERALLS,
    SCALE,
    PublishedSource,
    PublishedTable,
    SystemRow,
    load_published,
)
from eval.studies.published_retrieval import rows_of, runs_of
from memsys.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Relabelled:
    """One row under the official names: scores by type and overalls, in percent.

    `as_labelled` is the overall if the printed names are taken literally, `true` the overall under
    the categories they mean. `agrees`: whether each of the two equals the printed overall, allowing
    for rounding.
    """

    system: str
    scores: Mapping[str, float]
    printed: float | None
    as_labelled: float
    true: float
    agrees: tuple[bool, bool]


def weighted_overall(categories: Sequence[int], scores: Sequence[float]) -> float:
    """Return sum(n_c * score_c) / sum(n_c) with n_c = COUNTS[c], in the unit of `scores`.

    Raises InputError unless `categories` are 1 to 4 (or 1 to 5) once each.
    """
    if sorted(categories) not in OVERALLS:
        raise InputError(f"categories {sorted(categories)}; an overall needs 1 to 4 once each")
    counts = [COUNTS[category] for category in categories]
    return sum(n * score for n, score in zip(counts, scores, strict=True)) / sum(counts)


def relabel(table: PublishedTable) -> tuple[Relabelled, ...]:
    """Return every row under the official names, with its overall recomputed in both readings."""
    categories = [label.category for label in table.labels]
    reads_as = [label.reads_as for label in table.labels]
    scale, rows = SCALE[table.unit], []
    for row in table.rows:
        as_labelled = weighted_overall(reads_as, row.scores)
        true = weighted_overall(categories, row.scores)
        by_category = sorted(zip(categories, row.scores, strict=True))
        rows.append(
            Relabelled(
                row.system,
                {TYPES[category]: scale * score for category, score in by_category},
                None if row.overall is None else scale * row.overall,
                scale * as_labelled,
                scale * true,
                (_agrees(table, row, as_labelled), _agrees(table, row, true)),
            )
        )
    return tuple(rows)


def reproducing(table: PublishedTable) -> list[dict[str, int]]:
    """Return every assignment of categories to labels that reproduces all printed overalls.

    Rows without an overall, or whose overall is `explained`, are skipped; without any other row
    the list is empty.
    """
    rows = [row for row in table.rows if row.overall is not None and not row.explained]
    orders = permutations(label.category for label in table.labels)
    return [
        dict(zip(table.columns, order, strict=True))
        for order in orders
        if rows and all(_agrees(table, r, weighted_overall(order, r.scores)) for r in rows)
    ]


def _agrees(table: PublishedTable, row: SystemRow, overall: float) -> bool:
    """Scores and printed overall are each rounded by at most half of the last digit."""
    tolerance = 10.0**-table.decimals
    return row.overall is not None and abs(overall - row.overall) <= tolerance * (1 + 1e-6)


def show(source: PublishedSource) -> str:
    """Return the source's tables under the official names, for the terminal."""
    renamed = [
        f"  {label.printed!r} there is category {label.category}, {TYPES[label.category]}"
        for label in source.labels
        if label.reads_as != label.category
    ]
    parts = [f"{source.title} ({source.year})", source.address]
    parts += renamed or ["  its names are the true ones"]
    for table in source.tables:
        rows = relabel(table)
        header = ["system", *rows[0].scores, "printed overall", "as labelled", "true names", ""]
        lines = []
        for row in rows:
            values = [*row.scores.values(), row.printed, row.as_labelled, row.true]
            cells = ["-" if value is None else f"{value:.2f}" for value in values]
            lines.append([row.system, *cells, _verdict(row, bool(renamed))])
        parts += ["", f"{table.name}: {table.metric}, percent", plain(header, lines)]
        parts += [f"  {row.system}: {row.explained}" for row in table.rows if row.explained]
        if any(row.overall is not None for row in table.rows):
            parts.append(_ways(table))
    return "\n".join(parts)


def _verdict(row: Relabelled, renamed: bool) -> str:
    as_labelled, true = row.agrees
    if row.printed is None:
        return "no overall printed"
    if not true:
        return "only as labelled" if as_labelled else "not reproduced"
    return "only by true names" if renamed and not as_labelled else "reproduced"


def _ways(table: PublishedTable) -> str:
    ways, true = reproducing(table), {label.printed: label.category for label in table.labels}
    which = "the true names alone" if ways == [true] else "the true names among them"
    return (
        f"  every overall but those explained is reproduced by {len(ways)} of "
        f"{factorial(len(true))} ways to assign the categories, "
        + (which if true in ways else "but not by the true names")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return the exit code: 2 for bad input, 130 after Ctrl-C."""
    options = parser(
        "studies.published",
        "Published LoCoMo tables under the official category names, their overalls recomputed "
        "under the names as printed and under the official names. With --retrieval: published "
        "retrieval figures beside the same measure of recorded runs.",
    )
    text = "files of published tables (default: every file of results/published)"
    text += "; with --retrieval: runs (default: the newest of hybrid_rank under results/runs)"
    options.add_argument("files", nargs="*", metavar="FILE", help=text)
    options.add_argument("--retrieval", action="store_true", help="compare retrieval figures")
    text = f"also write {retrieval_tables.NAME}.md and .csv to this folder"
    options.add_argument("--out", type=Path, metavar="FOLDER", help=text)
    given = options.parse_args(arguments)
    if given.out and not given.retrieval:
        options.error("--out needs --retrieval")

    def print_tables() -> None:
        if not given.retrieval:
            print("\n\n".join(map(show, load_published([Path(file) for file in given.files]))))
            return
        runs = runs_of(given.files)
        if given.out and not runs:
            raise InputError("--out: no run to compare with; run it without --out for the commands")
        rows = rows_of(load_claims(), runs)
        print(retrieval_tables.show(rows))
        if given.out:
            retrieval_tables.write(rows, given.out)

    return code_of(print_tables)


if __name__ == "__main__":
    sys.exit(main())
