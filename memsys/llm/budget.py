"""A limit in dollars on what a run may spend; no call is sent that could pass it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from memsys.errors import InputError
from memsys.llm.pricing import Price, Pricing
from memsys.llm.usage import input_tokens, output_limit
from memsys.types import Usage


class BudgetReached(Exception):  # noqa: N818 - an event, not a fault
    """The next call could pass the limit. The run stops; it may be resumed with a higher one."""


class Ledger(Protocol):
    """What a run has paid for, in every process that worked on it."""

    def rows(self) -> Iterable[tuple[str, Usage]]:
        """What was paid for so far: model and tokens."""
        ...

    def note(self, model: str, usage: Usage) -> None:
        """Add a live call, at once: a run may be killed at any time."""
        ...


class Reservation:
    """The worst cost of a call under way, held until `settle`."""

    def __init__(self, budget: Budget, model: str, body: Mapping[str, Any], worst: float) -> None:
        """Made by Budget.reserve."""
        self._budget, self._model, self._body, self._worst = budget, model, body, worst

    def settle(self, usage: Usage | None) -> None:
        """Put the real cost in place of the worst. None: unknown, so the worst stays."""
        used = _worst(self._body) if usage is None else usage
        self._budget.replace(self._worst, self._model, used)


class Budget:
    """Shared by every client of a run, and safe for several threads. Replayed calls are free."""

    def __init__(
        self, limit_usd: float | None, pricing: Pricing, ledger: Ledger | None = None
    ) -> None:
        """`limit_usd` None: nothing is refused and no price is needed, but the ledger is kept, so
        that the run can be gone on with under a limit. What stands in the ledger counts as spent.

        Raises InputError unless the limit is a number above 0, or where what was paid for has no
        known price.
        """
        if limit_usd is not None and not 0 < limit_usd < float("inf"):
            raise InputError(f"llm.budget_usd: {limit_usd}; give a number above 0")
        self._limit, self._pricing, self._ledger = limit_usd, pricing, ledger
        self._lock = threading.Lock()
        self._spent = self._reserved = 0.0
        if limit_usd is not None and ledger is not None:
            self._spent = sum(self.cost(model, usage) for model, usage in ledger.rows())

    @property
    def spent_usd(self) -> float:
        """US dollars of all settled calls, and what was spent before; 0.0 without a limit."""
        return self._spent

    def check(self, model: str, max_output_tokens: int | None) -> None:
        """Raises InputError if calls of `model` have no known price or no bounded cost."""
        if self._limit is None:
            return
        if self._price(model).output and max_output_tokens is None:
            raise InputError(
                f"{model}: no limit on its output tokens, so no bound on what a call costs; "
                "set llm.max_tokens, or run without a budget"
            )

    def reserve(self, model: str, body: Mapping[str, Any]) -> Reservation:
        """Hold the worst cost of the request `body` about to be sent; raises BudgetReached if it,
        with all that was spent and is held, would pass the limit.
        """
        if self._limit is None:
            return Reservation(self, model, body, 0.0)
        worst = self.cost(model, _worst(body))
        with self._lock:
            if self._spent + self._reserved + worst > self._limit:
                raise BudgetReached(
                    f"the budget of ${self._limit:,.4g} is reached: ${self._spent:,.4f} spent, "
                    f"and the next call may cost ${worst:,.4f}; resume the run with a higher one"
                )
            self._reserved += worst
        return Reservation(self, model, body, worst)

    def cost(self, model: str, usage: Usage) -> float:
        """US dollars; raises InputError if the price of `model` is unknown."""
        price = self._price(model)
        return (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000

    def replace(self, worst: float, model: str, usage: Usage) -> None:
        """Give back what was held for a call, and count what it used. For Reservation."""
        cost = 0.0 if self._limit is None else self.cost(model, usage)
        with self._lock:
            self._reserved -= worst
            self._spent += cost
            if self._ledger is not None and (usage.input_tokens or usage.output_tokens):
                self._ledger.note(model, usage)

    def _price(self, model: str) -> Price:
        price = self._pricing.price(model)
        if price is None:
            raise InputError(
                f"{model}: no known price, so no budget can hold; add it to the price list "
                "(conf/pricing.yaml; 0 for a model of your own), or run without a budget"
            )
        return price


def _worst(body: Mapping[str, Any]) -> Usage:
    return Usage(1, input_tokens(body), output_limit(body) or 0)
