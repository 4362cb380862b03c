"""Expected calls and tokens of ingestion by a model: facts, decisions on them, and a graph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsys.core.tokens import count_tokens
from memsys.core.turns import line
from memsys.core.types import Conversation, Memory, Usage
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact import MOST, extraction_schema
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.facts.operations import TOOLS
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.memory.turns import Turns
from memsys.llm.prompt import Prompt, load_prompt

_FACTS_A_TURN = 0.43  # LoCoMo's own observations: 2,541 of 5,882 turns
_FACT = 80  # output tokens of a fact, as JSON
_EMPTY = 10  # output tokens of an empty list
_DECISION = 40  # output tokens of an operation and its reason
_SUMMARY = 200  # tokens of 150 words
_RELATIONS = 60  # output tokens of a reply on the graph
_LISTED = 150  # tokens of the entities or relations in such a call's prompt
_NUMBER = 4  # tokens around a message: its number and the end of its line
_IMAGE, _SENTENCE = 2_833, 30  # input tokens of an image at most, output tokens of its description
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


def stand_ins(conversation: Conversation) -> list[Memory]:
    """Return memories that replace the facts that a model would write: the data set's observations,
    or, if it has none, as many turns as LoCoMo has observations.
    """
    if any(session.observations for session in conversation.sessions):
        facts = Observations("facts")
        return [one for session in conversation.sessions for one in facts.build(session)]
    turns = [one for session in conversation.sessions for one in Turns("turns").build(session)]
    return turns[: max(round(_FACTS_A_TURN * len(turns)), 1)]


def fact_calls(
    conversations: Sequence[Conversation], limit: int, facts: Mapping[str, Any]
) -> Iterator[Calls]:
    """Yield the calls of extraction, summaries and images.

    `limit`: output tokens of a reply; `facts`: the settings. Raises InputError on unusable settings
    or prompts.
    """
    settings = ExtractSettings(**facts)
    prompts = settings.prompts
    frame, calls, read, most_read = _size(prompts["facts"]), 0, 0, 0
    for conversation in conversations:
        said: list[int] = []
        for number, session in enumerate(conversation.sessions):
            summarised = number > 0 and "summary" in prompts
            for turns in _exchanges(session.turns, settings.exchange):
                sizes = [count_tokens(line(turn)) + _NUMBER for turn in turns]
                recent = said[max(len(said) - settings.recent, 0) :]
                shape = count_tokens(
                    json.dumps(
                        extraction_schema(len(turns), len(turns) + len(recent), settings.most)
                    )
                )
                shown = frame + shape + sum(sizes) + sum(recent)
                read += shown + _SUMMARY * summarised
                most_read += shown + limit * summarised
                calls += 1
                said += sizes
    expected = sum(len(stand_ins(conversation)) for conversation in conversations)
    yield _calls(calls, read, _FACT * expected + _EMPTY * calls, calls, most_read, limit)
    sessions = [session for conversation in conversations for session in conversation.sessions]
    if "summary" in prompts:
        text = sum(count_tokens(line(turn)) for session in sessions for turn in session.turns)
        read = len(sessions) * _size(prompts["summary"]) + text
        about, most = read + len(sessions) * _SUMMARY, read + len(sessions) * limit
        yield _calls(len(sessions), about, len(sessions) * _SUMMARY, len(sessions), most, limit)
    if "image" in prompts:
        seen = [t for session in sessions for t in session.turns if t.image is not None]
        read = sum(_size(prompts["image"]) + _IMAGE + count_tokens(line(turn)) for turn in seen)
        yield _calls(len(seen), read, len(seen) * _SENTENCE, len(seen), read, limit)


def decision_calls(
    conversations: Sequence[Conversation],
    limit: int,
    facts: Mapping[str, Any],
    update: Mapping[str, Any],
) -> Calls:
    """Return one decision for each fact, except a speaker's first. The upper bound assumes that
    every reply is as long as `limit` and contains three facts a message. Raises InputError as
    fact_calls.
    """
    exchange, settings = ExtractSettings(**facts).exchange, UpdateSettings(**update)
    tools = json.dumps([[tool.name, tool.description, tool.parameters] for tool in TOOLS])
    frame = _size(settings.loaded) + count_tokens(tools)
    calls = read = 0
    for conversation in conversations:
        stored: Counter[str] = Counter()
        facts_of = stand_ins(conversation)
        each = sum(count_tokens(fact.content) + _NUMBER for fact in facts_of) / len(facts_of)
        for fact in facts_of:
            shown = min(stored[fact.speaker], settings.similar)
            if shown:
                calls += 1
                read += round(frame + (shown + 1) * each)
            stored[fact.speaker] += 1
    turns = sum(len(s.turns) for conversation in conversations for s in conversation.sessions)
    longest = limit // (MOST * exchange) + 1
    most_read = MOST * turns * (frame + (settings.similar + 1) * longest)
    return _calls(calls, read, calls * _DECISION, MOST * turns, most_read, limit)


def graph_calls(
    conversations: Sequence[Conversation],
    limit: int,
    graph: Mapping[str, Any],
    *,
    same_reply: bool,
) -> Calls:
    """Return the calls of a graph of relations besides the facts, at most as many as an exchange
    can cause: one, if entities and relations are in the `same_reply` as the facts. Raises
    InputError on an unusable prompt.
    """
    names = (graph["entities"], graph["relations"])
    names = (graph["conflicts"], *((_SAME_REPLY,) if same_reply else names))
    frame = sum(_size(load_prompt(name, [])) for name in names)
    sessions = [session for conversation in conversations for session in conversation.sessions]
    exchanges = sum(len(list(_exchanges(s.turns, graph["exchange"]))) for s in sessions)
    said = sum(count_tokens(line(turn)) + _NUMBER for s in sessions for turn in s.turns)
    each = 1 if same_reply else _GRAPH_CALLS
    calls, fixed = each * exchanges, exchanges * frame + each * said
    read, most_read = fixed + calls * _LISTED, fixed + calls * limit
    written = _GRAPH_CALLS * exchanges * _RELATIONS  # in which replies does not matter
    return _calls(calls, read, written, calls, most_read, limit)


def entity_calls(questions: Sequence[str], limit: int, graph: Mapping[str, Any]) -> Calls:
    """Return one call for each question, which names its entities. Raises the same errors as
    graph_calls.
    """
    frame = _size(load_prompt(graph["entities"], ["messages"]))
    read = sum(frame + count_tokens(question) + _NUMBER for question in questions)
    asked = len(questions)
    return _calls(asked, read, asked * _RELATIONS, asked, read, limit)


def library_calls(
    conversations: Sequence[Conversation], questions: Sequence[str], name: str, exchange: int
) -> tuple[Calls, Calls]:
    """Return the calls of the library `name`, one of LIBRARIES, at ingestion and for questions.

    They are those measured on small stores, which grow with the store: a lower bound.
    """
    calls, read, asked = LIBRARIES[name]
    sessions = [session for conversation in conversations for session in conversation.sessions]
    exchanges = sum(len(list(_exchanges(session.turns, exchange))) for session in sessions)
    facts = sum(len(stand_ins(conversation)) for conversation in conversations)
    replies = calls * exchanges
    written = _FACT * facts + (_RELATIONS if calls > 1 else _EMPTY) * replies
    queries = asked * len(questions)
    shown = queries * (read // calls) + asked * sum(map(count_tokens, questions))
    return (
        Calls(replies, Usage(0, exchanges * read, written), None),
        Calls(queries, Usage(0, shown, queries * _RELATIONS), None),
    )


def _calls(
    calls: int, read: int, written: int, most_calls: int, most_read: int, limit: int
) -> Calls:
    return Calls(calls, Usage(0, read, written), Usage(0, most_read, most_calls * limit))


def _size(prompt: Prompt) -> int:
    return count_tokens(prompt.text)


def _exchanges(turns: Sequence[Any], step: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(turns), step):
        yield turns[start : start + step]
