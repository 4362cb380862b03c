"""`estimate=true`: expected calls, tokens and dollars of runs; no model is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, cast

from hydra import compose
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from eval.datasets.types import Dataset
from eval.judges.llm import LLMJudgeSettings
from eval.judges.panel import PanelSettings
from eval.pricing.prices import break_even
from eval.pricing.usage import FULL_CONTEXT, each
from eval.readers.llm import PLACES, LLMReaderSettings
from eval.rendering.numbers import ABSENT, number, questions
from eval.rendering.tables import plain
from eval.run.build import limited
from eval.run.estimate_ingest import (
    Calls,
    decision_calls,
    entity_calls,
    fact_calls,
    graph_calls,
    stand_ins,
)
from eval.run.settings import check_settings
from memsys.embed.endpoint import EndpointEmbedder
from memsys.llm.client import ChatSettings
from memsys.llm.pricing import PRICING, Pricing, load_pricing
from memsys.llm.prompt import load_prompt
from memsys.memory.base import WrittenByModel
from memsys.strategy import MemoryStrategy
from memsys.text.tokens import count_tokens
from memsys.types import Candidate, Usage

_STRATEGIES = (FULL_CONTEXT, "vector_only", "graph_score", "graph_expand", "hybrid_gate")
_OF_MODELS = ("mem0", "mem0_graph")  # shown where a model can write the memories
_VERDICT = 40  # output tokens of a judge's reply: a short reason and a word
_YES_OR_NO = 8  # output tokens of the gate's model
_UNBOUNDED = 1_000  # output tokens of an answer where max_tokens is null
_UNKNOWN = "unknown"
_NOTE = """
Tokens are o200k and expected: k memories of mean length, answers as long as the gold answers.
At most: contexts as long as the budget, answers as long as llm.max_tokens.
hybrid_gate: as if the gate's model were asked about every question.
Facts that a model extracts: as many and as long as the data set's own observations (0.43 a turn
where it has none); at most three a message. The graph of mem0_graph: at most three calls an
exchange. Repeated attempts are not counted; recorded calls cost nothing.
Break-even: questions a conversation until ingestion and questions cost less than full_context."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls of one model in a phase of a run, and their tokens, expected and at most."""

    phase: Literal["ingest", "retrieve", "answer", "judge"]
    model: str
    calls: Calls


def show_estimate(config: DictConfig) -> None:
    """Print the estimate for the data set and models of `config`: of the five strategies and, if a
    model is configured for it, of those whose memories a model writes.

    Raises InputError on data or settings that a run would refuse.
    """
    check_settings(config)
    dataset = limited(instantiate(config.dataset).load(), config.questions)
    pricing = load_pricing(config.pricing or PRICING)
    asked, conversations = len(dataset.questions), len(dataset.conversations)
    rows, unpriced = [], set()
    full_usd: float | None = None
    has_llm = isinstance(instantiate(config.llm), ChatSettings)
    for strategy in (*_STRATEGIES, *(_OF_MODELS if has_llm else ())):
        stages = list(_Estimator.of(config, dataset, strategy).stages())
        unpriced |= {stage.model for stage in stages if pricing.price(stage.model) is None}
        question = each(_usd(stages, pricing, ["retrieve", "answer"]), asked)
        if strategy == FULL_CONTEXT:
            full_usd = question
        after = break_even(
            each(_usd(stages, pricing, ["ingest"]), conversations), question, full_usd
        )
        expected = [stage.calls.about for stage in stages]
        rows.append(
            [
                strategy,
                f"{sum(stage.calls.calls for stage in stages):,}",
                f"{sum(usage.input_tokens for usage in expected):,}",
                f"{sum(usage.output_tokens for usage in expected):,}",
                number(_usd(stages, pricing, ["ingest", "retrieve", "answer"]), 2, _UNKNOWN),
                number(_usd(stages, pricing, ["judge"]), 2, _UNKNOWN),
                number(_usd(stages, pricing, None), 2, _UNKNOWN),
                ABSENT if strategy == FULL_CONTEXT else questions(after, absent=_UNKNOWN),
            ]
        )
    header = ["strategy", "calls", "input tokens", "output tokens"]
    header += ["system $", "judge $", "at most $", "break-even"]
    print(f"{dataset.name}: {conversations} conversations, {asked} questions. Nothing is called.\n")
    print(plain(header, rows))
    print(f"{_NOTE}\nPrices as of {pricing.as_of}: {pricing.source}.")
    for model in sorted(unpriced):
        print(f"No price is known for {model}: give one by pricing=FILE.")


