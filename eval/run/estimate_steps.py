"""Expected calls and tokens of each step of a run: memories and graphs that a model writes, what
retrieval asks, the reader and the judge.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any, Literal

from eval.datasets.types import Dataset
from eval.judges.llm import LLMJudgeSettings
from memsys.context.writers import SUMMARY_PLACES
from memsys.core.tokens import count_tokens
from memsys.core.turns import line
from memsys.core.types import Conversation, Memory, Turn, Usage
from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact import MOST, extraction_schema
from memsys.knowledge.facts.fact_writer import TOOLS, UpdateSettings
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.memory.turns import Turns
from memsys.llm.client import ChatSettings
from memsys.llm.prompt import Prompt, load_prompt
from memsys.strategies.graph_expand import JUDGE_PLACES

_ASSUMED = SimpleNamespace(**load_table(Path(__file__).with_name("estimate.yaml")))
LIBRARIES: Mapping[str, tuple[int, int, int]] = _ASSUMED.libraries
_SAME_REPLY = "graph_same_reply"  # prompt that is added to that for facts


@dataclass(frozen=True, slots=True)
class Calls:
    """Number of calls expected, and their tokens, expected and at most (None: not known)."""

    calls: int
    about: Usage
    most: Usage | None


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in a context: its tokens, those of its content, and the turns it comes from."""

    tokens: int
    content: int
    turns: frozenset[str]


Phase = Literal["ingest", "retrieve", "answer", "judge"]
Lines = Mapping[str, Sequence[Line]]  # by conversation


def stand_ins(conversation: Conversation) -> list[Memory]:
    """Return memories that replace the facts that a model would write: the data set's observations,
    or, if it has none, as many turns as LoCoMo has observations.
    """
    if any(session.observations for session in conversation.sessions):
        facts = Observations("facts")
        return [memory for session in conversation.sessions for memory in facts.build(session)]
    turns = [turn for session in conversation.sessions for turn in Turns("turns").build(session)]
    return turns[: max(round(_ASSUMED.facts_a_turn * len(turns)), 1)]


def limit_of(llm: ChatSettings) -> int:
    """Return the most output tokens of an answer, or a guess if there is no limit."""
    limit = llm.extra.get("max_completion_tokens", llm.max_tokens)
    return limit if type(limit) is int else int(_ASSUMED.unbounded)


