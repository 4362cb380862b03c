"""Expected calls and tokens of questions: those of retrieval, the reader's and the judge's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from baselines.rankings import NoMemory
from eval.datasets.types import Question
from eval.judges.llm import LLMJudgeSettings
from eval.run.estimate_ingest import Calls
from memsys.context.summaries import PLACES as SUMMARY_PLACES
from memsys.core.tokens import count_tokens
from memsys.core.types import Usage
from memsys.llm.client import ChatSettings
from memsys.llm.prompt import Prompt, load_prompt
from memsys.strategies.graph_expand import JUDGE_PLACES
from memsys.strategies.strategy import MemoryStrategy

_VERDICT = 40  # output tokens of a judge's reply: a short reason and a word
_NUMBER = 3  # tokens of a note's number
_LIST = 8  # output tokens around a list of numbers
_SUMMARY = 35  # output tokens of a summary
_YES_OR_NO = 8  # output tokens of the gate's model
_UNBOUNDED = 1_000  # output tokens of an answer without a limit


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in a context: its tokens, those of its content, and the turns it comes from."""

    tokens: int
    content: int
    turns: frozenset[str]


def gate_calls(questions: Sequence[Question], warm_up: int, prompt: str, limit: int) -> Calls:
    """Return the calls of the gate's model if no other rule opens the gate, with `warm_up` more.

    `limit`: output tokens of a reply, here and below. Raises InputError on an unusable prompt.
    """
    frame = count_tokens(load_prompt(prompt, ["question"]).fill(question=""))
    texts = [count_tokens(question.text) for question in questions]
    calls = len(texts) + warm_up
    read = round(calls * (frame + fmean(texts)))
    return Calls(calls, Usage(0, read, calls * _YES_OR_NO), Usage(0, read, calls * limit))


def neighbour_calls(
    questions: Sequence[Question],
    warm_up: int,
    expansion: Mapping[str, Any],
    memory_tokens: float,
    limit: int,
) -> Calls:
    """Return the calls that judge the neighbours of an expansion with these settings, as if every
    question had as many as it can. `memory_tokens`: mean of a memory. Raises InputError on an
    unusable prompt.
    """
    prompt = load_prompt(expansion["judge_prompt"], JUDGE_PLACES)
    frame = count_tokens(prompt.fill(question="", notes=""))
    neighbours = expansion["seeds"] * expansion["per_seed"]
    calls = len(questions) + warm_up
    each = frame + fmean(count_tokens(question.text) for question in questions)
    read = round(calls * (each + neighbours * (memory_tokens + _NUMBER)))
    written = calls * (_LIST + neighbours)
    return Calls(calls, Usage(0, read, written), Usage(0, read, calls * limit))


def summary_calls(long: Sequence[int], prompt: str, limit: int) -> Calls:
    """Return the calls that summarise memories, as if each of the `long` ones, with these o200k
    tokens, were retrieved once or more. Raises InputError on an unusable prompt.
    """
    frame = count_tokens(load_prompt(prompt, SUMMARY_PLACES).fill(note=""))
    calls, read = len(long), len(long) * frame + sum(long)
    return Calls(calls, Usage(0, read, calls * _SUMMARY), Usage(0, read, calls * limit))


def answer_calls(
    questions: Sequence[Question],
    prompt: Prompt,
    contexts: Sequence[tuple[float, float]],
    limit: int,
) -> Calls:
    """Return the reader's calls. `contexts`: tokens of the context of each question, expected and
    at most.
    """
    # A reply to a remark with a cue is taken to be as long as the cue.
    golds = [count_tokens(text) for q in questions if (text := q.gold or q.cue) is not None]
    frame = count_tokens(prompt.fill(context="", question=""))
    fixed = sum(frame + count_tokens(question.text) for question in questions)
    about, most = (round(fixed + sum(sizes)) for sizes in zip(*contexts, strict=True))
    written = round(len(questions) * (fmean(golds) if golds else 0.0))
    longest = len(questions) * limit
    return Calls(len(questions), Usage(0, about, written), Usage(0, most, longest))


def verdict_calls(questions: Sequence[Question], judge: LLMJudgeSettings, limit: int) -> Calls:
    """Return a judge's calls. Raises InputError on an unusable rubric."""
    compares = judge.compares  # reads the rubric
    references = [q.cue if compares == "cue" else q.gold for q in questions]
    pairs = [(q.text, one) for q, one in zip(questions, references, strict=True) if one is not None]
    # The answer is taken to be as long as what it is compared with.
    texts = sum(count_tokens(text) + 2 * count_tokens(compared) for text, compared in pairs)
    calls = judge.runs * len(pairs)
    read = judge.runs * (len(pairs) * count_tokens(judge.prompt.text) + texts)
    longest = calls * limit
    return Calls(calls, Usage(0, read, calls * _VERDICT), Usage(0, read + longest, longest))


def limit_of(llm: ChatSettings) -> int:
    """Return the most output tokens of an answer, or a guess if there is no limit."""
    limit = llm.extra.get("max_completion_tokens", llm.max_tokens)
    return limit if type(limit) is int else _UNBOUNDED


def context_size(
    kind: type[MemoryStrategy],
    settings: Mapping[str, Any],
    question: Question,
    lines: Sequence[Line],
) -> tuple[float, float]:
    """Return the tokens of a question's context, expected and at most."""
    sizes = [line.tokens for line in lines]
    if kind is NoMemory or not sizes:
        return 0.0, 0.0
    whole = float(sum(sizes))
    budget = settings.get("budget") or whole
    if "k" in settings:
        k = settings["k"] or len(sizes)
        most = min(float(sum(sorted(sizes)[-k:])), budget, whole)
        return min(k * fmean(sizes), most), most
    if kind.sees_evidence:
        wanted = set(question.evidence)
        whole = float(sum(line.tokens for line in lines if wanted & line.turns))
    return (min(whole, budget),) * 2
