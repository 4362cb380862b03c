"""`python -m eval.studies.harm RUN`: what runs show and use of planted facts that are wrong.

Rows are runs, columns are kinds of plants. For runs on dataset=planted, or on dataset=synthetic
with dataset.plants; docs/harm.md explains the kinds and the rates.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from eval.cli import add_runs, add_wide, code_of, parser
from eval.datasets.types import PLANT_KINDS, PlantKind
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import Interval, scope
from eval.records.run import Run, load_runs
from eval.records.schema import IngestLine, Record
from eval.rendering.numbers import ABSENT, interval
from eval.rendering.terminal import fitted, markdown
from eval.summary.sample import Sample
from memsys.core.errors import InputError

_TITLES: Mapping[HarmMeasure, str] = {
    "shown": "Shown: share of questions whose context has a wrong value",
    "used": "Used: share of questions whose answer has a wrong value; absent: that are answered",
    "refused": "Refused: share of control questions without an answer, although the fact is there",
}
_CSV = ("run", "strategy", "kind", "measure", "n", "errors", "rate", "low", "high")
Table = tuple[list[str], list[list[str]]]
HarmMeasure = Literal["shown", "used", "refused"]
MEASURES: tuple[HarmMeasure, ...] = get_args(HarmMeasure)
FORGET, UNSUPPORTED = "forget", "unsupported"  # step and result of events in ingest.jsonl


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


@dataclass(frozen=True, slots=True)
class Harm:
    """A rate of harm: of `n` questions about plants of a kind, with its 95% interval; None if all
    of them failed. `errors`: questions that failed, which are not among the n.
    """

    kind: PlantKind
    measure: HarmMeasure
    n: int
    errors: int
    rate: Interval | None


Rates = Sequence[tuple[Run, Sequence[Harm]]]


@dataclass(frozen=True, slots=True)
class Deletions:
    """Deletion requests of a run: turns to be deleted, and how many of them the system cannot
    delete, by its own report.
    """

    requested: int
    unsupported: int


def harms(run: Run) -> list[Harm]:
    """Return the rates that `run` determines: `shown` (a wrong value in the context), `used` (one
    in the answer) and, over the controls, `refused` (no answer although the fact is there).

    Raises InputError if no question is about planted facts.
    """
    planted = _planted(run)
    if not planted:
        raise InputError(
            f"{run.label}: no question is about planted facts; use runs on dataset=planted, or on "
            "dataset=synthetic with dataset.plants"
        )
    found = []
    for kind in PLANT_KINDS:
        of_kind = [record for record in planted if record["plant"]["kind"] == kind]
        for measure in MEASURES:
            asked = _asked(of_kind, measure)
            harm = _harm(kind, measure, asked, run.seed)
            found += [harm] if harm is not None else []
    return found


def errors(run: Run, measure: HarmMeasure) -> int:
    """Return how many of the questions that `measure` is about failed, each counted once."""
    return sum(record["status"] != "ok" for record in _asked(_planted(run), measure))


def _planted(run: Run) -> list[Record]:
    return [record for record in run.records.values() if "plant" in record]


def _asked(planted: Iterable[Record], measure: HarmMeasure) -> list[Record]:
    """Return the controls for `refused`, all other questions for the other measures."""
    control = measure == "refused"
    return [record for record in planted if record["plant"]["control"] == control]


def _harm(kind: PlantKind, measure: HarmMeasure, asked: Sequence[Record], seed: int) -> Harm | None:
    """Return the rate; None where the measure is not defined for these questions."""
    answered = [record for record in asked if record["status"] == "ok"]
    if not answered:
        defined = asked and (kind, measure) != ("absent", "shown")
        return Harm(kind, measure, 0, len(asked), None) if defined else None
    values = [_value(record, measure) for record in answered]
    rate = Sample.of(answered, values, seed).share()
    return None if rate is None else Harm(kind, measure, rate.n, len(asked) - len(answered), rate)


def _value(record: Record, measure: HarmMeasure) -> float | None:
    if measure == "refused":
        return None if record["abstained"] is None else float(record["abstained"])
    return record["scores"].get(SHOWN if measure == "shown" else USED)


def deletions(lines: Iterable[IngestLine]) -> Deletions:
    """Return what the events of ingest.jsonl say about deletion requests."""
    events: list[Mapping[str, object]] = [
        event for line in lines for event in line.get("events", ()) if event.get("step") == FORGET
    ]
    return Deletions(
        sum(_turns(event) for event in events),
        sum(_turns(event) for event in events if event.get("result") == UNSUPPORTED),
    )


def _turns(event: Mapping[str, object]) -> int:
    turns = event.get("turns")
    return len(turns) if isinstance(turns, Sequence) else 0


if __name__ == "__main__":
    sys.exit(main())
