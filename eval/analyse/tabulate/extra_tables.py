"""Tables that an experiment requests by the key `tables` of its YAML file.

`by_type`: means by question type. `gates`: gates against an oracle gate. `interaction`: whether a
strategy gains more over its base with one embedder than with another. `harm`: rates by kind of
planted fact. `matrix`: see eval.analyse.tabulate.matrix.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence

from eval.analyse.tabulate.effects import MULTI_HOP, RECALL
from eval.analyse.tabulate.grid import Grid
from eval.datasets.types import ADVERSARIAL, PLANT_KINDS, TYPES, types_in
from eval.metrics.evidence import SESSIONS
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import Interval
from eval.records.comma_separated import write_rows
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.contrasts import difference_cells
from eval.rendering.numbers import interval, percent
from eval.summary.contrast import paired_contrasts
from eval.summary.gate_cases import Case, cases, gate_shares, sample
from eval.summary.measures import ABSTAINED, types_of, value
from eval.summary.sample import Sample
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

Table = tuple[list[str], list[list[str]]]  # header and rows
_TITLES = {RECALL: "Evidence recall, by turn", SESSIONS: "Evidence recall, by session"}
_TYPES = tuple(name for category, name in TYPES.items() if category != ADVERSARIAL)
_NAMES = ("interaction", "by_type", "gates", "harm")
_HARM = {  # score and whether it is of controls: its title
    (SHOWN, False): "Shown: share of questions whose context has a wrong value",
    (USED, False): "Used: share of questions whose answer has a wrong value; absent: any answer",
    (ABSTAINED, True): "Refused: share of controls without an answer, although the fact is there",
}


def requested(grid: Grid, runs: Sequence[Run], seed: int) -> Iterator[tuple[str, list[Table]]]:
    """Yield heading and tables of each request of the experiment.

    For `gates`, the first run never expands and the second always does. Settings of `interaction`:
    embedders `weak` (one) and `strong` (list), and `base` (strategy -> the same without its graph).
    Raises InputError on an unknown table.
    """
    if unknown := [name for name in grid.tables if name not in _NAMES]:
        raise InputError(
            f"conf/experiment/{grid.name}.yaml: tables: {unknown[0]}: no such table; use "
            f"{', '.join(_NAMES)}, or matrix alone"
        )
    if settings := grid.tables.get("interaction"):
        weak, base = settings["weak"], settings["base"]
        yield (
            "Gains over the same ranking without the graph, and whether they are greater with the "
            f"weak vectors of {weak}, against each stronger embedder (Holm's method within each "
            "table):",
            [interaction(runs, base, strong, weak, seed) for strong in settings["strong"]],
        )
    if "by_type" in grid.tables:
        for title, table in by_type(runs, seed):
            yield f"{title}, mean [95% interval], number of questions in the header:", [table]
    if "gates" in grid.tables:
        heading = "Against an oracle gate (types 1 to 4 with evidence):"
        yield heading, [gates(runs, runs[0], runs[1], seed)]
    if "harm" in grid.tables:
        for title, table in harm(runs, seed):
            yield f"{title}, by kind of planted fact with the number of questions:", [table]


def has_own_types(runs: Sequence[Run]) -> bool:
    """Return whether the question types are other than LoCoMo's."""
    return types_in(runs[0].records.values()) is not TYPES


def by_type(runs: Sequence[Run], seed: int) -> Iterator[tuple[str, Table]]:
    """Yield title and table of each score: a column per type with its number of questions, a row
    per run with means and 95% intervals.
    """
    grouped = any(" " in run.label for run in runs)
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        means = [_means(run, key, seed) for run in runs]
        names = [name for name in types_of(runs) if any(name in one for one in means)]
        if not names:
            continue
        counts = {name: next(one[name].n for one in means if name in one) for name in names}
        rows = [
            [
                f"`{run.label if grouped else run.label.partition('=')[2]}`",
                *(interval(one.get(name)) for name in names),
            ]
            for run, one in zip(runs, means, strict=True)
        ]
        header = ["by type", *(f"{name} ({counts[name]})" for name in names)]
        yield _TITLES.get(key, "F1"), (header, rows)


def types_as_csv(runs: Sequence[Run], seed: int) -> str:
    """Return the means by type at full precision, as CSV lines with the columns of the effects
    (empty: reference and difference).
    """
    lines: list[list[object]] = []
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        for run in runs:
            for name, one in _means(run, key, seed).items():
                if name == OVERALL:  # is among the effects
                    continue
                rows = [row for row in run.records.values() if row["type"] == name]
                clusters = len({row["conversation"] for row in rows})
                line = [key, name, run.label, run.manifest["run_id"], None, one.n, clusters]
                lines.append([*line, one.value, one.low, one.high, *[None] * 9])
    text = io.StringIO()
    write_rows(text, lines)
    return text.getvalue()


def _means(run: Run, key: str, seed: int) -> dict[str, Interval]:
    """Return the mean of each type that has the score, overall last; adversarial has no gold."""
    asked = [one for one in run.records.values() if one["category"] != ADVERSARIAL]
    means = {}
    for name in types_of([run]):
        rows = [one for one in asked if name in (OVERALL, one["type"])]
        means[name] = Sample.of(rows, [value(row, key) for row in rows], seed).score()
    return {name: one for name, one in means.items() if one is not None}


