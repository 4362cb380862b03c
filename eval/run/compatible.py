"""Options and settings that do not go together: refused, or without effect."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf

from eval.datasets.types import Dataset
from eval.judges.judge import Reference
from memsys.core.errors import InputError, refuse
from memsys.core.yaml_text import load_table
from memsys.strategies.strategy import Strategy

_REFERRED = ("k", "budget", "relation_store", "vector_store")  # used where others refer to them
_NAMES = ("reader.name", "memory.name")  # records name the chosen option instead
_IDLE: Mapping[str, Mapping[str, object]] = load_table(Path(__file__).with_name("idle.yaml"))


def check_compatibility(
    choices: Mapping[str, str], dataset: object, llm: Mapping[Any, Any]
) -> None:
    """Raise InputError on options that do not go together. llm=grammar and reader=chain know the
    synthetic grammar only, and would score 0 on other questions.

    `choices`: option by group; `dataset` as configured; `llm`: settings of that group.
    """
    reader, judge = choices.get("reader"), choices.get("judge")
    grammar, judging = choices.get("llm") == "grammar", choices.get("llm@judge_llm", "none")
    # Not llm.get: OmegaConf's error of a missing name keeps its callers' objects in memory.
    misses = dict(dict(llm).get("extra") or {}).get("misses", 0)
    is_number = isinstance(misses, int | float) and not isinstance(misses, bool)
    faults = {
        "reader=chain: knows only the questions of dataset=synthetic and planted ones; add "
        "dataset=synthetic, or use reader=extractive": reader == "chain"
        and not getattr(dataset, "asks_by_grammar", False),
        "llm=grammar: writes memories only of dataset=synthetic; add dataset=synthetic "
        "reader=chain, or use llm=openai": grammar
        and not getattr(dataset, "dialogues_by_grammar", False),
        "reader=llm: llm=grammar writes memories and answers no question; use reader=chain": grammar
        and reader == "llm",
        f"judge={judge}: llm=grammar writes memories and judges nothing; use judge=none, or "
        "another judge by llm@judge_llm=openai": grammar
        and judge in ("llm", "panel")
        and judging in ("none", "grammar"),
        f"llm.extra.misses: {misses!r}; use a share of 0 to 1": grammar
        and not (is_number and 0 <= misses <= 1),
        f"reader={reader}: dataset={getattr(dataset, 'name', None)} has no gold answers, only "
        "relevant documents; add reader=none": reader != "none"
        and not getattr(dataset, "has_gold", True),
    }
    refuse(faults)


def check_reference(name: str, compares: Reference, dataset: Dataset) -> None:
    """Raise InputError if the judge `name` applies to no question of `dataset` because it compares
    with a gold answer where there are cues instead, or the other way round.
    """
    with_cue = sum(question.cue is not None for question in dataset.questions)
    faults = {
        f"judge: {name}: judges whether a reply shows awareness of a cue, and "
        f"dataset={dataset.name} has none; use judge.rubric=generous or strict": compares == "cue"
        and not with_cue,
        f"judge: {name}: compares with gold answers, and dataset={dataset.name} has none, only "
        "cues; use judge=llm judge.rubric=awareness, or judge=none": compares == "gold"
        and with_cue == len(dataset.questions),
    }
    refuse(faults)


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
        below = (values for prefix, values in _IDLE.items() if f"{name}.".startswith(f"{prefix}."))
        for values in below:
            if values == {x: choices.get(x, OmegaConf.select(config, x)) for x in values}:
                reason = "with " + " ".join(f"{path}={_text(x)}" for path, x in values.items())
        if reason is None:
            continue
        if name == "strategy.pool" and config.strategy.pool < (config.strategy.k or 1):
            raise InputError(
                f"strategy.pool: {value}; use a whole number of k={config.strategy.k} or more"
            )
        yield f"note: {override} has no effect: {reason}"


def lower_limits(config: DictConfig) -> list[str]:
    """Return a line for each model whose own limit on calls at once is below `concurrency`."""
    return [
        f"{group}.concurrency={limit} is lower than concurrency={config.concurrency}: at most "
        f"{limit} calls at once; raise {group}.concurrency to allow more"
        for group in ("llm", "judge_llm")
        if (limit := OmegaConf.select(config, f"{group}.concurrency")) is not None
        and limit < config.concurrency
    ]


def _text(value: object) -> str:
    return {True: "true", False: "false", None: "null"}.get(value, str(value))  # type: ignore[call-overload, no-any-return]
