"""What a run would take, before it is run: calls, tokens and dollars. Nothing is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.costs import repaid_after
from eval.judges.llm import LLMJudgeSettings
from eval.judges.panel import PanelSettings
from eval.questions import Dataset
from eval.readers.llm import PLACES, LLMReaderSettings
from eval.tables import plain
from memsys.context.tokens import count_tokens
from memsys.embed.endpoint import EndpointEmbedder
from memsys.llm.client import ChatSettings
from memsys.llm.pricing import PRICING, Pricing, load_pricing
from memsys.llm.prompt import load_prompt
from memsys.memory.base import MemoryBuilder
from memsys.types import Candidate, Usage

_STRATEGIES = ("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate")
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
    """Print the estimate of the five strategies for the data set and models of `config`.

    Raises InputError on data or settings that no run could use.
    """
    dataset: Dataset = instantiate(config.dataset).load()
    pricing = load_pricing(config.pricing or PRICING)
    asked, conversations = len(dataset.questions), len(dataset.conversations)
    rows, unpriced = [], set()
    full_usd: float | None = None
    for strategy in _STRATEGIES:
        stages = list(_stages(config, dataset, strategy))
        unpriced |= {stage.model for stage in stages if pricing.price(stage.model) is None}
        remember = [stage for stage in stages if stage.name == "remember"]
        question = [stage for stage in stages if stage.name in {"retrieve", "answer"}]
        each = _usd(question, pricing, "about")
        each = None if each is None else each / asked
        ingest = _usd(remember, pricing, "about")
        if strategy == "full_context":
            full_usd = each
        repaid = repaid_after(None if ingest is None else ingest / conversations, each, full_usd)
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
        "\nRepaid after: questions a conversation until remembering costs less than full_context."
        "\nWhat is recorded already costs nothing."
        f"\nPrices as of {pricing.as_of}: {pricing.source}."
    )
    for model in sorted(unpriced):
        print(f"No price is known for {model}: give one by pricing=FILE.")


def _stages(config: DictConfig, dataset: Dataset, strategy: str) -> Iterator[Stage]:
    asked = len(dataset.questions)
    lines = _lines(dataset, instantiate(config.memory), instantiate(config.context))
    embedder = instantiate(config.embedder)
    if isinstance(embedder, EndpointEmbedder) and strategy != "full_context":
        told = sum(map(sum, lines.values()))
        remember = Usage(0, told, 0)
        batches = sum(len(conversation.sessions) for conversation in dataset.conversations)
        yield Stage("remember", embedder.model, batches, remember, remember)
        queries = Usage(0, sum(count_tokens(q.text) for q in dataset.questions), 0)
        yield Stage("retrieve", embedder.model, asked, queries, queries)
    reader, llm = instantiate(config.reader), instantiate(config.llm)
    if isinstance(llm, ChatSettings) and strategy == "hybrid_gate" and config.gate.domains:
        yield _gate(config, dataset, llm)
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


def _gate(config: DictConfig, dataset: Dataset, llm: ChatSettings) -> Stage:
    """The gate's model, as if nothing but it ever opened the gate; the warm-up queries too."""
    frame = count_tokens(load_prompt(config.gate.domains, ["question"]).fill(question=""))
    texts = [count_tokens(question.text) for question in dataset.questions]
    calls = len(texts) + len(dataset.conversations)
    read = round(calls * (frame + fmean(texts)))
    most = Usage(0, read, calls * (llm.max_tokens or _UNBOUNDED))
    return Stage("retrieve", llm.model, calls, Usage(0, read, calls * _YES_OR_NO), most)


def _lines(dataset: Dataset, memory: MemoryBuilder, context: Any) -> dict[str, list[int]]:
    """By conversation: tokens of each memory as it stands in a context."""
    found: dict[str, list[int]] = {}
    for conversation in dataset.conversations:
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
