"""`python -m eval.studies.harm RUN`: what runs show and use of planted facts that are wrong.

Rows are runs, columns are kinds of plants. For runs on dataset=planted, or on dataset=synthetic
with dataset.plants; docs/harm.md explains the kinds and the rates.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.cli import add_runs, add_wide, code_of, parser
from eval.datasets.types import PLANT_KINDS
from eval.metrics.stats.interval import scope
from eval.records.run import Run, load_runs
from eval.rendering.numbers import ABSENT, interval
from eval.rendering.terminal import fitted, markdown
from eval.summary.harm import Harm, HarmMeasure, deletions, errors, harms
from memsys.core.errors import InputError

_TITLES: Mapping[HarmMeasure, str] = {
    "shown": "Shown: share of questions whose context has a wrong value",
    "used": "Used: share of questions whose answer has a wrong value; absent: that are answered",
    "refused": "Refused: share of control questions without an answer, although the fact is there",
}
_CSV = ("run", "strategy", "kind", "measure", "n", "errors", "rate", "low", "high")
Rates = Sequence[tuple[Run, Sequence[Harm]]]
Table = tuple[list[str], list[list[str]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return the exit code: 2 for bad input, 130 after Ctrl-C."""
    command = parser(
        "studies.harm",
        "Print, for runs on planted facts, how often wrong values were shown to the reader and "
        "used in its answers, and how often facts that are there were refused, with 95%% "
        "intervals.",
    )
    add_runs(command)
    written = "also write FOLDER/harm.md and FOLDER/harm.csv"
    command.add_argument("--out", type=Path, metavar="FOLDER", help=written)
    add_wide(command)
    options = command.parse_args(arguments)
    return code_of(lambda: _print(options.runs, options.out))


def _print(names: Sequence[str], out: Path | None) -> None:
    runs = load_runs(names)
    for run in runs[1:]:
        if run.records.keys() != runs[0].records.keys():
            raise InputError(
                f"{run.label}: asks other questions than {runs[0].label}; name runs on the same "
                "planted facts"
            )
    rates = [(run, harms(run)) for run in runs]
    found = tables(rates)
    known = [harm.rate for _, row in rates for harm in row if harm.rate is not None]
    note = f"95% intervals {scope(rate.clusters for rate in known)}."
    print("\n\n".join([*(f"{title}\n{fitted(*table)}" for title, table in found), note]))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        parts = [f"{title}\n\n{markdown(*table)}" for title, table in found]
        (out / "harm.md").write_text("\n\n".join(["# Harm", *parts, note]) + "\n", "utf-8")
        (out / "harm.csv").write_text(as_csv(rates), "utf-8")
        print(f"\nwritten to {out}: harm.md, harm.csv")


def tables(rates: Rates) -> list[tuple[str, Table]]:
    """Return title and table of each measure, and of the deletion requests if there are any."""
    found = [(title, table) for one, title in _TITLES.items() if (table := _table(rates, one))]
    deleted = [(run, deletions(run.ingests)) for run, _ in rates]
    if any(one.requested for _, one in deleted):
        rows = [
            [run.label, str(one.requested), str(one.unsupported)]
            for run, one in deleted
            if one.requested
        ]
        header = ["run", "turns to delete", "of them unsupported"]
        found.append(("Deletion requests carried out", (header, rows)))
    return found


def _table(rates: Rates, measure: HarmMeasure) -> Table | None:
    cells = [{h.kind: h for h in row if h.measure == measure} for _, row in rates]
    kinds = [kind for kind in PLANT_KINDS if any(kind in row for row in cells)]
    if not kinds:
        return None
    header = ["run", "errors"]
    for kind in kinds:
        counts = {row[kind].n for row in cells if kind in row} - {0}
        header.append(f"{kind} n={counts.pop()}" if len(counts) == 1 else kind)
    rows = []
    for (run, _), row in zip(rates, cells, strict=True):
        rows.append([run.label, str(errors(run, measure))])
        for kind, heading in zip(kinds, header[2:], strict=True):
            rows[-1].append(_cell(row.get(kind), with_n=heading == kind))
    return header, rows


def _cell(harm: Harm | None, *, with_n: bool) -> str:
    if harm is None:
        return ABSENT
    if harm.rate is None:
        return f"{ABSENT} (errors: {harm.errors})"
    return interval(harm.rate) + (f" n={harm.n}" if with_n else "")


def as_csv(rates: Rates) -> str:
    """Return one line for each rate of each run."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_CSV)
    for run, row in rates:
        for one in row:
            ends = (one.rate.value, one.rate.low, one.rate.high) if one.rate else ()
            values = (run.label, run.strategy, one.kind, one.measure, one.n, one.errors)
            lines.writerow([*values, *([f"{end:.6f}" for end in ends] or [""] * 3)])
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
