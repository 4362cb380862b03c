"""The models of a run: who answers, who judges, what it may cost, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.judges.judge import Judge, ModelByName
from eval.readers import Reader
from eval.readers.llm import LLMReader, LLMReaderSettings
from memsys.embed.base import Embedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.errors import InputError
from memsys.llm.base import LLM
from memsys.llm.budget import Budget, CallLedger
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.pricing import PRICING, Pricing, load_pricing
from memsys.llm.recording import Recording


@dataclass(frozen=True, slots=True)
class Models:
    """What the configuration's groups llm, judge_llm, reader, judge and embedder come to."""

    embedder: Embedder
    llm: LLM | None
    reader: Reader
    judge: Judge | None
    pricing: Pricing

    def described(self) -> dict[str, Any]:
        """For the manifest: the model that answers, prompts with their hashes, the judge, and the
        prices of every model there is a price for.
        """
        prompts = {}
        if isinstance(self.reader, LLMReader):
            prompts["reader"] = self.reader.prompt.described()
        return {
            "llm": None if self.llm is None else self.llm.name,
            "prompts": prompts,
            "judge": None
            if self.judge is None
            else {"name": self.judge.name, "score": self.judge.score_key, **self.judge.details},
            "pricing": {
                "as_of": self.pricing.as_of,
                "models": {
                    name: {"input": price.input, "output": price.output}
                    for name, price in self.pricing.prices.items()
                },
            },
        }


def open_models(config: DictConfig, meter: Meter, ledger: CallLedger | None = None) -> Models:
    """The models of the run that `config` describes, their calls recorded and replayed.

    `ledger`: of what the run pays for, and has paid for where it is gone on with. Raises InputError
    where a key, a model, a prompt or a price is missing.
    """
    settings: ChatSettings | NoModel = instantiate(config.llm)
    pricing = load_pricing(config.pricing or PRICING)
    recording = Recording(config.cache, settings.cache)
    budget = Budget(settings.budget_usd, pricing, ledger)
    embedder = instantiate(config.embedder)
    if isinstance(embedder, EndpointEmbedder):
        embedder.open(recording, meter, budget)
    llm = settings.open(recording, meter, budget)
    reader = instantiate(config.reader)
    if isinstance(reader, LLMReaderSettings):
        if llm is None:
            raise InputError("reader=llm: no model to answer with; add llm=openai or llm=local")
        reader = reader.open(llm)

    def open_judge() -> Judge | None:
        """By `judge_llm`, or the reader's own model where that is none."""
        chosen: ChatSettings | NoModel = instantiate(config.judge_llm)
        if isinstance(chosen, NoModel):
            chosen = settings
        judging = chosen.open(recording, meter, budget)
        named: ModelByName | None = None
        if isinstance(chosen, ChatSettings):
            chat = chosen
            named = lambda name: replace(chat, model=name).open(recording, meter, budget)  # noqa: E731
        judge: Judge | None = instantiate(config.judge).open(judging, named)
        return judge

    return Models(embedder, llm, reader, open_judge(), pricing)
