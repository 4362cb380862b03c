"""Effects of each value of a sweep's last parameter against its first value, and the further tables
that an experiment requests: docs/datasets.md defines the kinds and rates of `tables: harm`.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.analyse.diagnose.gate import Case, cases, gate_shares, sample
from eval.analyse.tabulate.grid import HASH, Grid, label_of
from eval.datasets.types import PLANT_KINDS, TYPES
from eval.metrics.evidence import SESSIONS
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import Interval
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Table
from eval.rendering.contrasts import COLUMNS, difference_cells
from eval.rendering.numbers import ABSENT, interval, percent, signed
from eval.summary.contrast import NOT_SHOWN, Row, contrast, paired_contrasts
from eval.summary.measures import ABSTAINED, ADVERSARIAL, RECALL, Measure, share, types_of, value
from eval.summary.sample import Sample, by_type
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

MULTI_HOP = TYPES[1]
_LEAST = 3  # adversarial questions for a column: an interval of two says nothing
_TYPES = tuple(name for name in TYPES.values() if name != ADVERSARIAL)
_NAMES = ("interaction", "by_type", "gates", "harm")
_TITLES = {RECALL: "Evidence recall, by turn", SESSIONS: "Evidence recall, by session"}
_RATES = {  # score and whether it is of controls: its title
    (SHOWN, False): "Shown: share of questions whose context has a wrong value",
    (USED, False): "Used: share of questions whose answer has a wrong value; absent: any answer",
    (ABSTAINED, True): "Refused: share of controls without an answer, although the fact is there",
}
Means = Mapping[str, Interval]  # of a run, by type or kind


@dataclass(frozen=True, slots=True)
class Effects:
    """Runs of one group, the reference first, and their contrasts by measure."""

    group: str
    runs: tuple[Run, ...]
    tables: tuple[tuple[Row, ...], ...]


def effects(grid: Grid, runs: Sequence[Run], seed: int) -> list[Effects]:
    """Return the contrasts with the first run of each group; p is adjusted within a group."""
    groups = []
    pairs = zip(grid.jobs, runs, strict=True)
    for group, members in itertools.groupby(pairs, key=lambda pair: pair[0].group):
        group_runs = tuple(run for _, run in members)
        f1 = Measure(group_runs[0].own_f1, (OVERALL,))
        measures = [f1, Measure(RECALL, (OVERALL, MULTI_HOP))]
        records = group_runs[0].records.values()
        if sum(record["type"] == ADVERSARIAL for record in records) >= _LEAST:
            measures.append(Measure(ABSTAINED, (ADVERSARIAL,)))
        if any(SESSIONS in record["scores"] for record in records):
            measures.append(Measure(SESSIONS, (OVERALL,)))
        tables = contrast([(measure, share(group_runs, measure)) for measure in measures], seed)
        groups.append(Effects(group, group_runs, tuple(map(tuple, tables))))
    return groups


def rows_of(grid: Grid, groups: Sequence[Effects]) -> Table:
    """Return a row per run: means, differences, context tokens, configuration."""
    # Scores and types that the data set lacks have no column.
    has = {(row.key, row.type) for group in groups for table in group.tables for row in table}
    titles = {
        (RECALL, MULTI_HOP): "recall difference, multi_hop",
        (SESSIONS, OVERALL): "session recall difference",
        (ABSTAINED, ADVERSARIAL): "abstained on type 5, difference",
    }
    more = {key: title for key, title in titles.items() if key in has}
    header = [grid.factor, "n", "F1", "F1 difference", "evidence recall", "recall difference"]
    header += [*more.values(), "context tokens", "config"]
    grouped = len({group.group for group in groups}) > 1
    lines = []
    for group in groups:
        rows = {(row.key, row.type): row for table in group.tables for row in table}
        f1, recall = rows.get((group.runs[0].own_f1, OVERALL)), rows.get((RECALL, OVERALL))
        counted = f1 or recall  # nobody answers with reader=none
        for i, run in enumerate(group.runs):
            line = [label_of(run, grouped=grouped), str(counted.n) if counted else ABSENT]
            for row in (f1, recall):
                line += [interval(row.means[i]) if row else ABSENT, _difference(row, i)]
            line += [_difference(rows.get(key), i) for key in more]
            tokens = interval(context_tokens(run), 0)
            lines.append([*line, tokens, f"`{run.manifest['config_sha256'][:HASH]}`"])
    return Table(header, lines)


def _difference(row: Row | None, index: int) -> str:
    """Format a difference to the reference with its interval and the verdict."""
    if row is None or index == 0:
        return ABSENT if row is None else "reference"
    comparison = row.contrasts[index - 1]
    verdict = "none shown" if comparison.verdict == NOT_SHOWN else comparison.verdict
    return f"{interval(comparison.difference, form=signed)} {verdict}"


def context_tokens(run: Run) -> Interval | None:
    """Return the mean of the context tokens of all questions but those of type 5."""
    rows = [record for record in run.counted if record["type"] != ADVERSARIAL]
    return Sample.of(rows, [record["context_tokens"] for record in rows], run.seed).mean(0.0)


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
        for key, means in _by_type(runs, seed).items():
            heading = f"{_TITLES.get(key, 'F1')}, mean [95% interval], number of questions in "
            heading += "the header:"
            yield heading, [_table("by type", runs, means, types_of(runs))]
    if "gates" in grid.tables:
        heading = "Against an oracle gate (types 1 to 4 with evidence):"
        yield heading, [gates(runs, runs[0], runs[1], seed)]
    for (key, control), title in _RATES.items() if "harm" in grid.tables else ():
        rates = [_by_kind(run, key, control, seed) for run in runs]
        if any(rates):
            heading = f"{title}, by kind of planted fact with the number of questions:"
            yield heading, [_table("run", runs, rates, PLANT_KINDS)]


def gates(runs: Sequence[Run], never: Run, always: Run, seed: int) -> Table:
    """Return a row per gate on types 1 to 4 with evidence, and last the oracle gate.

    precision: share of opened questions whose evidence recall expansion raises. recall: share of
    the latter that were opened. harmful: share of opened questions whose recall it lowers.
    """
    header = ["gate", "n", "opened", "precision", "recall", "harmful", "evidence recall"]
    lines = []
    group: list[Case] = []
    for run in runs:
        group = cases(*(list(source.records.values()) for source in (run, never, always)))
        shares = gate_shares(group, seed)
        reached = [case.expanded if case.opened else case.direct for case in group]
        cells = (shares.opened, shares.precision, shares.recall, shares.harmful)
        mean = interval(sample(group, reached, seed).score())
        lines.append([label_of(run, grouped=False), str(len(group)), *map(percent, cells), mean])
    best = sample(group, [max(case.direct, case.expanded) for case in group], seed).score()
    raised = percent(gate_shares(group, seed).raised)
    lines.append(["oracle", str(len(group)), raised, "100%", "100%", "0%", interval(best)])
    return Table(header, lines)


def interaction(
    runs: Sequence[Run], base: Mapping[str, str], strong: str, weak: str, seed: int
) -> Table:
    """Return a row per strategy of `base` and score: its gain over its base with either embedder,
    and the gain with the `weak` one minus the gain with the `strong` one.

    Paired by question: (strategy - base) with `weak` minus (strategy - base) with `strong`, so that
    the difficulty of a question cancels. p is adjusted over all rows.
    """
    by_name = {(run.manifest["choices"]["embedder"], run.manifest["strategy"]): run for run in runs}
    titles, gains, differences = [], [], []
    for strategy, plain in base.items():
        four = [by_name.get((e, s)) for e in (weak, strong) for s in (strategy, plain)]
        group = [run for run in four if run is not None]
        if len(group) < len(four):
            continue
        for score, key, types in (
            ("F1", group[0].own_f1, _TYPES),
            ("evidence recall", RECALL, _TYPES),
            ("evidence recall, multi_hop", RECALL, (MULTI_HOP,)),
        ):
            both = share(group, Measure(key, types))
            weak_gain, strong_gain = (both.scores[i] - both.scores[i + 1] for i in (0, 2))
            titles.append([f"{strategy} - {plain}", score, str(len(both.ids))])
            samples = [
                Sample(values.tolist(), both.conversations.tolist(), seed)
                for values in (strong_gain, weak_gain, weak_gain - strong_gain)
            ]
            gains.append([interval(gain.mean(-1, 1)) for gain in samples[:2]])
            differences.append(samples[2])
    header = ["gain of", "in", "n", f"with {strong}", f"with {weak}", f"{weak} minus {strong}"]
    judged = [difference_cells(difference) for difference in paired_contrasts(differences, 2.0)]
    parts = zip(titles, gains, judged, strict=True)
    rows = [[*title, *gain, *cells] for title, gain, cells in parts]
    return Table([*header, "p (Holm)", "verdict"], rows)


def types_as_csv(runs: Sequence[Run], seed: int) -> str:
    """Return the means by type at full precision, as CSV lines with the columns of the effects
    (empty: reference and difference).
    """
    lines = []
    for key, means in _by_type(runs, seed).items():
        for run, of_run in zip(runs, means, strict=True):
            named = {"score": key, "run": run.label, "run_id": run.manifest["run_id"]}
            for name, mean in of_run.items():
                rows = [row for row in run.records.values() if row["type"] == name]
                counts = {"n": mean.n, "conversations": len({row["conversation"] for row in rows})}
                if name != OVERALL:  # is among the effects
                    lines.append({**named, **counts, "type": name, "mean": mean})
    return text_of(COLUMNS, lines, header=False)


def _table(first: str, runs: Sequence[Run], means: Sequence[Means], names: Sequence[str]) -> Table:
    """Return a row per run and a column for each of `names` that any run has a mean of."""
    sizes = {name: [of_run[name].n for of_run in means if name in of_run] for name in names}
    counts = {name: n[0] for name, n in sizes.items() if n}  # of the first run with a mean
    grouped = any(" " in run.label for run in runs)
    rows = [
        [label_of(run, grouped=grouped), *(interval(of_run.get(name)) for name in counts)]
        for run, of_run in zip(runs, means, strict=True)
    ]
    return Table([first, *(f"{name} ({n})" for name, n in counts.items())], rows)


def _by_type(runs: Sequence[Run], seed: int) -> dict[str, list[Means]]:
    """Return the means of each run by type, overall last, for each score that any run has;
    adversarial questions have no gold answer.
    """
    by_score: dict[str, list[Means]] = {}
    for key in (runs[0].own_f1, RECALL, SESSIONS):
        by_score[key] = []
        for run in runs:
            groups = by_type(list(run.records.values()))
            means = ((name, _sample(rows, key, seed).score()) for name, rows in groups)
            by_score[key].append({name: mean for name, mean in means if mean is not None})
    return {key: means for key, means in by_score.items() if any(means)}


def _by_kind(run: Run, key: str, control: bool, seed: int) -> Means:
    """Return the rate of each kind of plant; questions that failed do not count."""
    asked: dict[str, list[Record]] = {kind: [] for kind in PLANT_KINDS}
    for row in run.records.values():
        if (plant := row.get("plant")) and plant["control"] == control:
            asked[plant["kind"]].append(row)
    rates = {kind: _sample(rows, key, seed).share() for kind, rows in asked.items()}
    return {kind: rate for kind, rate in rates.items() if rate is not None}


def _sample(rows: Sequence[Record], key: str, seed: int) -> Sample:
    return Sample.of(rows, [value(row, key) for row in rows], seed)
