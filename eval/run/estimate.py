"""What a run would take, before it is run: calls, tokens and dollars. Nothing is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from hydra import compose
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval.datasets.types import Dataset
from eval.judges.llm import LLMJudgeSettings
from eval.judges.panel import PanelSettings
from eval.pricing.prices import break_even
from eval.readers.llm import PLACES, LLMReaderSettings
from eval.rendering.tables import plain
from eval.run.estimate_ingest import (
    Calls,
    decision_calls,
    entity_calls,
    fact_calls,
    graph_calls,
    stand_ins,
)
from memsys.embed.endpoint import EndpointEmbedder
from memsys.llm.client import ChatSettings
from memsys.llm.pricing import PRICING, Pricing, load_pricing
from memsys.llm.prompt import load_prompt
from memsys.memory.base import MemoryBuilder, WrittenByModel
from memsys.text.tokens import count_tokens
from memsys.types import Candidate, Usage

_STRATEGIES = ("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate")
_WRITERS = ("mem0", "mem0_graph")  # shown where there is a model to write with
_VERDICT = 40  # output tokens of a judge's reply: a short reason and a word
_YES_OR_NO = 8  # output tokens of the gate's model
_UNBOUNDED = 1_000  # output tokens of an answer where max_tokens is null


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls of one model: how many, and tokens, expected and at most."""

    name: str
    model: str
    calls: int
    about: Usage
    most: Usage


def show_estimate(config: DictConfig) -> None:
    """Print the estimate of the five strategies, and of those that have a model write the memory,
    for the data set and models of `config`.

    Raises InputError on data or settings that no run could use.
    """
    dataset: Dataset = instantiate(config.dataset).load()
    pricing = load_pricing(config.pricing or PRICING)
    asked, conversations = len(dataset.questions), len(dataset.conversations)
    rows, unpriced = [], set()
    full_usd: float | None = None
    writers = _WRITERS if isinstance(instantiate(config.llm), ChatSettings) else ()
    for strategy in (*_STRATEGIES, *writers):
        stages = list(_stages(config, dataset, strategy))
        unpriced |= {stage.model for stage in stages if pricing.price(stage.model) is None}
        remember = [stage for stage in stages if stage.name == "remember"]
        question = [stage for stage in stages if stage.name in {"retrieve", "answer"}]
        each = _usd(question, pricing, "about")
        each = None if each is None else each / asked
        ingest = _usd(remember, pricing, "about")
        if strategy == "full_context":
            full_usd = each
        repaid = break_even(None if ingest is None else ingest / conversations, each, full_usd)
        rows.append(
            [
                strategy,
                f"{sum(stage.calls for stage in stages):,}",
                f"{sum(stage.about.input_tokens for stage in stages):,}",
                f"{sum(stage.about.output_tokens for stage in stages):,}",
                _dollars(_usd([s for s in stages if s.name != "judge"], pricing, "about")),
                _dollars(_usd([s for s in stages if s.name == "judge"], pricing, "about")),
                _dollars(_usd(stages, pricing, "most")),
                "-" if strategy == "full_context" else _questions(repaid),
            ]
        )
    header = [
        *("strategy", "calls", "input tokens", "output tokens", "system $", "judge $"),
        *("at most $", "repaid after"),
    ]
    print(f"{dataset.name}: {conversations} conversations, {asked} questions. Nothing is called.\n")
    print(plain(header, rows))
    print(
        "\nTokens are o200k and expected: k memories of mean length, answers as long as the gold."
        "\nAt most: contexts as long as the budget, answers as long as llm.max_tokens."
        "\nhybrid_gate: as if every question were put to the gate's model."
        "\nFacts that a model writes: as many and as long as the data set's own observations (0.43"
        "\na turn where it has none); at most three a message. The graph of mem0_graph: at most"
        "\nthree calls an exchange. Calls that are tried again are not counted."
        "\nRepaid after: questions a conversation until remembering costs less than full_context."
        "\nWhat is recorded already costs nothing."
        f"\nPrices as of {pricing.as_of}: {pricing.source}."
    )
    for model in sorted(unpriced):
        print(f"No price is known for {model}: give one by pricing=FILE.")


