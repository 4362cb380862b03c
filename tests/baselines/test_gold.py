from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

import memsys.core.types
from memsys.core.types import Query

CONF = Path(__file__).parents[2] / "conf" / "strategy"
GOLD = {"gold", "answer", "evidence", "category", "type", "adversarial", "adversarial_answer"}


STRATEGIES = sorted(path.stem for path in CONF.glob("*.yaml"))


@cache
def strategy_class(name: str) -> Any:
    """The class that an option in conf/ names, in its own file or in the file that it extends."""
    config = OmegaConf.load(CONF / f"{name}.yaml")
    if target := config.get("_target_"):
        module, _, attribute = target.rpartition(".")
        return getattr(import_module(module), attribute)
    bases = [base for base in config.defaults if isinstance(base, str) and base != "_self_"]
    return strategy_class(bases[0])


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_the_oracle_sees_evidence(name):
    strategy = strategy_class(name)
    assert strategy.sees_evidence is (name == "oracle")
    assert ("evidence" in signature(strategy).parameters) is (name == "oracle")
    assert not (GOLD - {"evidence"}) & set(signature(strategy).parameters)


def test_nothing_that_passes_a_strategy_has_room_for_gold():
    assert len(STRATEGIES) > 20
    assert {field.name for field in fields(Query)} == {"id", "text", "conversation", "time"}
    records = [one for one in vars(memsys.core.types).values() if is_dataclass(one)]
    assert len(records) >= 9
    for record in records:
        assert not GOLD & {field.name for field in fields(record)}
        assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]
        assert "__slots__" in vars(record)  # nothing can be slipped in
