"""From the configuration to the objects of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.datasets.synthetic.dataset import check_compatibility
from eval.datasets.types import Dataset
from eval.metrics.registry import use_configured
from eval.run.models import Models, open_models
from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.llm.budget import CallLedger
from memsys.llm.meter import Meter
from memsys.llm.prompt import Prompt
from memsys.store import Parts
from memsys.strategy import MemoryStrategy


@dataclass(frozen=True, slots=True)
class Built:
    """A run's objects; `make_strategy` gives a fresh strategy for each conversation. `prompts`:
    those by which the strategy itself asks a model.
    """

    dataset: Dataset
    meter: Meter
    models: Models
    parts: Parts
    make_strategy: Callable[[], MemoryStrategy]
    prompts: Mapping[str, Prompt]

    def described(self) -> dict[str, Any]:
        """Models and prompts, for the manifest."""
        told = self.models.described()
        own = {name: one.described() for name, one in self.prompts.items()}
        return {**told, "prompts": {**told["prompts"], **own}}


def build(
    config: DictConfig, choices: Mapping[str, str], ledger: CallLedger | None = None
) -> Built:
    """Build what `config` names, each shared part once. `ledger`: see open_models.

    Raises InputError on whatever of the input or the configuration cannot be used.
    """
    use_configured(config.get("metric"))
    source = instantiate(config.dataset)
    check_compatibility(choices, source, config.llm)
    dataset = source.load()
    meter = Meter()
    models = open_models(config, meter, ledger)
    parts = Parts(
        memory=instantiate(config.memory),
        embedder=CachedEmbedder(models.embedder, config.cache, meter),
        context=instantiate(config.context),
        index=instantiate(config.index),
        graph=instantiate(config.graph),
        llm=models.llm,
    )
    make = instantiate(config.strategy, _convert_="all")
    given: dict[str, Any] = {"parts": parts}
    if not (isinstance(make.func, type) and issubclass(make.func, MemoryStrategy)):
        raise InputError(
            f"strategy={choices['strategy']}: {make.func.__name__} is not derived from "
            "memsys.strategy.MemoryStrategy"
        )
    if make.func.sees_evidence:
        given["evidence"] = {question.id: question.evidence for question in dataset.questions}
    for conversation in dataset.conversations:
        parts.memory.check(conversation)
    try:
        strategy = make(**given)  # a wrong number shows before anything is written
    except TypeError as error:
        raise InputError(f"strategy={choices['strategy']}: {error}") from error
    return Built(dataset, meter, models, parts, lambda: make(**given), strategy.prompts)
