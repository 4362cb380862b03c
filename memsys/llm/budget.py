"""Limits on live calls: their number at once, their rate, and their cost."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm.pricing import Price, Pricing, input_tokens, output_limit

_NEXT = 8  # calls that a proposed limit allows at least, at their highest cost
_FEW = 0.0001  # dollars


class Limits:
    """Allows `concurrency` calls at once, started at least 60 / `requests_per_minute` s apart. It
    limits one client in one process: divide a server's limit among several processes.
    """

    def __init__(self, concurrency: int, requests_per_minute: float | None) -> None:
        """Both are above 0; `requests_per_minute` None: no limit."""
        self._free = threading.BoundedSemaphore(concurrency)
        self._apart_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._lock = threading.Lock()
        self._next = 0.0

    @contextmanager
    def place(self) -> Iterator[None]:
        """Wait for a free slot and for the rate limit; occupy the slot during the block."""
        with self._free:
            with self._lock:  # reserve the time of this call
                now = time.monotonic()
                starts = max(now, self._next) if self._apart_s else now
                self._next = starts + self._apart_s
            if starts > now:  # a sleep of 0 s would cede the processor
                time.sleep(starts - now)
            yield


class BudgetReached(Exception):  # noqa: N818 - an event, not a fault
    """The next call could exceed the limit. The run stops; resume it with a higher one.

    `enough_usd`: a limit under which the run can continue; None if it is not known.
    """

    def __init__(self, message: str, enough_usd: float | None = None) -> None:
        super().__init__(message)
        self.enough_usd = enough_usd


class CallLedger(Protocol):
    """The paid calls of a run, across all processes that worked on it."""

    def rows(self) -> Iterable[tuple[str, Usage]]:
        """Yield model and tokens of each paid call."""

    def note(self, model: str, usage: Usage) -> None:
        """Store a live call immediately: a run may be killed at any time."""


class Budget:
    """The limit on the cost of a run's calls. It is shared by every client of the run, and safe for
    several threads. Replayed calls are free.
    """

    def __init__(
        self, limit_usd: float | None, pricing: Pricing, ledger: CallLedger | None = None
    ) -> None:
        """`limit_usd` None: nothing is refused and no price is needed, but the ledger is written,
        so that the run can be resumed under a limit. The calls in the ledger count as spent. Raises
        InputError unless the limit is above 0, or if a call in the ledger has no price.
        """
        if limit_usd is not None and not (
            isinstance(limit_usd, int | float)
            and not isinstance(limit_usd, bool)
            and 0 < limit_usd < math.inf
        ):
            raise InputError(f"llm.budget_usd: {limit_usd!r}; use a number above 0, or null")
        self._limit, self._pricing, self._ledger = limit_usd, pricing, ledger
        self._settled = threading.Condition()
        self._spent = self._reserved = 0.0
        self._under_way = 0
        if limit_usd is not None and ledger is not None:
            self._spent = sum(self.cost(model, usage) for model, usage in ledger.rows())

    def check(self, model: str, max_output_tokens: int | None) -> None:
        """Raise InputError if calls of `model` have no known price or no bounded cost."""
        if self._limit is None:
            return
        if self._price(model).output and max_output_tokens is None:
            raise InputError(
                f"{model}: no limit on its output tokens, so no bound on what a call costs; "
                "set llm.max_tokens, or run without a budget"
            )

    def reserve(self, model: str, body: Mapping[str, Any]) -> Callable[[Usage | None], None]:
        """Reserve the highest possible cost of the request `body` until its usage is known.

        The returned function takes that usage, and counts its cost instead; None: unknown, the
        reserved cost counts. Waits for calls under way if the limit allows the call only at their
        real costs. Raises BudgetReached if the limit could be exceeded even if they were free.
        """
        if self._limit is None:
            return partial(self._settle, model, body, 0.0)
        worst = self.cost(model, _worst(body))
        with self._settled:
            while self._spent + self._reserved + worst > self._limit:
                if self._spent + worst > self._limit or not self._under_way:
                    raise self._error(self._limit, worst)
                self._settled.wait()
            self._reserved += worst
            self._under_way += 1
        return partial(self._settle, model, body, worst)

    def _error(self, limit: float, worst: float) -> BudgetReached:
        spent = f"{_dollars(self._spent)} spent"
        if self._under_way:
            calls = f"{self._under_way} call{'s' * (self._under_way > 1)} under way"
            spent += f" and {_dollars(self._reserved)} set aside for {calls}"
        enough = max(2 * limit, self._spent + self._reserved + _NEXT * worst)
        unit = 10.0 ** (math.floor(math.log10(enough)) - 1)  # of the second significant digit
        return BudgetReached(
            f"the budget of ${limit:,.4g} is reached: {spent}; the next call may cost "
            f"{_dollars(worst)}; resume the run with a higher one",
            float(f"{math.ceil(enough / unit) * unit:.2g}"),
        )

    def cost(self, model: str, usage: Usage) -> float:
        """Return US dollars; raises InputError if the price of `model` is unknown."""
        return self._price(model).cost_usd(usage)

    def _settle(
        self, model: str, body: Mapping[str, Any], reserved: float, usage: Usage | None
    ) -> None:
        usage = _worst(body) if usage is None else usage
        cost = 0.0 if self._limit is None else self.cost(model, usage)
        with self._settled:
            if self._limit is not None:
                self._under_way -= 1
                # Sums of differences are not exact: nothing is reserved when nothing is under way.
                self._reserved = self._reserved - reserved if self._under_way else 0.0
                self._spent += cost
                self._settled.notify_all()
            if self._ledger is not None and (usage.input_tokens or usage.output_tokens):
                self._ledger.note(model, usage)

    def _price(self, model: str) -> Price:
        price = self._pricing.price(model)
        if price is None:
            raise InputError(
                f"{model}: no known price, so no budget can hold; add it to the price list "
                "(memsys/llm/pricing.yaml; 0 for a model of your own), or run without a budget"
            )
        return price


def _dollars(value: float) -> str:
    """Return dollars to four digits after the point, or six where these would be few."""
    return f"${value:,.{4 if value >= _FEW or not value else 6}f}"


def _worst(body: Mapping[str, Any]) -> Usage:
    return Usage(1, input_tokens(body), output_limit(body) or 0)