@dataclass(frozen=True, slots=True)
class _Estimator:
    """Estimates one strategy. `settings` are those of the strategy; `lines` are the tokens of each
    memory in a context, by conversation; `writes`: whether the strategy lets a model write them.
    """

    config: DictConfig
    dataset: Dataset
    settings: dict[str, Any]
    llm: ChatSettings | None
    memory: Any
    writes: bool
    lines: dict[str, list[int]]

    @classmethod
    def of(cls, config: DictConfig, dataset: Dataset, strategy: str) -> _Estimator:
        """Return the estimator of `config`; the settings of any other strategy are its defaults."""
        default = compose("config", [f"strategy={strategy}"]).strategy
        same = config.strategy.get("_target_") == default._target_
        settings: Any = OmegaConf.to_container(config.strategy if same else default, resolve=True)
        writes = cast(type[MemoryStrategy], get_class(settings["_target_"])).writes_memory
        llm, memory = instantiate(config.llm), instantiate(config.memory)
        chat = llm if isinstance(llm, ChatSettings) else None
        if chat is None and isinstance(memory, WrittenByModel):
            memory.open(None)  # refuses, as a run would
        context = instantiate(config.context)
        lines = {}
        for conversation in dataset.conversations:
            if writes or isinstance(memory, WrittenByModel):
                memories = stand_ins(conversation)
            else:
                memories = [m for session in conversation.sessions for m in memory.build(session)]
            written = (context.write([Candidate(one, 0.0)], None)[1] for one in memories)
            lines[conversation.id] = [count_tokens(text) for text in written]
        return cls(config, dataset, settings, chat, memory, writes, lines)

    def stages(self) -> Iterator[Stage]:
        """Yield the calls of a run."""
        embedder = instantiate(self.config.embedder)
        if isinstance(embedder, EndpointEmbedder) and "k" in self.settings:
            yield from self._embedding(embedder.model)
        if self.llm is not None:
            yield from self._ingestion(self.llm)
            if prompt := self.settings.get("gate", {}).get("domains"):
                yield Stage("retrieve", self.llm.model, self._gate(prompt, self.llm))
            reader = instantiate(self.config.reader)
            if isinstance(reader, LLMReaderSettings):
                yield Stage("answer", self.llm.model, self._answers(reader.prompt, self.llm))
        chosen = instantiate(self.config.judge_llm)
        judging = chosen if isinstance(chosen, ChatSettings) else self.llm
        judge = instantiate(self.config.judge)
        for one in judge.members if isinstance(judge, PanelSettings) else [judge]:
            if isinstance(one, LLMJudgeSettings) and judging is not None:
                yield Stage("judge", one.model or judging.model, self._verdicts(one, judging))

    def _embedding(self, model: str) -> Iterator[Stage]:
        tokens = Usage(0, sum(map(sum, self.lines.values())), 0)
        if self.writes:  # each fact is compared by itself
            batches = sum(map(len, self.lines.values()))
        else:
            batches = sum(len(one.sessions) for one in self.dataset.conversations)
        yield Stage("ingest", model, Calls(batches, tokens, tokens))
        queries = Usage(0, sum(count_tokens(q.text) for q in self.dataset.questions), 0)
        yield Stage("retrieve", model, Calls(len(self.dataset.questions), queries, queries))

    def _ingestion(self, llm: ChatSettings) -> Iterator[Stage]:
        """Yield the calls that write memories, for the strategy or for memory=facts."""
        limit, conversations = llm.max_tokens or _UNBOUNDED, self.dataset.conversations
        calls: list[Calls] = []
        if self.writes:
            settings = self.settings
            calls += fact_calls(conversations, limit, settings["facts"])
            calls.append(
                decision_calls(conversations, limit, settings["facts"], settings["update"])
            )
            if "graph" in settings:
                calls.append(graph_calls(conversations, limit, settings["graph"]))
            if settings.get("relations", {}).get("query_entities") == "llm":
                texts = [question.text for question in self.dataset.questions]
                texts += [""] * len(conversations)  # the warm-up queries
                yield Stage("retrieve", llm.model, entity_calls(texts, limit, settings["graph"]))
        elif isinstance(self.memory, WrittenByModel):
            given: Any = OmegaConf.to_container(self.config.memory, resolve=True)
            facts = {
                name: value for name, value in given.items() if name not in {"_target_", "name"}
            }
            calls += fact_calls(conversations, limit, {**facts, "place": "memory"})
        for one in calls:
            yield Stage("ingest", llm.model, one)

    def _gate(self, prompt: str, llm: ChatSettings) -> Calls:
        """Calls of the gate's model if no other rule opened the gate, warm-up queries included."""
        frame = count_tokens(load_prompt(prompt, ["question"]).fill(question=""))
        texts = [count_tokens(question.text) for question in self.dataset.questions]
        calls = len(texts) + len(self.dataset.conversations)
        read = round(calls * (frame + fmean(texts)))
        most = Usage(0, read, calls * (llm.max_tokens or _UNBOUNDED))
        return Calls(calls, Usage(0, read, calls * _YES_OR_NO), most)

    def _answers(self, prompt: str, llm: ChatSettings) -> Calls:
        questions = self.dataset.questions
        golds = [count_tokens(q.gold) for q in questions if q.gold is not None]
        frame = count_tokens(load_prompt(prompt, PLACES).fill(context="", question=""))
        fixed = sum(frame + count_tokens(question.text) for question in questions)
        contexts = [self._context(self.lines[question.conversation]) for question in questions]
        about, most = (round(fixed + sum(sizes)) for sizes in zip(*contexts, strict=True))
        written = round(len(questions) * (fmean(golds) if golds else 0.0))
        longest = len(questions) * (llm.max_tokens or _UNBOUNDED)
        return Calls(len(questions), Usage(0, about, written), Usage(0, most, longest))

    def _context(self, lines: list[int]) -> tuple[float, float]:
        """Tokens of a question's context, expected and at most; `lines`: of all memories."""
        whole = float(sum(lines))
        if "k" not in self.settings:
            return whole, whole
        k, budget = self.config.k or len(lines), self.config.budget or whole
        most = min(float(sum(sorted(lines)[-k:])), budget, whole)
        return min(k * fmean(lines), most), most

    def _verdicts(self, judge: LLMJudgeSettings, llm: ChatSettings) -> Calls:
        pairs = [(q.text, q.gold) for q in self.dataset.questions if q.gold is not None]
        # The answer is taken to be as long as the gold answer.
        texts = sum(count_tokens(text) + 2 * count_tokens(gold) for text, gold in pairs)
        calls = judge.runs * len(pairs)
        read = judge.runs * (len(pairs) * count_tokens(judge.prompt.text) + texts)
        longest = calls * (llm.max_tokens or _UNBOUNDED)
        return Calls(calls, Usage(0, read, calls * _VERDICT), Usage(0, read + longest, longest))


def _usd(stages: Iterable[Stage], pricing: Pricing, phases: list[str] | None) -> float | None:
    """Return the expected dollars of `phases`; for None, the upper bound over all phases."""
    costs = [
        pricing.cost_usd(one.model, one.calls.most if phases is None else one.calls.about)
        for one in stages
        if phases is None or one.phase in phases
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