class Steps:
    """The calls of each step of a run on `dataset` by a model whose replies have at most `limit`
    tokens, each with `instructed` tokens more. Its methods raise InputError on unusable settings or
    prompts.
    """

    def __init__(self, dataset: Dataset, limit: int, instructed: int = 0) -> None:
        self._conversations, self._questions = dataset.conversations, dataset.questions
        self._limit, self._instructed = limit, instructed
        self._sessions = [session for each in self._conversations for session in each.sessions]
        self._turns = [turn for session in self._sessions for turn in session.turns]
        self._asked = [count_tokens(question.text) for question in self._questions]

    def facts(self, settings: Mapping[str, Any]) -> Iterator[Calls]:
        """Yield the calls of extraction, summaries and images."""
        extract, limit = ExtractSettings(**settings), self._limit
        prompts = extract.prompts
        frame = _size(prompts["facts"])
        calls = read = summarised = 0
        for conversation in self._conversations:
            history: list[int] = []
            for number, session in enumerate(conversation.sessions):
                for turns in _exchanges(session.turns, extract.exchange):
                    sizes = [count_tokens(line(turn)) + _ASSUMED.around for turn in turns]
                    recent = history[max(len(history) - extract.recent, 0) :]
                    schema = extraction_schema(len(turns), len(turns) + len(recent), extract.most)
                    read += frame + count_tokens(json.dumps(schema)) + sum(sizes) + sum(recent)
                    summarised += number > 0 and "summary" in prompts
                    calls += 1
                    history += sizes
        written = _ASSUMED.fact * self._expected() + _ASSUMED.empty * calls
        most = read + limit * summarised
        yield self._calls(calls, read + _ASSUMED.summary * summarised, written, most)
        sessions = len(self._sessions)
        if "summary" in prompts:
            text = sum(count_tokens(line(turn)) for turn in self._turns)
            read = sessions * _size(prompts["summary"]) + text
            written = sessions * _ASSUMED.summary
            yield self._calls(sessions, read + written, written, read + sessions * limit)
        if "image" in prompts:
            seen = [count_tokens(line(turn)) for turn in self._turns if turn.image is not None]
            read = len(seen) * (_size(prompts["image"]) + _ASSUMED.image) + sum(seen)
            yield self._calls(len(seen), read, len(seen) * _ASSUMED.sentence)

    def decisions(self, facts: Mapping[str, Any], update: Mapping[str, Any]) -> Calls:
        """Return one decision for each fact, except a speaker's first. The upper bound assumes that
        every reply is as long as the limit and contains three facts a message.
        """
        exchange, settings = ExtractSettings(**facts).exchange, UpdateSettings(**update)
        tools = json.dumps([[tool.name, tool.description, tool.parameters] for tool in TOOLS])
        frame = _size(settings.loaded) + count_tokens(tools)
        calls = read = 0
        for conversation in self._conversations:
            stored: Counter[str] = Counter()
            facts_of = stand_ins(conversation)
            each = sum(count_tokens(fact.content) + _ASSUMED.around for fact in facts_of) / len(
                facts_of
            )
            for fact in facts_of:
                shown = min(stored[fact.speaker], settings.similar)
                if shown:
                    calls += 1
                    read += round(frame + (shown + 1) * each)
                stored[fact.speaker] += 1
        most_calls = MOST * len(self._turns)
        longest = self._limit // (MOST * exchange) + 1
        most_read = most_calls * (frame + (settings.similar + 1) * longest)
        return self._calls(calls, read, calls * _ASSUMED.decision, most_read, most_calls)

    def graph(self, settings: Mapping[str, Any], *, same_reply: bool) -> Calls:
        """Return the calls of a graph of relations besides the facts, at most as many as an
        exchange can cause: one, if entities and relations are in the `same_reply` as the facts.
        """
        names = (_SAME_REPLY,) if same_reply else (settings["entities"], settings["relations"])
        frame = sum(_size(load_prompt(name, [])) for name in (settings["conflicts"], *names))
        exchanges = self._exchanged(settings["exchange"])
        tokens = sum(count_tokens(line(turn)) + _ASSUMED.around for turn in self._turns)
        each = 1 if same_reply else _ASSUMED.graph_calls
        calls, fixed = each * exchanges, exchanges * frame + each * tokens
        written = (
            _ASSUMED.graph_calls * exchanges * _ASSUMED.relations
        )  # in which replies does not matter
        return self._calls(
            calls, fixed + calls * _ASSUMED.listed, written, fixed + calls * self._limit
        )

    def entities(self, graph: Mapping[str, Any]) -> Calls:
        """Return one call for each question and warm-up query, which names its entities."""
        calls = len(self._asked) + len(self._conversations)
        frame = _size(load_prompt(graph["entities"], ["messages"]))
        read = calls * (frame + _ASSUMED.around) + sum(self._asked)
        return self._calls(calls, read, calls * _ASSUMED.relations)

    def library(self, name: str, exchange: int) -> Iterator[tuple[Phase, Calls]]:
        """Yield the calls of the library `name`, one of LIBRARIES, at ingestion and for questions.

        They are those measured on small stores, which grow with the store: a lower bound.
        """
        calls, read, asked = LIBRARIES[name]
        exchanges = self._exchanged(exchange)
        replies, queries = calls * exchanges, asked * len(self._asked)
        written = (
            _ASSUMED.fact * self._expected()
            + (_ASSUMED.relations if calls > 1 else _ASSUMED.empty) * replies
        )
        shown = queries * (read // calls) + asked * sum(self._asked)
        if replies:
            yield "ingest", Calls(replies, Usage(0, exchanges * read, written), None)
        if queries:
            yield "retrieve", Calls(queries, Usage(0, shown, queries * _ASSUMED.relations), None)

    def gate(self, prompt: str) -> Calls:
        """Return the calls of the gate's model if no other rule opens the gate, also for the
        warm-up queries.
        """
        frame = count_tokens(load_prompt(prompt, ["question"]).fill(question=""))
        calls = len(self._asked) + len(self._conversations)
        return self._calls(calls, calls * (frame + fmean(self._asked)), calls * _ASSUMED.yes_or_no)

    def neighbours(self, expansion: Mapping[str, Any], memory_tokens: float) -> Calls:
        """Return the calls that judge the neighbours of an expansion with these settings, as if
        every question had as many as it can. `memory_tokens`: mean of a memory.
        """
        prompt = load_prompt(expansion["judge_prompt"], JUDGE_PLACES)
        frame = count_tokens(prompt.fill(question="", notes=""))
        shown = expansion["seeds"] * expansion["per_seed"]
        calls = len(self._asked) + len(self._conversations)
        read = calls * (frame + fmean(self._asked) + shown * (memory_tokens + _ASSUMED.number))
        return self._calls(calls, read, calls * (_ASSUMED.list + shown))

    def summaries(self, long: Sequence[int], prompt: str) -> Calls:
        """Return the calls that summarise memories, as if each of the `long` ones, with these o200k
        tokens, were retrieved once or more.
        """
        frame = count_tokens(load_prompt(prompt, SUMMARY_PLACES).fill(note=""))
        return self._calls(len(long), len(long) * frame + sum(long), len(long) * _ASSUMED.note)

    def answers(self, prompt: Prompt, contexts: Sequence[tuple[float, float]]) -> Calls:
        """Return the reader's calls. `contexts`: tokens of the context of each question, expected
        and at most.
        """
        # A reply to a remark with a cue is taken to be as long as the cue.
        golds = [count_tokens(text) for q in self._questions if (text := q.gold or q.cue)]
        calls = len(self._asked)
        fixed = calls * count_tokens(prompt.fill(context="", question="")) + sum(self._asked)
        about, most = (fixed + sum(sizes) for sizes in zip(*contexts, strict=True))
        return self._calls(calls, about, calls * (fmean(golds) if golds else 0.0), most)

    def verdicts(self, judge: LLMJudgeSettings) -> Calls:
        """Return a judge's calls."""
        compares = judge.compares  # reads the rubric
        calls = texts = 0
        for question, asked in zip(self._questions, self._asked, strict=True):
            compared = question.cue if compares == "cue" else question.gold
            if compared is not None:
                calls += judge.runs
                # The answer is taken to be as long as what it is compared with.
                texts += judge.runs * (asked + 2 * count_tokens(compared))
        read = calls * _size(judge.prompt) + texts
        return self._calls(calls, read, calls * _ASSUMED.verdict, read + calls * self._limit)

    def _expected(self) -> int:
        """Return the number of facts that a model is expected to write."""
        return sum(len(stand_ins(conversation)) for conversation in self._conversations)

    def _exchanged(self, step: int) -> int:
        """Return the number of exchanges of `step` messages."""
        return sum(-(-len(session.turns) // step) for session in self._sessions)

    def _calls(
        self,
        calls: int,
        read: float,
        written: float,
        most_read: float | None = None,
        most_calls: int | None = None,
    ) -> Calls:
        """Return calls that read and write so many tokens in all. At most, each writes the limit,
        and all `most_calls` (None: as many) read `most_read` (None: as much).
        """
        longest, more = self._limit * (most_calls or calls), calls * self._instructed
        most = Usage(0, round(read if most_read is None else most_read) + more, longest)
        return Calls(calls, Usage(0, round(read) + more, round(written)), most)


def _exchanges(turns: Sequence[Turn], step: int) -> Iterator[Sequence[Turn]]:
    for start in range(0, len(turns), step):
        yield turns[start : start + step]


def _size(prompt: Prompt) -> int:
    return count_tokens(prompt.text)
