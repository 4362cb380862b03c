"""Small invented memories, conversations, embedders and a model for the tests of floors 1 and 2."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from memsys.context.writers import ContextWriter, Flat
from memsys.core.terms import terms
from memsys.core.types import (
    Candidate,
    Memory,
    Origin,
    Query,
    Retrieval,
    Session,
    Turn,
    Usage,
    Vectors,
)
from memsys.embed.base import Embedder, TokenVectors, unit_rows
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import GraphSettings
from memsys.index.rank import IndexSettings
from memsys.knowledge.memory.base import MemoryBuilder
from memsys.knowledge.memory.turns import Turns
from memsys.llm.base import Completion, Message
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

NOON = datetime(2024, 3, 2, 12, 0)


def memory(id_: str, content: str, day: int = 2, **more: Any) -> Memory:
    """A memory of noon on `day` March 2024, spoken by Mara unless `more` says otherwise."""
    fields: dict[str, Any] = {
        "index_text": content,
        "time": NOON.replace(day=day),
        "speaker": "Mara",
        "turns": (id_,),
        **more,
    }
    return Memory(id=id_, content=content, **fields)


def candidate(id_: str, content: str, day: int = 2, origin: Origin = "direct") -> Candidate:
    return Candidate(memory(id_, content, day), 1.0, origin)


def session(number: int, day: datetime, *lines: tuple[str, str]) -> Session:
    """Session `number` at `day`; a line is (speaker, text)."""
    turns = tuple(Turn(f"D{number}:{i}", who, text) for i, (who, text) in enumerate(lines, 1))
    return Session(str(number), day, turns)


SESSIONS = (
    session(
        1,
        datetime(2024, 3, 2, 10, 0),
        ("Mara", "I started pottery lessons at the Willow studio."),
        ("Theo", "Pottery sounds calm. My allotment is flooded."),
        ("Mara", "Sorry about the allotment! Did the tomato seedlings survive?"),
        ("Theo", "Only two tomato seedlings did."),
    ),
    session(
        2,
        datetime(2024, 4, 10, 18, 30),
        ("Theo", "The council will drain the field in May."),
        ("Mara", "My first bowl cracked in the kiln."),
        ("Theo", "Kiln accidents happen."),
    ),
    session(
        3,
        datetime(2024, 6, 21, 9, 15),
        ("Mara", "I sold a bowl at the Lantern market."),
        ("Theo", "The council never drained anything."),
        ("Mara", "Shall we meet at the Lantern market?"),
    ),
)
TURN_IDS = [turn.id for one in SESSIONS for turn in one.turns]


def ingest_all(strategy: Strategy) -> Strategy:
    """The same, which has ingested SESSIONS."""
    for one in SESSIONS:
        strategy.ingest(one)
    return strategy


def ids(retrieval: Retrieval) -> list[str]:
    """Of the memories found, best first."""
    return [candidate.memory.id for candidate in retrieval.candidates]


def query(text: str, id_: str = "talk/0", time: datetime = datetime(2024, 7, 1)) -> Query:
    return Query(id_, text, "talk", time)


class BagOfWords(Embedder):
    """Unit counts of hashed terms, the same on every machine. Remembers what it embedded."""

    typical_similarity = 0.5

    def __init__(self, name: str = "bag", dimensions: int = 64) -> None:
        self.name = name
        self._dimensions = dimensions
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        self.batches.append(list(texts))
        rows = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                row[hashlib.sha256(term.encode()).digest()[0] % self._dimensions] += 1
        return unit_rows(rows), Usage(calls=1, input_tokens=len(texts))


class BagOfTokens(BagOfWords):
    """Also one vector per term: its axis, so that equal terms have cosine 1 and others 0."""

    token_length = 64

    def __init__(self) -> None:
        super().__init__("tokens")
        self.token_batches: list[list[str]] = []

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.token_batches.append(list(texts))
        return [self.tokens_of(text) for text in texts]

    def tokens_of(self, text: str) -> TokenVectors:
        ids = [hashlib.sha256(term.encode()).digest()[0] % 64 for term in terms(text)]
        return TokenVectors(np.array(ids, np.int32), np.eye(64, dtype=np.float16)[ids])


class Planned(Embedder):
    """Every query has the cosine to a memory that `cosines` plans for its content."""

    def __init__(self, cosines: Mapping[str, float], typical_similarity: float = 0.5) -> None:
        # Another plan is another model: a cache must not mix them.
        plan = hashlib.sha256(repr(sorted(cosines.items())).encode())
        self.name = f"planned-{plan.hexdigest()[:8]}"
        self._cosines, self.typical_similarity = cosines, typical_similarity

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        cosines = [self._cosines.get(text, 1.0) for text in texts]
        rows = [(cosine, (1 - cosine**2) ** 0.5) for cosine in cosines]
        return np.array(rows, dtype=np.float32), Usage()


MakeParts = Callable[..., Parts]


def make_parts(embedder: CachedEmbedder, **other: Any) -> Parts:
    """Parts with turns as memories, a flat context and the numbers of conf/.

    But no `lead`: a turn is matched by its own words, so that scores can be computed by hand.
    """
    builder: MemoryBuilder = Turns("turns", lead=0)
    context: ContextWriter = Flat("flat")
    fields: dict[str, Any] = {
        "memory": builder,
        "embedder": embedder,
        "context": context,
        "index": IndexSettings(k1=0.9, b=0.4, alpha=0.5),
        "graph": GraphSettings(max_entities=8, max_share=0.1, keyword_weight=0.7, name_weight=1.0),
    }
    return Parts(**{**fields, **other})


class Asked:
    """Replies with the JSON of `reply(text of the request)`, and remembers texts and schemas."""

    name = "asked"

    def __init__(self, reply: Callable[[str], Any]) -> None:
        self._reply = reply
        self.texts: list[str] = []
        self.schemas: list[Mapping[str, Any]] = []

    def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any], **_: Any
    ) -> Completion:
        self.texts.append(messages[0]["content"])
        self.schemas.append(schema)
        return Completion(json.dumps(self._reply(self.texts[-1])), Usage(1), "asked", "stop")
