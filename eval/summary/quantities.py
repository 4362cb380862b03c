"""What a question takes: tokens, dollars and milliseconds, of which runs are compared by ratio."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.datasets.types import ADVERSARIAL
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.metrics.stats.paired import Difference, detectable
from eval.records.prices import SYSTEM, of_records, pricing_of
from eval.records.run import Run
from eval.records.schema import Record

Values = NDArray[np.float64]
EXAMPLES = "context_tokens, cost_usd, total_ms_p95"
_NAME = re.compile(r"(?P<base>[a-z_]+?)(?:_mean|_p(?P<percent>[1-9]\d?))?")
_LIVE = "live"
# Decimals of each quantity in tables; the phases of dollars, and the tokens that endpoints report.
_DIGITS = {"context_tokens": 0, "answer_tokens": 1, "input_tokens": 0, "output_tokens": 1}
_DIGITS |= {"cost_usd": 8, "judge_cost_usd": 8, "retrieve_ms": 1, "answer_ms": 1, "total_ms": 1}
_PAID = {"cost_usd": SYSTEM, "judge_cost_usd": ("judge",)}
_REPORTED = ("input_tokens", "output_tokens")
_SOURCES = {
    "recorded": "replayed",
    "vectors": "partly read from the cache of vectors",
    "shared": "partly measured in an earlier job of the sweep",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of 0 or more that a question takes. `percent`: runs are compared by this percentile
    over questions, None: by the mean. `digits`: decimals of the number in tables.
    """

    name: str
    base: str
    percent: int | None
    digits: int

    @property
    def is_timed(self) -> bool:
        """Whether it is a latency, which depends on the machine."""
        return self.base.endswith("_ms")

    @property
    def aggregate(self) -> str:
        """What `total` is: `mean`, or the percentile, as `p95`."""
        return "mean" if self.percent is None else f"p{self.percent}"

    def of(self, run: Run, record: Record) -> float | None:
        """Return the number of a question of `run`, None where it is not known, and for a latency
        that was not live.
        """
        fields: Mapping[str, Any] = record
        if self.base not in _DIGITS:
            return record["scores"].get(self.base)
        if self.is_timed:
            live = record["latency_source"] == _LIVE
            number = fields["latency_ms"][self.base.removesuffix("_ms")] if live else None
        elif self.base in _PAID:
            number = of_records([record], _PAID[self.base], pricing_of(run.manifest))
        elif self.base in _REPORTED:
            used = fields["usage"]
            tokens = (used.get(phase, {}).get(self.base, 0) for phase in SYSTEM)
            number = None if used is None else sum(tokens)
        else:
            number = fields[self.base]
        return None if number is None else float(number)

    def total(self, values: Values) -> float:
        """Return the mean or the percentile of `values`, shape (n,), n at least 1; percentiles by
        linear interpolation.
        """
        return float(values.mean() if self.percent is None else np.percentile(values, self.percent))

    def interval(self, values: Values, bootstrap: ClusterBootstrap) -> Interval:
        """Return `total` with its interval, whose ends are 0 or more."""
        interval = bootstrap.of_items(lambda rows: self.total(values[rows]))
        return interval.within(0.0, math.inf)


def find(name: str) -> Quantity | None:
    """Return the quantity `name`: a base, such as total_ms, alone or with _mean for the mean over
    questions, or with _p1 to _p99 for a percentile; None for another name.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["base"] not in _DIGITS:
        return None
    percent = None if match["percent"] is None else int(match["percent"])
    return Quantity(name, match["base"], percent, _DIGITS[match["base"]])


def measured(run: Run, quantity: Quantity) -> Interval | None:
    """Return a quantity of `run` on all questions but those of type 5, with its interval; None if
    it is not known of any.
    """
    records = [record for record in run.counted if record["category"] != ADVERSARIAL]
    numbers = [(record["conversation"], quantity.of(run, record)) for record in records]
    pairs = [(name, value) for name, value in numbers if value is not None]
    if not pairs:
        return None
    bootstrap = ClusterBootstrap([name for name, _ in pairs], run.seed)
    return quantity.interval(np.array([value for _, value in pairs]), bootstrap)


def ratio(
    quantity: Quantity, values: Values, reference: Values, bootstrap: ClusterBootstrap
) -> Difference:
    """Return the ratio of two runs on the same n questions: `values` and `reference`, shape (n,).

    Its logarithm has the interval of ClusterBootstrap, whose resamples have the same questions of
    both runs, and the p of Student's t by the same standard error. A run that takes nothing has the
    ratio 0. One question, or a percentile that is 0 beside other values, shows no difference: p is
    1, and the interval is nan. The ratio itself is nan if the reference takes nothing. Its effect
    is nan, and `detectable` the least ratio below 1 that is found with 80% power.
    """
    n, nan = len(values), math.nan
    if quantity.total(reference) <= 0:
        return Difference(Interval(nan, nan, nan, n=n), 1.0, nan, nan)
    if quantity.total(values) <= 0:
        if values.any() or n == 1:
            return Difference(Interval(0.0, nan, nan, n=n), 1.0, nan, nan)
        return Difference(Interval(0.0, 0.0, 0.0, n=n), 0.0, nan, 1.0)

    def log_ratio(rows: NDArray[Any]) -> float:
        total, other = quantity.total(values[rows]), quantity.total(reference[rows])
        return math.log(total / other) if total > 0 and other > 0 else math.nan

    log = bootstrap.of_items(log_ratio)
    value, low, high = map(math.exp, (log.value, log.low, log.high))
    if math.isnan(log.error) or log.error == 0:
        p = 0.0 if log.error == 0 and log.value != 0 else 1.0
    else:
        from scipy.stats import norm, t  # noqa: PLC0415 - takes a third of a second

        far = abs(log.value) / log.error
        p = float(2 * (t.sf(far, log.degrees) if log.degrees else norm.sf(far)))
    estimate = replace(log, value=value, low=low, high=high)
    return Difference(estimate, p, nan, math.exp(-detectable(log)))


def objections(first: Run, run: Run, quantity: Quantity) -> list[str]:
    """Return why a latency of two runs must not be compared: no question was live, or it was
    another machine.
    """
    if not quantity.is_timed:
        return []
    reasons = []
    for side in (first, run):
        sources = [record["latency_source"] for record in side.counted]
        if sources and _LIVE not in sources:
            what = _SOURCES.get(str(sources[0]), str(sources[0] or "unknown"))
            reasons.append(
                f"{quantity.name}: all latencies of {side.label} are {what}; run it with "
                "llm.cache=record fresh_queries=true and a new folder as cache="
            )
    machines = [side.manifest["machine"] for side in (first, run)]
    if machines[0] != machines[1]:
        names = {name: None for machine in machines for name in machine}
        differ = [name for name in names if machines[0].get(name) != machines[1].get(name)]
        reasons.append(
            f"{quantity.name}: {first.label} and {run.label} ran on different machines "
            f"({', '.join(differ)}); run both on one"
        )
    return reasons
