"""The records that pass between the parts: all frozen, none with behaviour.

Data runs one way: Conversation -> ingest -> Memory -> retrieve -> Retrieval. A strategy is given a
Query and never a question with its gold answer, so the gold cannot leak into retrieval.
Every time is conversation time (naive, as written in the data), never the wall clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # unit rows, shape (n, d), or one vector, shape (d,)
Origin = Literal["direct", "expanded"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `id` is the data set's own dialogue id, unique within its conversation."""

    id: str
    speaker: str
    text: str
    caption: str | None = None  # of an image that was shared with the turn
    image: str | None = None  # its address; shown to nobody unless a setting says so


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact about one speaker, written by the data set's authors, with the turns it rests on."""

    speaker: str
    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """Turns in order, all at the session's start time."""

    id: str
    time: datetime
    turns: tuple[Turn, ...]
    observations: tuple[Observation, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """Sessions in order of their number; ids are unique within a data set."""

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """One unit of remembering.

    `content` is what a reader sees and what is embedded. `index_text` is what is matched word by
    word: it may carry more (the turn before), so that a reply is found by what it replies to.
    `turns` are the ids of the turns whose words stand in `content`.
    """

    id: str
    content: str
    index_text: str
    time: datetime  # of its session
    speaker: str
    turns: tuple[str, ...]
    importance: float = 0.5  # 0 to 1


@dataclass(frozen=True, slots=True)
class Query:
    """What a strategy may know of a question: its id, its words and when it is asked."""

    id: str
    text: str
    conversation: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that was found, its score (higher is better) and how it was found."""

    memory: Memory
    score: float
    origin: Origin = "direct"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What is put before the reader: the candidates that fitted the budget and their text.

    `context_tokens` counts `context` in o200k tokens. `trace` holds what a strategy wants to be
    known of its decision (gate, expansion), as plain JSON values.
    """

    candidates: tuple[Candidate, ...]
    context: str
    context_tokens: int
    trace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint reported them, and calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
