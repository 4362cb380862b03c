"""Token prices, from a dated list that users may replace."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from memsys.errors import InputError
from memsys.types import Usage

PRICING = Path(__file__).parent / "pricing.yaml"
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")  # gpt-4o-2024-08-06 costs what gpt-4o costs
_UNIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    def cost_usd(self, usage: Usage) -> float:
        """Return the price of `usage` in US dollars."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _UNIT


@dataclass(frozen=True, slots=True)
class Pricing:
    """List prices by model as of a date, without discounts (such as for cached input)."""

    as_of: str
    source: str
    prices: Mapping[str, Price]

    def price(self, model: str) -> Price | None:
        """Return the price of `model`; a dated snapshot without an entry has its model's price."""
        return self.prices.get(model) or self.prices.get(_SNAPSHOT.sub("", model))

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """Return US dollars for `usage`; None, never 0, for a model without a price."""
        price = self.price(model)
        return None if price is None else price.cost_usd(usage)


def load_pricing(path: str | Path = PRICING) -> Pricing:
    """Return the price list at `path`: as_of, source, and models: {name: {input, output}}.

    Raises InputError naming the file and the wrong entry.
    """
    path = Path(path).expanduser()
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: no readable price list ({error})") from error
    if not isinstance(loaded, dict) or set(loaded) != {"as_of", "source", "models"}:
        raise InputError(f"{path}: a price list has as_of, source and models, and nothing else")
    if not isinstance(loaded["models"], dict):
        raise InputError(f"{path}: models: give name: {{input: 1.0, output: 2.0}} for each")
    prices = {str(name): _price(path, name, row) for name, row in loaded["models"].items()}
    return Pricing(str(loaded["as_of"]), str(loaded["source"]), prices)


def _price(path: Path, name: object, row: Any) -> Price:
    complete = isinstance(row, dict) and set(row) == {"input", "output"}
    # `not 0 <=` is true of NaN as well.
    if not complete or any(
        type(value) not in {int, float} or not 0 <= value < float("inf") for value in row.values()
    ):
        raise InputError(
            f"{path}: models: {name}: {row!r}; "
            "give {input: 1.0, output: 2.0}, US dollars for a million tokens"
        )
    return Price(float(row["input"]), float(row["output"]))
