"""A limit in dollars on what a run may spend; no call is sent that could pass it."""

from __future__ import annotations

import threading

from memsys.errors import InputError
from memsys.llm.pricing import Price, Pricing
from memsys.types import Usage


class BudgetReached(Exception):  # noqa: N818 - an event, not a fault
    """The next call could pass the limit. The run stops; it may be resumed with a higher one."""


class Reservation:
    """The worst cost of a call under way, held until `settle`."""

    def __init__(self, budget: Budget, model: str, worst: float) -> None:
        """Made by Budget.reserve."""
        self._budget, self._model, self._worst = budget, model, worst

    def settle(self, usage: Usage | None) -> None:
        """Put the real cost in place of the worst. None: unknown, so the worst stays."""
        cost = self._worst if usage is None else self._budget.cost(self._model, usage)
        self._budget.replace(self._worst, cost)


class Budget:
    """Shared by every client of a run, and safe for several threads. Replayed calls are free."""

    def __init__(self, limit_usd: float, pricing: Pricing, spent_usd: float = 0.0) -> None:
        """`spent_usd`: what the run has cost so far, where it is gone on with. Raises InputError
        unless the limit is a number above 0.
        """
        if not 0 < limit_usd < float("inf"):
            raise InputError(f"llm.budget_usd: {limit_usd}; give a number above 0")
        self._limit, self._pricing = limit_usd, pricing
        self._lock = threading.Lock()
        self._spent, self._reserved = spent_usd, 0.0

    @property
    def spent_usd(self) -> float:
        """US dollars of all settled calls, and what was spent before."""
        return self._spent

    def check(self, model: str, max_output_tokens: int | None) -> None:
        """Raises InputError if calls of `model` have no known price or no bounded cost."""
        if self._price(model).output and max_output_tokens is None:
            raise InputError(
                f"{model}: no limit on its output tokens, so no bound on what a call costs; "
                "set llm.max_tokens, or run without a budget"
            )

    def reserve(self, model: str, input_tokens: int, max_output_tokens: int) -> Reservation:
        """Hold the worst cost of a call about to be sent; raises BudgetReached if it, with all that
        was spent and is held, would pass the limit.
        """
        worst = self.cost(model, Usage(1, input_tokens, max_output_tokens))
        with self._lock:
            if self._spent + self._reserved + worst > self._limit:
                raise BudgetReached(
                    f"the budget of ${self._limit:,.4g} is reached: ${self._spent:,.4f} spent, "
                    f"and the next call may cost ${worst:,.4f}; resume the run with a higher one"
                )
            self._reserved += worst
        return Reservation(self, model, worst)

    def cost(self, model: str, usage: Usage) -> float:
        """US dollars; raises InputError if the price of `model` is unknown."""
        price = self._price(model)
        return (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000

    def replace(self, worst: float, cost: float) -> None:
        """Give back what was held for a call, and count its cost. For Reservation."""
        with self._lock:
            self._reserved -= worst
            self._spent += cost

    def _price(self, model: str) -> Price:
        price = self._pricing.price(model)
        if price is None:
            raise InputError(
                f"{model}: no known price, so no budget can hold; add it to the price list "
                "(conf/pricing.yaml; 0 for a model of your own), or run without a budget"
            )
        return price
