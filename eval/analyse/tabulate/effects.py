"""Effects of each value of a sweep's last parameter against its first value."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.analyse.tabulate.grid import Grid, label_of
from eval.analyse.tabulate.means import by_type, harm
from eval.datasets.types import TYPES
from eval.metrics.evidence import SESSIONS
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Table
from eval.rendering.contrasts import COLUMNS, csv_lines, difference_cells
from eval.rendering.numbers import interval, percent, signed
from eval.summary.contrast import Contrast, Row, contrast, paired_contrasts
from eval.summary.gate_cases import Case, cases, gate_shares, sample
from eval.summary.measures import ABSTAINED, ADVERSARIAL, RECALL, Measure, share
from eval.summary.sample import Sample
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

MULTI_HOP = TYPES[1]
_LEAST = 3  # adversarial questions for a column: an interval of two says nothing
HASH = 10  # digits of a configuration's sha256 in tables
_TYPES = tuple(name for name in TYPES.values() if name != ADVERSARIAL)
_NAMES = ("interaction", "by_type", "gates", "harm")


@dataclass(frozen=True, slots=True)
class Effects:
    """Runs of one group, the reference first, and their contrasts by measure."""

    group: str
    runs: tuple[Run, ...]
    tables: tuple[tuple[Row, ...], ...]


def effects(grid: Grid, runs: Sequence[Run], seed: int) -> list[Effects]:
    """Return the contrasts with the first run of each group; p is adjusted within a group."""
    found = []
    pairs = zip(grid.jobs, runs, strict=True)
    for group, members in itertools.groupby(pairs, key=lambda pair: pair[0].group):
        chosen = tuple(run for _, run in members)
        f1 = Measure(chosen[0].own_f1, (OVERALL,))
        measures = [f1, Measure(RECALL, (OVERALL, MULTI_HOP))]
        records = chosen[0].records.values()
        if sum(one["type"] == ADVERSARIAL for one in records) >= _LEAST:
            measures.append(Measure(ABSTAINED, (ADVERSARIAL,)))
        if any(SESSIONS in one["scores"] for one in records):
            measures.append(Measure(SESSIONS, (OVERALL,)))
        tables = contrast([(measure, share(chosen, measure)) for measure in measures], seed)
        found.append(Effects(group, chosen, tuple(map(tuple, tables))))
    return found


def rows_of(grid: Grid, found: Sequence[Effects], seed: int) -> Table:
    """Return a row per run: means, differences, context tokens, configuration."""
    # Scores and types that the data set lacks have no column.
    has = {(row.key, row.type) for one in found for table in one.tables for row in table}
    titles = {
        (RECALL, MULTI_HOP): "recall difference, multi_hop",
        (SESSIONS, OVERALL): "session recall difference",
        (ABSTAINED, ADVERSARIAL): "abstained on type 5, difference",
    }
    more = {key: title for key, title in titles.items() if key in has}
    header = [grid.factor, "n", "F1", "F1 difference", "evidence recall", "recall difference"]
    header += [*more.values(), "context tokens", "config"]
    grouped = len({one.group for one in found}) > 1
    lines = []
    for one in found:
        rows = {(row.key, row.type): row for table in one.tables for row in table}
        f1, recall = rows[one.runs[0].own_f1, OVERALL], rows.get((RECALL, OVERALL))
        for i, run in enumerate(one.runs):
            line = [
                label_of(run, grouped=grouped),
                str(f1.n),
                interval(f1.means[i]),
                _difference(f1, i),
            ]
            line += [interval(recall.means[i]) if recall else "-", _difference(recall, i)]
            line += [_difference(rows.get(key), i) for key in more]
            line += [_tokens(run, seed), f"`{run.manifest['config_sha256'][:HASH]}`"]
            lines.append(line)
    return Table(header, lines)


def as_csv(found: Sequence[Effects]) -> str:
    """Return CSV with all numbers at full precision: a line per run, measure and type."""
    return text_of(COLUMNS, (line for one in found for line in csv_lines(one.tables, one.runs)))


def judged(one: Contrast) -> str:
    """Format a difference with its interval and the verdict."""
    text = interval(one.difference, form=signed)
    return f"{text} {'none shown' if one.verdict == 'no difference shown' else one.verdict}"


def _difference(row: Row | None, index: int) -> str:
    if row is None:
        return "-"
    return judged(row.contrasts[index - 1]) if index else "reference"


def _tokens(run: Run, seed: int) -> str:
    answered = [one for one in run.records.values() if one["status"] == "ok"]
    counted = [one for one in answered if one["type"] != ADVERSARIAL]
    tokens = [one["context_tokens"] for one in counted]
    return interval(Sample.of(counted, tokens, seed).mean(0.0), 0)


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
        lines.append([label_of(run, grouped=False), str(len(found)), *map(percent, cells), mean])
    best = sample(found, [max(case.direct, case.expanded) for case in found], seed).score()
    raised = percent(gate_shares(found, seed).raised)
    lines.append(["oracle", str(len(found)), raised, "100%", "100%", "0%", interval(best)])
    return Table(header, lines)


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
            both = share(known, Measure(key, types))
            weak_gain, strong_gain = (both.scores[i] - both.scores[i + 1] for i in (0, 2))
            titles.append([f"{strategy} - {plain}", score, str(len(both.ids))])
            samples = [
                Sample(values.tolist(), both.conversations.tolist(), seed)
                for values in (strong_gain, weak_gain, weak_gain - strong_gain)
            ]
            gains.append([interval(one.mean(-1, 1)) for one in samples[:2]])
            differences.append(samples[2])
    header = ["gain of", "in", "n", f"with {strong}", f"with {weak}", f"{weak} minus {strong}"]
    judged = [difference_cells(one) for one in paired_contrasts(differences, 2.0)]
    parts = zip(titles, gains, judged, strict=True)
    rows = [[*one, *two, *three] for one, two, three in parts]
    return Table([*header, "p (Holm)", "verdict"], rows)
