"""Expected calls and tokens of each step of a run: memories and graphs that a model writes, what
retrieval asks, the reader and the judge.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from eval.datasets.types import Question
from eval.judges.llm import LLMJudgeSettings
from memsys.context.summaries import PLACES as SUMMARY_PLACES
from memsys.core.tokens import count_tokens
from memsys.core.turns import line
from memsys.core.types import Conversation, Memory, Turn, Usage
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact import MOST, extraction_schema
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.facts.operations import TOOLS
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.memory.turns import Turns
from memsys.llm.client import ChatSettings
from memsys.llm.prompt import Prompt, load_prompt
from memsys.strategies.neighbour_judge import PLACES as NEIGHBOUR_PLACES

_FACTS_A_TURN = 0.43  # LoCoMo's own observations: 2,541 of 5,882 turns
# Output tokens: of a fact as JSON, an empty list, an operation and its reason, a reply on the graph
_FACT, _EMPTY, _DECISION, _RELATIONS = 80, 10, 40, 60
# of a short reason and a word, the list around numbers, a summary of a memory, the gate's reply.
_VERDICT, _LIST, _NOTE, _YES_OR_NO = 40, 8, 35, 8
_SUMMARY = 200  # tokens of 150 words
_LISTED = 150  # tokens of the entities or relations in a prompt on the graph
_AROUND, _NUMBER = 4, 3  # tokens around a message, and of a note's number
_IMAGE, _SENTENCE = 2_833, 30  # input tokens of an image at most, output tokens of its description
_UNBOUNDED = 1_000  # output tokens of an answer without a limit
_SAME_REPLY = "graph_same_reply"  # prompt that is added to that for facts
_GRAPH_CALLS = 3  # an exchange, at most: entities, relations, conflicts

# Calls and input tokens of an exchange of two messages (of one message for hipporag and lightrag),
# and calls of a question: docs/libraries.md.
LIBRARIES: Mapping[str, tuple[int, int, int]] = {
    "cognee": (2, 1_841, 0),
    "letta": (3, 9_743, 0),
    "mem0ai": (1, 7_943, 0),
    "mem0ai_graph": (5, 4_076, 1),
    "graphiti": (6, 8_489, 0),
    "hipporag": (2, 657, 1),
    "langmem": (1, 1_665, 0),
    "lightrag": (2, 4_191, 1),
}


@dataclass(frozen=True, slots=True)
class Calls:
    """Number of calls expected, and their tokens, expected and at most (None: not known)."""

    calls: int
    about: Usage
    most: Usage | None


def _calls(
    calls: int,
    read: float,
    written: float,
    limit: int,
    most_read: float | None = None,
    most_calls: int | None = None,
) -> Calls:
    """Return calls that read and write so many tokens in all. At most, each writes `limit`, and all
    `most_calls` (None: as many) read `most_read` (None: as much).
    """
    longest = limit * (calls if most_calls is None else most_calls)
    most = Usage(0, round(read if most_read is None else most_read), longest)
    return Calls(calls, Usage(0, round(read), round(written)), most)


def stand_ins(conversation: Conversation) -> list[Memory]:
    """Return memories that replace the facts that a model would write: the data set's observations,
    or, if it has none, as many turns as LoCoMo has observations.
    """
    if any(session.observations for session in conversation.sessions):
        facts = Observations("facts")
        return [one for session in conversation.sessions for one in facts.build(session)]
    turns = [one for session in conversation.sessions for one in Turns("turns").build(session)]
    return turns[: max(round(_FACTS_A_TURN * len(turns)), 1)]


def limit_of(llm: ChatSettings) -> int:
    """Return the most output tokens of an answer, or a guess if there is no limit."""
    limit = llm.extra.get("max_completion_tokens", llm.max_tokens)
    return limit if type(limit) is int else _UNBOUNDED


def fact_calls(
    conversations: Sequence[Conversation], limit: int, facts: Mapping[str, Any]
) -> Iterator[Calls]:
    """Yield the calls of extraction, summaries and images.

    `limit`: output tokens of a reply, here and below; `facts`: the settings. Raises InputError on
    unusable settings or prompts, as all functions here.
    """
    settings = ExtractSettings(**facts)
    prompts = settings.prompts
    frame, calls, read, summarised = _size(prompts["facts"]), 0, 0, 0
    for conversation in conversations:
        said: list[int] = []
        for number, session in enumerate(conversation.sessions):
            for turns in _exchanges(session.turns, settings.exchange):
                sizes = [count_tokens(line(turn)) + _AROUND for turn in turns]
                recent = said[max(len(said) - settings.recent, 0) :]
                schema = extraction_schema(len(turns), len(turns) + len(recent), settings.most)
                read += frame + count_tokens(json.dumps(schema)) + sum(sizes) + sum(recent)
                summarised += number > 0 and "summary" in prompts
                calls += 1
                said += sizes
    expected = sum(len(stand_ins(conversation)) for conversation in conversations)
    about, most = read + _SUMMARY * summarised, read + limit * summarised
    yield _calls(calls, about, _FACT * expected + _EMPTY * calls, limit, most)
    sessions, turns = len(_sessions(conversations)), _turns(conversations)
    if "summary" in prompts:
        read = sessions * _size(prompts["summary"]) + sum(count_tokens(line(one)) for one in turns)
        written = sessions * _SUMMARY
        yield _calls(sessions, read + written, written, limit, read + sessions * limit)
    if "image" in prompts:
        seen = [turn for turn in turns if turn.image is not None]
        read = sum(_size(prompts["image"]) + _IMAGE + count_tokens(line(turn)) for turn in seen)
        yield _calls(len(seen), read, len(seen) * _SENTENCE, limit)


def decision_calls(
    conversations: Sequence[Conversation],
    limit: int,
    facts: Mapping[str, Any],
    update: Mapping[str, Any],
) -> Calls:
    """Return one decision for each fact, except a speaker's first. The upper bound assumes that
    every reply is as long as `limit` and contains three facts a message.
    """
    exchange, settings = ExtractSettings(**facts).exchange, UpdateSettings(**update)
    tools = json.dumps([[tool.name, tool.description, tool.parameters] for tool in TOOLS])
    frame = _size(settings.loaded) + count_tokens(tools)
    calls = read = 0
    for conversation in conversations:
        stored: Counter[str] = Counter()
        facts_of = stand_ins(conversation)
        each = sum(count_tokens(fact.content) + _AROUND for fact in facts_of) / len(facts_of)
        for fact in facts_of:
            shown = min(stored[fact.speaker], settings.similar)
            if shown:
                calls += 1
                read += round(frame + (shown + 1) * each)
            stored[fact.speaker] += 1
    most_calls = MOST * len(_turns(conversations))
    longest = limit // (MOST * exchange) + 1
    most_read = most_calls * (frame + (settings.similar + 1) * longest)
    return _calls(calls, read, calls * _DECISION, limit, most_read, most_calls)


def graph_calls(
    conversations: Sequence[Conversation],
    limit: int,
    graph: Mapping[str, Any],
    *,
    same_reply: bool,
) -> Calls:
    """Return the calls of a graph of relations besides the facts, at most as many as an exchange
    can cause: one, if entities and relations are in the `same_reply` as the facts.
    """
    names = (graph["entities"], graph["relations"])
    names = (graph["conflicts"], *((_SAME_REPLY,) if same_reply else names))
    frame = sum(_size(load_prompt(name, [])) for name in names)
    exchanges = _count_exchanges(conversations, graph["exchange"])
    said = sum(count_tokens(line(turn)) + _AROUND for turn in _turns(conversations))
    each = 1 if same_reply else _GRAPH_CALLS
    calls, fixed = each * exchanges, exchanges * frame + each * said
    written = _GRAPH_CALLS * exchanges * _RELATIONS  # in which replies does not matter
    return _calls(calls, fixed + calls * _LISTED, written, limit, fixed + calls * limit)


def entity_calls(questions: Sequence[str], limit: int, graph: Mapping[str, Any]) -> Calls:
    """Return one call for each question, which names its entities."""
    frame = _size(load_prompt(graph["entities"], ["messages"]))
    read = sum(frame + count_tokens(question) + _AROUND for question in questions)
    return _calls(len(questions), read, len(questions) * _RELATIONS, limit)


def library_calls(
    conversations: Sequence[Conversation], questions: Sequence[str], name: str, exchange: int
) -> tuple[Calls, Calls]:
    """Return the calls of the library `name`, one of LIBRARIES, at ingestion and for questions.

    They are those measured on small stores, which grow with the store: a lower bound.
    """
    calls, read, asked = LIBRARIES[name]
    exchanges = _count_exchanges(conversations, exchange)
    facts = sum(len(stand_ins(conversation)) for conversation in conversations)
    replies, queries = calls * exchanges, asked * len(questions)
    written = _FACT * facts + (_RELATIONS if calls > 1 else _EMPTY) * replies
    shown = queries * (read // calls) + asked * sum(map(count_tokens, questions))
    return (
        Calls(replies, Usage(0, exchanges * read, written), None),
        Calls(queries, Usage(0, shown, queries * _RELATIONS), None),
    )


def gate_calls(questions: Sequence[Question], warm_up: int, prompt: str, limit: int) -> Calls:
    """Return the calls of the gate's model if no other rule opens the gate, with `warm_up` more."""
    frame = count_tokens(load_prompt(prompt, ["question"]).fill(question=""))
    calls = len(questions) + warm_up
    return _calls(calls, calls * (frame + _mean(questions)), calls * _YES_OR_NO, limit)


