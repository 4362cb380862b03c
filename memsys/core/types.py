"""Immutable records that pass between the parts of a memory system.

Data flows one way: Conversation -> ingest -> Memory -> retrieve -> Retrieval. A strategy is given a
Query and never a question, so the gold answer cannot leak into retrieval. Every time is
conversation time (naive, as written in the data), never the wall clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # unit rows, shape (n, d), or one vector, shape (d,)
Origin = Literal["direct", "expanded"]
UNDATED = datetime.min  # time of documents that have none; contexts leave it out


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, or a document, which has no `speaker` ("").

    `id` is the data set's own dialogue id, unique within its conversation. `time`: when it was
    said; None for the start of its session, where the data set has no other.
    """

    id: str
    speaker: str
    text: str
    caption: str | None = None  # of the image shared with the turn
    image: str | None = None  # URL of that image; used only if a setting asks for it
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact about one speaker that came with the data set, and the ids of its evidence turns."""

    speaker: str
    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of one session in order, and its start, the time of turns without one of their own.
    `owner`: its conversation, where one store has the sessions of several. `forgets`: ids of turns
    until then that have to be deleted once the session is ingested.
    """

    id: str
    time: datetime
    turns: tuple[Turn, ...]
    observations: tuple[Observation, ...] = ()
    owner: str = ""
    forgets: tuple[str, ...] = ()

    def without(self, turns: Collection[str]) -> Session:
        """Return the session without these turns and without the observations that rest on one of
        them; the session itself if it has none of them.
        """
        left = tuple(turn for turn in self.turns if turn.id not in turns)
        facts = tuple(fact for fact in self.observations if not set(fact.turns).intersection(turns))
        if (len(left), len(facts)) == (len(self.turns), len(self.observations)):
            return self
        return replace(self, turns=left, observations=facts)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Sessions in order of their number. `id` is unique within a data set."""

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """One stored unit of memory.

    `content` is the text that a reader sees and that is embedded. `index_text` is the text that
    lexical search matches; it may contain more (the turn before), so that a reply is found by the
    words of the turn it answers. `turns` are the ids of the turns whose words appear in `content`.
    `title`: its topic in a few words, "" if it has none. `time`: when it was said; `session`: the
    start of its session, None where `time` is that. `event`: the date of the
    event it states, in ISO 8601 as precise as it is known (a year, a month, a day or a span of
    days), None if it is not.
    """

    id: str
    content: str
    index_text: str
    time: datetime
    speaker: str
    turns: tuple[str, ...]
    importance: float = 0.5  # 0 to 1
    title: str = ""
    session: datetime | None = None
    event: str | None = None

    @property
    def session_time(self) -> datetime:
        """Start of its session."""
        return self.session or self.time


@dataclass(frozen=True, slots=True)
class Query:
    """The part of a question that a strategy may see: id, text, conversation and time asked. Over
    a store of several conversations, `conversation` is the owner that asks.
    """

    id: str
    text: str
    conversation: str
    time: datetime


@dataclass(slots=True, unsafe_hash=True)
class Candidate:
    """A retrieved memory, its score (higher is better) and whether a graph expansion added it.
    `beside`: it is a relation of entities, shown beside the k memories and in no ranking. It is
    not to be changed either: `frozen` would take four times as long, a hundred times a question.
    """

    memory: Memory
    score: float
    origin: Origin = "direct"
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The candidates that fit the budget, and their text for the reader.

    `context_tokens` counts `context` in o200k tokens. `trace` describes the strategy's decision
    (gate, expansion) in plain JSON values. `ranking`: the ranking that the candidates are the head
    of, best first, to the depth that is recorded; None where the strategy only selects.
    `ranked_all`: whether the ranking has every memory that the query may see.
    """

    candidates: tuple[Candidate, ...]
    context: str
    context_tokens: int
    trace: Mapping[str, Any] = field(default_factory=dict)
    ranking: tuple[Candidate, ...] | None = None
    ranked_all: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Number of calls, and their tokens as the endpoint reported them."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
