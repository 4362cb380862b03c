"""The tables of a study of growth, as a page and as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from eval.analyse.tabulate.grid import made
from eval.metrics.stats.interval import Interval, scope
from eval.records.comma_separated import write_rows
from eval.rendering.numbers import ABSENT, interval, number, share
from eval.rendering.terminal import markdown
from eval.studies.growth.series import Grew, Series, resamples

_MB = 1_000_000
NOT_REACHED, EXTRAPOLATED = "not reached", " (extrapolated)"
_HEADER = ["strategy", "unrelated sessions", "memories", "recall@10", "nDCG@10", "context tokens"]
_HEADER += ["p50 ms", "p95 ms", "MB", "ingestion s", "n", "errors"]
_DECAYS = ["strategy", "recall@10, smallest", "largest", "doublings", "lost per doubling"]
_DECAYS += ["half-life, doublings", "residual", "p50, p95: largest / smallest", "n", "errors"]
_CURVE = (
    "Curve: recall(n) = recall(n0) · 2^(-log2(n / n0) / h), fitted to the means by least squares; "
    "n memories, n0 of the smallest store; h, the half-life, is the number of doublings of a store "
    "until recall halves. Residual: the largest distance of a mean from the curve. "
    f'"{NOT_REACHED}": the interval of the slope 1 / h contains 0; '
    f'"{EXTRAPOLATED.strip(" ()")}": the half-life is longer than the doublings measured. Lost per '
    "doubling: 1 - 2^(-1 / h), a share of recall."
)
_COLUMNS = ["strategy", "unrelated", "measure", "value", "low", "high", "n", "conversations"]


def page(series: Sequence[Series], commands: Sequence[str]) -> str:
    """Return the Markdown page; `commands` repeat it."""
    sizes = [_row(of, one) for of in series for one in of.runs]
    parts = [
        "# growth",
        "\n".join(f"    {one}" for one in commands),
        _origin([one for of in series for one in of.runs]),
        "## Half-life of recall",
        markdown(_DECAYS, list(map(_decay_row, series))),
        _CURVE,
        "## All sizes",
        markdown(_HEADER, sizes),
    ]
    return "\n\n".join(parts) + "\n"


def _origin(runs: Sequence[Grew]) -> str:
    """Return which runs and questions the tables are from, and what their intervals are over."""
    first, config = runs[0].run, runs[0].run.manifest["config"]["dataset"]
    means = [one.score(one.recall) for one in runs]
    clusters = sorted({one.clusters for one in means if one is not None})
    questions = sorted({len(one.recall) for one in runs})
    machine = first.manifest.get("machine", {})
    return (
        f"{len(runs)} runs, {made([one.run.manifest for one in runs])}; "
        f"dataset.of={config.get('of')}, dataset.seed={config.get('seed')}; {_listed(clusters)} "
        f"conversations, each with a store of its own; {_listed(questions)} questions with "
        "evidence that were answered at every size (n: of each strategy; errors: questions that "
        "failed, which count at no size of that strategy). Means have 95% intervals "
        f"{scope(clusters)} ({resamples(first)} resamples). † the strategy only selects memories: "
        f"recall of all that it selected. Latency on {machine.get('cores', 'unknown')} cores, of "
        "whose load the runs know nothing; of embeddings and their share of ingestion, the latency "
        "at which they were first computed."
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def half_life(one: Series) -> str:
    """Return the half-life with its interval, and whether it is longer than what was measured; or
    that it is not reached.
    """
    if one.decay is None:
        return ABSENT
    if (found := one.decay.half_life) is None:
        return NOT_REACHED
    beyond = EXTRAPOLATED if found.value > one.decay.doublings else ""
    return interval(found, 1 if found.value < 10 else 0) + beyond


def loss(one: Series) -> str:
    """Return the share of recall that a doubling costs, with its interval."""
    return ABSENT if one.decay is None else interval(one.decay.loss, 1, share)


def _decay_row(of: Series) -> list[str]:
    first, last = of.runs[0], of.runs[-1]
    times = [(first.latency(percent), last.latency(percent)) for percent in (50, 95)]
    slower = ", ".join(f"{end / begin:.1f} ×" for begin, end in times if begin and end)
    doublings, residual = (of.decay.doublings, of.decay.residual) if of.decay else (None, None)
    scores = [interval(one.score(one.recall), 2) for one in (first, last)]
    shown = [number(doublings, 1), loss(of), half_life(of), number(residual, 2)]
    return [_name(of), *scores, *shown, slower or ABSENT, *_counts(of.runs)]


def _counts(runs: Sequence[Grew]) -> list[str]:
    """Return the number of questions that count in `runs` of a strategy, and that of failures."""
    return [number(len(runs[0].recall), 0), number(sum(one.errors for one in runs), 0)]


def _name(of: Series) -> str:
    return of.strategy + (" †" if not of.runs[0].ndcg else "")


def _row(of: Series, one: Grew) -> list[str]:
    size = one.mean("bytes")
    return [
        _name(of),
        f"{one.unrelated:,}",
        number(_value(one.mean("memories")), 0),
        interval(one.score(one.recall), 2),
        interval(one.score(one.ndcg), 2),
        interval(one.tokens, 0),
        number(one.latency(50), 1),
        number(one.latency(95), 1),
        number(None if size is None else size.value / _MB, 1),
        interval(one.mean("seconds"), 1),
        *_counts([one]),
    ]


def _value(found: Interval | None) -> float | None:
    return None if found is None else found.value


def as_csv(series: Sequence[Series]) -> str:
    """Return CSV with a row per strategy, size and measure, and one per half-life."""
    text = io.StringIO()
    write_rows(text, [_COLUMNS, *(line for of in series for line in _lines(of))])
    return text.getvalue()


def _lines(of: Series) -> Iterator[list[object]]:
    for one in of.runs:
        means = {
            "memories": one.mean("memories"),
            "recall": one.score(one.recall),
            "ndcg@10": one.score(one.ndcg),
            "context_tokens": one.tokens,
            "bytes": one.mean("bytes"),
            "ingestion_s": one.mean("seconds"),
        }
        for name, mean in means.items():
            if mean is not None:
                yield [of.strategy, one.unrelated, name, *_numbers(mean)]
        for percent in (50, 95):
            yield [of.strategy, one.unrelated, f"retrieve_ms_p{percent}", one.latency(percent)]
        yield [of.strategy, one.unrelated, "errors", one.errors]
    if of.decay is not None:
        largest = of.runs[-1].unrelated
        yield [of.strategy, largest, "halvings_per_doubling", *_numbers(of.decay.rate)]
        yield [of.strategy, largest, "residual", of.decay.residual]
        if (found := of.decay.half_life) is not None:
            yield [of.strategy, largest, "half_life_doublings", *_numbers(found)]


def _numbers(found: Interval) -> list[object]:
    return [found.value, found.low, found.high, found.n, found.clusters]