def neighbour_calls(
    questions: Sequence[Question],
    warm_up: int,
    expansion: Mapping[str, Any],
    memory_tokens: float,
    limit: int,
) -> Calls:
    """Return the calls that judge the neighbours of an expansion with these settings, as if every
    question had as many as it can. `memory_tokens`: mean of a memory.
    """
    prompt = load_prompt(expansion["judge_prompt"], NEIGHBOUR_PLACES)
    frame = count_tokens(prompt.fill(question="", notes=""))
    neighbours = expansion["seeds"] * expansion["per_seed"]
    calls = len(questions) + warm_up
    read = calls * (frame + _mean(questions) + neighbours * (memory_tokens + _NUMBER))
    return _calls(calls, read, calls * (_LIST + neighbours), limit)


def summary_calls(long: Sequence[int], prompt: str, limit: int) -> Calls:
    """Return the calls that summarise memories, as if each of the `long` ones, with these o200k
    tokens, were retrieved once or more.
    """
    frame = count_tokens(load_prompt(prompt, SUMMARY_PLACES).fill(note=""))
    return _calls(len(long), len(long) * frame + sum(long), len(long) * _NOTE, limit)


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
    frame, calls = count_tokens(prompt.fill(context="", question="")), len(questions)
    fixed = sum(frame + count_tokens(question.text) for question in questions)
    about, most = (fixed + sum(sizes) for sizes in zip(*contexts, strict=True))
    return _calls(calls, about, calls * (fmean(golds) if golds else 0.0), limit, most)


