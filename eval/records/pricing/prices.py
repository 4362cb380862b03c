"""Dollars of recorded usage, at the prices in the run's manifest, and the break-even."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from eval.records.schema import Manifest, Record
from memsys.core.types import Usage
from memsys.llm.pricing import Price, Pricing

PHASES = ("retrieve", "answer", "judge")  # of a question; ingestion is per conversation
SYSTEM = ("retrieve", "answer")  # a judge's cost is never the system's


def pricing_of(manifest: Manifest) -> Pricing:
    """Return the prices in a run's manifest; none if it contains none."""
    listed = manifest["pricing"] or {"models": {}}
    dated = {"as_of": listed.get("as_of", "")}  # of all prices, in manifests of earlier versions
    return Pricing({name: Price(**{**dated, **row}) for name, row in listed["models"].items()})


def described(pricing: Pricing) -> dict[str, Any]:
    """Return the field `pricing` of a manifest, which pricing_of reads."""
    return {
        "as_of": pricing.as_of,
        "models": {name: asdict(price) for name, price in pricing.prices.items()},
    }


def cost_usd(usages: Iterable[Mapping[str, Any] | None], pricing: Pricing) -> float | None:
    """Return the US dollars of recorded usages, replayed calls at the cost of the live ones.

    None, which is not 0, if a usage is unknown (imported answers), a model has no price, or an
    endpoint reported no tokens. Phases without a named model cost nothing.
    """
    total = 0.0
    for usage in usages:
        if usage is None:
            return None
        for model, counts in usage.get("by_model", {}).items():
            used = Usage(**counts)
            cost = pricing.cost_usd(model, used)
            if cost is None or (used.calls and not used.input_tokens and not _free(model, pricing)):
                return None
            total += cost
    return total


def _free(model: str, pricing: Pricing) -> bool:
    price = pricing.price(model)
    return price is not None and not price.input and not price.output


def of_records(records: Iterable[Record], phases: Iterable[str], pricing: Pricing) -> float | None:
    """Return the US dollars of these phases of the records; None as in cost_usd."""
    wanted = tuple(phases)
    return cost_usd(
        (
            None if (used := record["usage"]) is None else used.get(phase, {})
            for record in records
            for phase in wanted
        ),
        pricing,
    )


def break_even(
    ingest_usd: float | None, question_usd: float | None, other_question_usd: float | None
) -> float | None:
    """Return the number of questions of a conversation from which a system costs less than another
    one without ingestion: ingestion / (the other's cost of a question - its own).

    0 if ingestion is free and questions cost no more; infinity if questions cost no less; None if
    a cost is unknown.
    """
    if ingest_usd is None or question_usd is None or other_question_usd is None:
        return None
    saved = other_question_usd - question_usd
    if saved <= 0:
        return 0.0 if ingest_usd == 0 and saved == 0 else float("inf")
    return ingest_usd / saved