def gates(runs: Sequence[Run], never: Run, always: Run, seed: int) -> Table:
    """Return a row per gate on types 1 to 4 with evidence, and last the oracle gate.

    precision: share of opened questions whose evidence recall expansion raises. recall: share of
    the latter that were opened. harmful: share of opened questions whose recall it lowers.
    """
    header = ["gate", "n", "opened", "precision", "recall", "harmful", "evidence recall"]
    lines = []
    found: list[Case] = []
    for run in runs:
        found = cases(*(_answered(one) for one in (run, never, always)))
        shares = gate_shares(found, seed)
        reached = [case.expanded if case.opened else case.direct for case in found]
        cells = (shares.opened, shares.precision, shares.recall, shares.harmful)
        mean = interval(sample(found, reached, seed).score())
        lines.append([_label(run), str(len(found)), *map(percent, cells), mean])
    best = sample(found, [max(case.direct, case.expanded) for case in found], seed).score()
    raised = percent(gate_shares(found, seed).raised)
    lines.append(["oracle", str(len(found)), raised, "100%", "100%", "0%", interval(best)])
    return header, lines


def harm(runs: Sequence[Run], seed: int) -> Iterator[tuple[str, Table]]:
    """Yield title and table of each rate of harm: a row per run, a column per kind of plant.

    docs/harm.md defines the rates; questions that failed do not count.
    """
    for (key, control), title in _HARM.items():
        rates = [_by_kind(run, key, control, seed) for run in runs]
        known = {kind: row[kind].n for row in rates for kind in PLANT_KINDS if kind in row}
        kinds = [kind for kind in PLANT_KINDS if kind in known]
        rows = [
            [_label(run), *(interval(row.get(kind)) for kind in kinds)]
            for run, row in zip(runs, rates, strict=True)
        ]
        if kinds:
            yield title, (["run", *(f"{kind} ({known[kind]})" for kind in kinds)], rows)


def _by_kind(run: Run, key: str, control: bool, seed: int) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    for kind in PLANT_KINDS:
        asked = [
            one
            for one in run.records.values()
            if (plant := one.get("plant")) and (plant["kind"], plant["control"]) == (kind, control)
        ]
        rate = Sample.of(asked, [value(one, key) for one in asked], seed).share()
        if rate is not None:
            found[kind] = rate
    return found


def _label(run: Run) -> str:
    return f"`{run.label.partition('=')[2]}`"


def _answered(run: Run) -> list[Record]:
    return [record for record in run.records.values() if record["status"] == "ok"]


def interaction(
    runs: Sequence[Run], base: Mapping[str, str], strong: str, weak: str, seed: int
) -> Table:
    """Return a row per strategy of `base` and score: its gain over its base with either embedder,
    and the gain with the `weak` one minus the gain with the `strong` one.

    Paired by question: (strategy - base) with `weak` minus (strategy - base) with `strong`, so that
    the difficulty of a question cancels. p is adjusted over all rows.
    """
    by_name = {(one.manifest["choices"]["embedder"], one.manifest["strategy"]): one for one in runs}
    titles, gains, differences = [], [], []
    for strategy, plain in base.items():
        four = [by_name.get((e, s)) for e in (weak, strong) for s in (strategy, plain)]
        known = [run for run in four if run is not None]
        if len(known) < len(four):
            continue
        for score, key, types in (
            ("F1", known[0].own_f1, _TYPES),
            ("evidence recall", RECALL, _TYPES),
            ("evidence recall, multi_hop", RECALL, (MULTI_HOP,)),
        ):
            records, weak_gain, strong_gain = _gains(known, key, types)
            titles.append([f"{strategy} - {plain}", score, str(len(records))])
            means = [
                Sample.of(records, each, seed).mean(-1, 1) for each in (strong_gain, weak_gain)
            ]
            gains.append([interval(mean) for mean in means])
            both = zip(weak_gain, strong_gain, strict=True)
            differences.append((records, [mine - other for mine, other in both]))
    header = ["gain of", "in", "n", f"with {strong}", f"with {weak}", f"{weak} minus {strong}"]
    judged = [difference_cells(one) for one in paired_contrasts(differences, seed, 2.0)]
    parts = zip(titles, gains, judged, strict=True)
    return [*header, "p (Holm)", "verdict"], [[*one, *two, *three] for one, two, three in parts]


def _gains(
    runs: Sequence[Run], key: str, types: Sequence[str]
) -> tuple[list[Record], list[float], list[float]]:
    """Return the questions with scores in all four runs, and the gains within either pair."""
    records, first, last = [], [], []
    for id_, record in runs[0].records.items():
        if record["type"] not in types:
            continue
        scores = [value(run.records[id_], key) if id_ in run.records else None for run in runs]
        known = [score for score in scores if score is not None]
        if len(known) == len(scores):
            records.append(record)
            first.append(known[0] - known[1])
            last.append(known[2] - known[3])
    return records, first, last
