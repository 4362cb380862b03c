"""A data set's column of a matrix: its strategies by their rankings, context tokens and latency."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.datasets.types import ADVERSARIAL
from eval.metrics.retrieval.registry import parse
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.records.comma_separated import write_rows
from eval.records.run import Run
from eval.records.schema import Manifest, Record
from eval.rendering.contrasts import COLUMNS, comma_separated
from eval.rendering.numbers import interval, number
from eval.summary.contrast import contrast
from eval.summary.measures import Measure
from eval.summary.retrieval import by_type, is_selected, unknown
from eval.summary.sample import Sample
from eval.summary.shared import FAILED, Shared, share
from eval.summary.summarise import OVERALL, percentile
from memsys.core.errors import InputError

RECALL, NDCG, TOKENS, LATENCY = "recall@10", "ndcg@10", "context_tokens", "retrieve_ms_p95"
_RANKINGS = tuple(Measure(name, (OVERALL,), parse(name)) for name in (RECALL, NDCG))
_ALIKE, _SELECTED = " ≈", " †"
_ALL = parse("recall")
_P = 95


@dataclass(frozen=True, slots=True)
class Column:
    """A data set: `n` questions with evidence of `conversations`, both 0 if no ranking is known.

    `cells`: texts by measure and strategy. `lines`: means and differences to the reference, as CSV
    without a header. `gaps`: what is missing or left out. `manifests`: of the runs.
    """

    name: str
    cells: Mapping[str, Mapping[str, str]]
    lines: str
    n: int
    conversations: int
    gaps: tuple[str, ...]
    manifests: tuple[Manifest, ...]


def measured(name: str, runs: Mapping[str, Run], reference: str, gaps: Sequence[str]) -> Column:
    """Measure the runs, by strategy, of the data set `name`; rankings are compared on the questions
    that all have answered. Differences are to `reference`, or to the first run if it is missing.
    """
    seed = next((run.seed for run in runs.values()), 0)
    ordered = dict(sorted(runs.items(), key=lambda pair: pair[0] != reference))
    problems = {one: text for one, run in ordered.items() if (text := _problem(run))}
    known = {one: run for one, run in ordered.items() if one not in problems}
    ranked = {one: run for one, run in known.items() if not is_selected(run)}
    cells: dict[str, dict[str, str]] = {key: {} for key in (RECALL, NDCG, TOKENS, LATENCY)}
    shared = [share(list(ranked.values()), one) for one in _RANKINGS] if ranked else []
    tables = contrast(list(zip(_RANKINGS, shared, strict=False)), seed)
    for rows, one in zip(tables, shared, strict=True):
        for row in rows:
            texts = _marked(row.means, one, seed)
            cells[row.key] = dict(zip(ranked, texts, strict=True))
    lines: list[list[object]] = []
    for strategy, run in ordered.items():
        base = next(iter(ordered.values()))
        if strategy in known.keys() - ranked and (recall := _recall_of_all(run)):
            cells[RECALL][strategy] = interval(recall) + _SELECTED
            lines.append(_line(str(_ALL), run, base, recall))
        if tokens := _tokens(run):
            cells[TOKENS][strategy] = interval(tokens, 0)
            more = None if run is base else _more_tokens(run, base)
            lines.append(_line(TOKENS, run, base, tokens, more))
        latency, first = _latency(run), _latency(base)
        if latency is not None:
            ratio = f" ({latency / first:.1f}×)" if first else ""
            cells[LATENCY][strategy] = number(latency, 1) + ratio
            lines.append(_line(LATENCY, run, base, latency))
    found = [row for rows in tables for row in rows]
    if runs and not found:
        gaps = [*gaps, "no ranking of a question with evidence is known"]
    return Column(
        name,
        cells,
        comma_separated(tables, list(ranked.values())).partition("\n")[2] + _csv(lines),
        found[0].n if found else 0,
        found[0].clusters if found else 0,
        (*gaps, *problems.values(), *(_failures(shared[0]) if shared else ())),
        tuple(run.manifest for run in runs.values()),
    )


def as_csv(columns: Sequence[Column]) -> str:
    """Return CSV with all numbers at full precision: a line per run and measure."""
    return _csv([list(COLUMNS)]) + "".join(one.lines for one in columns)


def _problem(run: Run) -> str | None:
    """Return why the measures of the rankings of `run` are unknown; None if they are known, or if
    it selects memories without an order.
    """
    try:
        if is_selected(run):
            return None
        return next(iter(unknown(run, [parse(RECALL), parse(NDCG)]).values()), None)
    except InputError as error:
        return str(error)


def _marked(means: Sequence[Interval], shared: Shared, seed: int) -> Iterator[str]:
    """Yield the text of each mean: the highest in bold, and ≈ after those whose paired
    difference from it has an interval that contains 0.
    """
    chosen = shared.of(OVERALL)
    scores = shared.scores[:, chosen]
    bootstrap = ClusterBootstrap(shared.conversations[chosen].tolist(), seed)
    highest = scores[int(scores.mean(axis=1).argmax())]
    for mean, one in zip(means, scores, strict=True):
        difference = bootstrap.mean((one - highest).tolist())
        if one.mean() == highest.mean():
            yield f"**{interval(mean)}**"
        elif difference is not None and difference.low <= 0 <= difference.high:
            yield interval(mean) + _ALIKE
        else:
            yield interval(mean)


def _recall_of_all(run: Run) -> Interval | None:
    return by_type(run, [_ALL], run.seed).get(OVERALL, {}).get(str(_ALL))


def _failures(shared: Shared) -> list[str]:
    return [
        f"{label}: questions that failed, left out of the whole column: {why[FAILED]}"
        for label, why in shared.why.items()
        if FAILED in why
    ]


def _answerable(run: Run) -> list[Record]:
    return [one for one in run.counted if one["category"] != ADVERSARIAL]


def _tokens(run: Run) -> Interval | None:
    rows = _answerable(run)
    return Sample.of(rows, [one["context_tokens"] for one in rows], run.seed).mean(0.0)


def _more_tokens(run: Run, base: Run) -> Interval | None:
    """Return the mean difference of tokens, paired by question, run minus base."""
    of_base = {one["id"]: one["context_tokens"] for one in _answerable(base)}
    rows = [one for one in _answerable(run) if of_base.get(one["id"]) is not None]
    pairs = [(one["context_tokens"], of_base[one["id"]]) for one in rows]
    more = [None if mine is None or other is None else mine - other for mine, other in pairs]
    return Sample.of(rows, more, run.seed).mean()


def _latency(run: Run) -> float | None:
    return percentile([one["latency_ms"]["retrieve"] for one in _answerable(run)], _P)


def _line(
    key: str, run: Run, base: Run, mean: Interval | float, more: Interval | None = None
) -> list[object]:
    """Return a line of CSV with the columns of contrasts; a number has neither n nor interval."""
    line: list[object] = [key, OVERALL, run.label, run.manifest["run_id"], base.label]
    if isinstance(mean, Interval):
        line += [mean.n, mean.clusters, mean.value, mean.low, mean.high]
    else:
        line += [None, None, mean, None, None]
    line += [] if more is None else [more.value, more.low, more.high]
    return line + [None] * (len(COLUMNS) - len(line))


def _csv(lines: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    write_rows(text, lines)
    return text.getvalue()
