"""Token counts of requests and answers, and their prices from dated lists."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter

from memsys.core.errors import InputError, problems
from memsys.core.tokens import count_tokens
from memsys.core.types import Usage
from memsys.core.yaml_text import load_yaml

PRICING = Path(__file__).parent / "pricing.yaml"
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")  # gpt-4o-2024-08-06 costs what gpt-4o costs
_UNIT = 1_000_000
MOST_TOKENS = 2**53  # of one call; a larger count is no count
_READ = ("messages", "tools", "response_format", "input")  # fields that the model reads
_REMEDY = (
    f"; give as_of, source and models: {{name: {{input: 1.0, output: 2.0}}}}, US dollars for a "
    f"million tokens, 0 to {_UNIT:,}"
)
_IMAGE = 2_833  # gpt-4o-mini; gpt-4o bills 85


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, with their date and their source ("" where unknown)."""

    input: float
    output: float
    as_of: str = ""
    source: str = ""

    def cost_usd(self, usage: Usage) -> float:
        """Return the price of `usage` in US dollars."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _UNIT


@dataclass(frozen=True, slots=True)
class Pricing:
    """List prices by model, without discounts (such as for cached input)."""

    prices: Mapping[str, Price]

    @property
    def as_of(self) -> str:
        """The dates of all prices: one, or the earliest and the latest; "" without any."""
        dates = sorted({price.as_of for price in self.prices.values()} - {""})
        return " to ".join(dates if len(dates) < 2 else (dates[0], dates[-1]))

    def of(self, models: Iterable[str]) -> Pricing:
        """Return the prices of these models; those without a price are left out."""
        prices = {model: self.price(model) for model in models}
        return Pricing({model: price for model, price in prices.items() if price is not None})

    def price(self, model: str) -> Price | None:
        """Return the price of `model`; a dated snapshot without an entry has its model's price."""
        return self.prices.get(model) or self.prices.get(_SNAPSHOT.sub("", model))

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """Return US dollars for `usage`; None, never 0, for a model without a price."""
        price = self.price(model)
        return None if price is None else price.cost_usd(usage)


def load_pricing(path: str | Path = PRICING) -> Pricing:
    """Return the price list at `path`: one group, or a list of groups, each with as_of, source, and
    models: {name: {input, output}}. Raises InputError naming the file and the wrong entry.
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"pricing: {reprlib.repr(path)} is no path; name a file with prices, or null"
        )
    path = Path(path).expanduser()
    loaded = load_yaml(path)
    with problems(path, _REMEDY):
        groups = _GROUPS.validate_python(loaded if isinstance(loaded, list) else [loaded])
    prices: dict[str, Price] = {}
    for group in groups:
        for name, row in group.models.items():
            if name in prices:
                raise InputError(f"{path}: models: {name}: has two prices; remove one")
            prices[name] = Price(row.input, row.output, group.as_of, group.source)
    return Pricing(prices)


def _text(value: object) -> object:
    """Return a number or a date, as YAML reads it, as text."""
    return value if value is None or isinstance(value, list | dict) else str(value)


_Dollars = Annotated[float, Field(strict=True, ge=0, le=_UNIT)]
_Text = Annotated[str, BeforeValidator(_text), Field(min_length=1)]


class _Row(BaseModel, extra="forbid"):
    input: _Dollars
    output: _Dollars


class _Group(BaseModel, extra="forbid"):
    as_of: _Text
    source: _Text
    models: dict[_Text, _Row]


_GROUPS = TypeAdapter(list[_Group])


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    """Return the usage that the endpoint reports; None if it reports none that is usable. An answer
    to an embedding request has no output tokens.
    """
    reported = answer.get("usage")
    if not isinstance(reported, dict):
        return None
    tokens = [reported.get("prompt_tokens"), reported.get("completion_tokens", 0)]
    if any(type(count) is not int or not 0 <= count <= MOST_TOKENS for count in tokens):
        return None
    return Usage(1, *tokens)


def input_tokens(body: Mapping[str, Any]) -> int:
    """Return an upper bound of the input tokens of a request: the o200k tokens of its JSON. An
    image counts as the most that OpenAI's models bill at low detail.
    """
    read = {name: body[name] for name in _READ if name in body}
    images: list[str] = []

    def without(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if value.get("type") == "image_url":
            images.append(str(value.pop("image_url", "")))
        return value

    # A URL may contain the image itself, a million characters that are not text.
    text = json.dumps(read, ensure_ascii=False)
    if '"image_url"' in text:
        text = json.dumps(json.loads(text, object_pairs_hook=without), ensure_ascii=False)
    return count_tokens(text) + _IMAGE * len(images)


def output_limit(body: Mapping[str, Any]) -> int | None:
    """Return the largest number of output tokens that `body` allows; None if it sets no limit. A
    request for embeddings has no `messages` and no output tokens.
    """
    if "messages" not in body:
        return 0
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    return limit if type(limit) is int else None
