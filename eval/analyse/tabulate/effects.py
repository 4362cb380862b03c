"""Effects of each value of a sweep's last parameter against its first value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from eval.analyse.tabulate.grid import Grid
from eval.datasets.types import TYPES
from eval.metrics.evidence import SESSIONS
from eval.records.run import Run
from eval.rendering.contrasts import comma_separated
from eval.rendering.numbers import interval, signed
from eval.summary.contrast import Contrast, Row, contrast
from eval.summary.measures import ABSTAINED, ADVERSARIAL, Measure
from eval.summary.sample import Sample
from eval.summary.shared import share
from eval.summary.summarise import OVERALL

RECALL, MULTI_HOP = "evidence_recall", TYPES[1]
_LEAST = 3  # adversarial questions for a column: an interval of two says nothing
HASH = 10  # digits of a configuration's sha256 in tables


@dataclass(frozen=True, slots=True)
class Effects:
    """Runs of one group, the reference first, and their contrasts by measure."""

    group: str
    runs: tuple[Run, ...]
    tables: tuple[tuple[Row, ...], ...]


def effects(grid: Grid, runs: Sequence[Run], seed: int) -> list[Effects]:
    """Return the contrasts with the first run of each group; p is adjusted within a group."""
    pairs = sorted(zip(grid.jobs, runs, strict=True), key=lambda pair: _order(grid, pair[0].group))
    found = []
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


def rows_of(grid: Grid, found: Sequence[Effects], seed: int) -> tuple[list[str], list[list[str]]]:
    """Return header and a row per run: means, differences, context tokens, configuration."""
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
            label = run.label if grouped else run.label.partition("=")[2]
            line = [f"`{label}`", str(f1.n), interval(f1.means[i]), _difference(f1, i)]
            line += [interval(recall.means[i]) if recall else "-", _difference(recall, i)]
            line += [_difference(rows.get(key), i) for key in more]
            line += [_tokens(run, seed), f"`{run.manifest['config_sha256'][:HASH]}`"]
            lines.append(line)
    return header, lines


def as_csv(found: Sequence[Effects]) -> str:
    """Return CSV with all numbers at full precision: a line per run, measure and type."""
    texts = [comma_separated(one.tables, one.runs) for one in found]
    return texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])


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


def _order(grid: Grid, group: str) -> int:
    return next(i for i, job in enumerate(grid.jobs) if job.group == group)