def verdict_calls(questions: Sequence[Question], judge: LLMJudgeSettings, limit: int) -> Calls:
    """Return a judge's calls."""
    compares = judge.compares  # reads the rubric
    references = [q.cue if compares == "cue" else q.gold for q in questions]
    pairs = [(q.text, one) for q, one in zip(questions, references, strict=True) if one is not None]
    # The answer is taken to be as long as what it is compared with.
    texts = sum(count_tokens(text) + 2 * count_tokens(compared) for text, compared in pairs)
    calls = judge.runs * len(pairs)
    read = judge.runs * (len(pairs) * _size(judge.prompt) + texts)
    return _calls(calls, read, calls * _VERDICT, limit, read + calls * limit)


def _sessions(conversations: Sequence[Conversation]) -> list[Any]:
    return [session for conversation in conversations for session in conversation.sessions]


def _turns(conversations: Sequence[Conversation]) -> list[Turn]:
    return [turn for session in _sessions(conversations) for turn in session.turns]


def _exchanges(turns: Sequence[Any], step: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(turns), step):
        yield turns[start : start + step]


def _count_exchanges(conversations: Sequence[Conversation], step: int) -> int:
    return sum(len(list(_exchanges(one.turns, step))) for one in _sessions(conversations))


def _mean(questions: Sequence[Question]) -> float:
    return fmean(count_tokens(question.text) for question in questions)


def _size(prompt: Prompt) -> int:
    return count_tokens(prompt.text)