def _stages(config: DictConfig, dataset: Dataset, strategy: str) -> Iterator[Stage]:
    asked = len(dataset.questions)
    reader, llm = instantiate(config.reader), instantiate(config.llm)
    memory = instantiate(config.memory)
    written = strategy in _WRITERS or isinstance(memory, WrittenByModel)
    lines = _lines(dataset, None if written else memory, instantiate(config.context))
    if isinstance(llm, ChatSettings):
        yield from _writing(config, dataset, strategy, llm)
    elif isinstance(memory, WrittenByModel):
        memory.open(None)  # refuses, as a run would
    embedder = instantiate(config.embedder)
    if isinstance(embedder, EndpointEmbedder) and strategy != "full_context":
        told = sum(map(sum, lines.values()))
        remember = Usage(0, told, 0)
        batches = sum(len(conversation.sessions) for conversation in dataset.conversations)
        if strategy in _WRITERS:  # each fact is compared by itself
            batches = sum(map(len, lines.values()))
        yield Stage("remember", embedder.model, batches, remember, remember)
        queries = Usage(0, sum(count_tokens(q.text) for q in dataset.questions), 0)
        yield Stage("retrieve", embedder.model, asked, queries, queries)
    if isinstance(llm, ChatSettings) and strategy == "hybrid_gate":
        prompt = _settings_of(config, strategy)["gate"]["domains"]
        if prompt:
            yield _gate(prompt, dataset, llm)
    golds = [count_tokens(q.gold) for q in dataset.questions if q.gold is not None]
    answer = fmean(golds) if golds else 0.0
    if isinstance(reader, LLMReaderSettings) and isinstance(llm, ChatSettings):
        prompt = load_prompt(reader.prompt, PLACES)
        frame = count_tokens(prompt.fill(context="", question=""))
        fixed = sum(frame + count_tokens(q.text) for q in dataset.questions)
        contexts = [_contexts(config, strategy, lines[q.conversation]) for q in dataset.questions]
        longest = llm.max_tokens or _UNBOUNDED
        yield Stage(
            "answer",
            llm.model,
            asked,
            Usage(0, round(fixed + sum(about for about, _ in contexts)), round(asked * answer)),
            Usage(0, round(fixed + sum(most for _, most in contexts)), asked * longest),
        )
    judge_llm = instantiate(config.judge_llm)
    judging = judge_llm if isinstance(judge_llm, ChatSettings) else llm
    for judge in _llm_judges(instantiate(config.judge)):
        if isinstance(judging, ChatSettings):
            calls = judge.runs * len(golds)
            frame = count_tokens(judge.prompt.text)
            texts = sum(count_tokens(q.text) for q in dataset.questions if q.gold is not None)
            read = judge.runs * (len(golds) * frame + texts + 2 * sum(golds))
            longest = judging.max_tokens or _UNBOUNDED
            yield Stage(
                "judge",
                judge.model or judging.model,
                calls,
                Usage(0, read, calls * _VERDICT),
                Usage(0, read + calls * longest, calls * longest),
            )


def _gate(prompt: str, dataset: Dataset, llm: ChatSettings) -> Stage:
    """The gate's model, as if nothing but it ever opened the gate; the warm-up queries too."""
    frame = count_tokens(load_prompt(prompt, ["question"]).fill(question=""))
    texts = [count_tokens(question.text) for question in dataset.questions]
    calls = len(texts) + len(dataset.conversations)
    read = round(calls * (frame + fmean(texts)))
    most = Usage(0, read, calls * (llm.max_tokens or _UNBOUNDED))
    return Stage("retrieve", llm.model, calls, Usage(0, read, calls * _YES_OR_NO), most)


def _writing(
    config: DictConfig, dataset: Dataset, strategy: str, llm: ChatSettings
) -> Iterator[Stage]:
    """The model that writes the memory, be it the strategy's or that of memory=facts."""
    limit, conversations = llm.max_tokens or _UNBOUNDED, dataset.conversations
    made: list[Calls] = []
    if strategy in _WRITERS:
        own = _settings_of(config, strategy)
        made += fact_calls(conversations, limit, own["facts"])
        made.append(decision_calls(conversations, limit, own["facts"], own["update"]))
        if "graph" in own:
            made.append(graph_calls(conversations, limit, own["graph"]))
        if own.get("relations", {}).get("query_entities") == "llm":
            asked = [question.text for question in dataset.questions]
            asked += [""] * len(conversations)  # the warm-up queries
            one = entity_calls(asked, limit, own["graph"])
            yield Stage("retrieve", llm.model, one.calls, one.about, one.most)
    elif isinstance(instantiate(config.memory), WrittenByModel):
        given: Any = OmegaConf.to_container(config.memory, resolve=True)
        facts = {name: value for name, value in given.items() if name not in {"_target_", "name"}}
        made += fact_calls(conversations, limit, {**facts, "place": "memory"})
    for one in made:
        yield Stage("remember", llm.model, one.calls, one.about, one.most)


def _settings_of(config: DictConfig, strategy: str) -> dict[str, Any]:
    """Those of `config` where it is of this strategy, else the strategy's own."""
    composed = compose("config", [f"strategy={strategy}"])
    same = config.strategy.get("_target_") == composed.strategy._target_
    whole: Any = OmegaConf.to_container((config if same else composed).strategy, resolve=True)
    return dict(whole)


def _lines(dataset: Dataset, memory: MemoryBuilder | None, context: Any) -> dict[str, list[int]]:
    """By conversation: tokens of each memory as it stands in a context. None: of facts that a model
    would write.
    """
    found: dict[str, list[int]] = {}
    for conversation in dataset.conversations:
        if memory is None:
            memories = stand_ins(conversation)
        else:
            memories = [m for session in conversation.sessions for m in memory.build(session)]
        found[conversation.id] = [
            count_tokens(context.write([Candidate(one, 0.0)], None)[1]) for one in memories
        ]
    return found


def _contexts(config: DictConfig, strategy: str, lines: list[int]) -> tuple[float, float]:
    """Tokens of a question's context, expected and at most."""
    whole = float(sum(lines))
    if strategy == "full_context":
        return whole, whole
    k, budget = config.k or len(lines), config.budget or whole
    most = min(float(sum(sorted(lines)[-k:])), budget, whole)
    return min(k * fmean(lines), most), most


def _llm_judges(settings: object) -> list[LLMJudgeSettings]:
    members = settings.members if isinstance(settings, PanelSettings) else [settings]
    return [member for member in members if isinstance(member, LLMJudgeSettings)]


def _usd(stages: list[Stage], pricing: Pricing, which: str) -> float | None:
    costs = [pricing.cost_usd(stage.model, getattr(stage, which)) for stage in stages]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _dollars(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.2f}"


def _questions(value: float | None) -> str:
    if value is None:
        return "unknown"
    return "never" if value == float("inf") else f"{value:,.1f}"
