"""Dollars, from recorded usage and the prices that the run's manifest holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eval.records.schema import Manifest, Record
from memsys.llm.pricing import Price, Pricing
from memsys.types import Usage

PHASES = ("retrieve", "answer", "judge")  # of a question; ingest is of a conversation
SYSTEM = ("retrieve", "answer")  # a judge's cost is never the system's


def pricing_of(manifest: Manifest) -> Pricing:
    """The prices that a run was made under; none in manifests that hold none."""
    known = manifest["pricing"] or {"as_of": "", "models": {}}
    prices = {name: Price(**row) for name, row in known["models"].items()}
    return Pricing(known["as_of"], "", prices)


def cost_usd(usages: Iterable[Mapping[str, Any] | None], pricing: Pricing) -> float | None:
    """US dollars of recorded usages, replayed calls at what they cost when live.

    None where one is not known (imported answers), a model has no price, or an endpoint told no
    tokens: unknown is never 0. What needs no named model costs nothing.
    """
    total = 0.0
    for usage in usages:
        if usage is None:
            return None
        for model, own in usage.get("by_model", {}).items():
            used = Usage(**own)
            cost = pricing.cost_usd(model, used)
            if cost is None or (used.calls and not used.input_tokens and not _free(model, pricing)):
                return None
            total += cost
    return total


def _free(model: str, pricing: Pricing) -> bool:
    price = pricing.price(model)
    return price is not None and not price.input and not price.output


def of_records(records: Iterable[Record], phases: Iterable[str], pricing: Pricing) -> float | None:
    """US dollars of these phases of the records; None as in cost_usd."""
    wanted = tuple(phases)
    return cost_usd(
        (
            None if (used := record["usage"]) is None else used.get(phase, {})
            for record in records
            for phase in wanted
        ),
        pricing,
    )


def repaid_after(
    ingest_usd: float | None, question_usd: float | None, other_question_usd: float | None
) -> float | None:
    """Questions of a conversation after which its ingest has paid for itself against a system
    without ingest: ingest / (other's cost of a question - own cost of a question).

    0 where ingest is free and questions cost no more; infinity where they cost no less; None where
    a cost is not known.
    """
    if ingest_usd is None or question_usd is None or other_question_usd is None:
        return None
    saved = other_question_usd - question_usd
    if saved <= 0:
        return 0.0 if ingest_usd == 0 and saved == 0 else float("inf")
    return ingest_usd / saved
