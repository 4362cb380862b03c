"""Settings that a command gives and its run does not use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf

from memsys.core.errors import InputError
from memsys.strategies.strategy import Strategy

_REFERRED = ("k", "budget", "relation_store", "vector_store")  # used where others refer to them
_NAMES = ("reader.name", "memory.name")  # records name the chosen option instead
_EXPANDS = "strategy.use_graph_expansion"
# A setting -> values, of settings or options of groups, with which neither it nor any below it
# has an effect.
_IDLE: Mapping[str, Mapping[str, object]] = {
    "judge": {"reader": "none"},
    "context.longer_than": {"context.summarise": None},
    "context.summary_prompt": {"context.summarise": None},
    "dataset.deletion": {"dataset.plants": 0},
    "strategy.expansion": {_EXPANDS: False},
    "strategy.expansion.judge_prompt": {"strategy.expansion.judge": None},
    "strategy.gate": {_EXPANDS: False},
    "strategy.gate.domains": {"llm": "none"},
    "strategy.rescore": {_EXPANDS: False},
    "strategy.pool": {_EXPANDS: True},
    "strategy.weights": {_EXPANDS: True, "strategy.rescore": None},
    "strategy.decay_per_day": {_EXPANDS: True, "strategy.rescore": None},
}


def without_effect(
    config: DictConfig, choices: Mapping[str, str], overrides: Sequence[str]
) -> Iterator[str]:
    """Yield a line for each of `overrides` that has no effect on a run of this configuration.

    Raises InputError for a pool below k, which no strategy uses as it is.
    """
    raw = str(OmegaConf.to_container(config, resolve=False))
    strategy = get_class(config.strategy._target_)
    for override in overrides:
        name, _, value = override.lstrip("+~").partition("=")
        first, reason = name.partition(".")[0], None
        if choices.get(name) == "none":
            continue
        referred = f"${{{first}}}" in raw or f"${{{first}." in raw
        if first in _REFERRED and not referred:
            reason = f"strategy={choices['strategy']} does not use it"
        elif first == "graph" and issubclass(strategy, Strategy) and not strategy.uses_graph:
            reason = f"strategy={choices['strategy']} uses no such graph"
        elif name in _NAMES:
            reason = f"records name the option, {first}={choices[first]}"
        for setting, values in _IDLE.items():
            if f"{name}.".startswith(f"{setting}.") and _are(values, config, choices):
                reason = "with " + " ".join(f"{one}={_text(x)}" for one, x in values.items())
        if reason is None:
            continue
        if name == "strategy.pool" and config.strategy.pool < (config.strategy.k or 1):
            raise InputError(
                f"strategy.pool: {value}; use a whole number of k={config.strategy.k} or more"
            )
        yield f"note: {override} has no effect: {reason}"


def _are(values: Mapping[str, object], config: DictConfig, choices: Mapping[str, str]) -> bool:
    actual = {
        name: choices[name] if name in choices else OmegaConf.select(config, name)
        for name in values
    }
    return actual == values


def _text(value: object) -> str:
    return {True: "true", False: "false", None: "null"}.get(value, str(value))  # type: ignore[call-overload, no-any-return]
