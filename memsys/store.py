"""What all retrieving strategies share: the memories of one conversation and their indexes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from memsys.context.base import ContextWriter
from memsys.embed.base import Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import MemoryGraph, build_graph
from memsys.graph.score import Standing, standing
from memsys.graph.settings import GraphSettings
from memsys.index.lexical import LexicalIndex
from memsys.index.rank import IndexSettings, Scores, Start, convex, min_max
from memsys.index.vector import VectorIndex
from memsys.llm.base import LLM
from memsys.memory.base import MemoryBuilder
from memsys.types import Memory


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run gives every strategy alike, so that only the strategies differ."""

    memory: MemoryBuilder
    embedder: CachedEmbedder
    context: ContextWriter
    index: IndexSettings
    graph: GraphSettings
    llm: LLM | None = None  # for strategies that ask a model; most do not


class Store:
    """Memories in order, with indexes that are built when first asked for.

    Adding a session drops the derived indexes: the next query (a run's warm-up) builds them anew.
    """

    def __init__(self, parts: Parts) -> None:
        self.memories: list[Memory] = []
        self._parts = parts
        self._derived = _Derived(parts, self.memories)

    def add(self, memories: Sequence[Memory]) -> None:
        """Remember `memories`, oldest first."""
        self.memories.extend(memories)
        self._derived = _Derived(self._parts, self.memories, self._derived.vectors)

    def similarity(self, query: str) -> Scores:
        """Cosine of the query and every memory, shape (n,)."""
        return self._derived.by_vector.similarities(self._parts.embedder.query(query))

    def bm25(self, query: str) -> Scores:
        """BM25 of the query and every memory, shape (n,)."""
        return self._derived.by_word.scores(query)

    def relevance(self, query: str, start: Start, similarity: Scores | None = None) -> Scores:
        """Relevance of every memory, shape (n,): cosines, or BM25 or the hybrid in 0..1.

        `similarity` spares a second embedding where the caller has the cosines already.
        """
        if start == "lexical":
            return min_max(self.bm25(query))
        cosines = self.similarity(query) if similarity is None else similarity
        if start == "vector":
            return cosines
        return convex(cosines, self.bm25(query), self._parts.index.alpha)

    @property
    def rows(self) -> Mapping[str, int]:
        """Where in `memories` each id is."""
        return self._derived.rows

    @property
    def standing(self) -> list[Standing]:
        """What the graph says of each memory whatever the query, n of them."""
        return self._derived.standing

    @property
    def graph(self) -> MemoryGraph:
        """The graph over all memories so far."""
        return self._derived.graph


@dataclass(slots=True)
class _VectorRows:
    """Vectors of the memories so far, so that a new session embeds only its own."""

    rows: list[Vectors] = field(default_factory=list)


class _Derived:
    """Everything that is computed from the memories, each part once."""

    def __init__(
        self, parts: Parts, memories: list[Memory], vectors: _VectorRows | None = None
    ) -> None:
        self._parts, self._memories = parts, memories
        self.vectors = vectors or _VectorRows()

    @cached_property
    def by_vector(self) -> VectorIndex:
        rows = self.vectors.rows
        new = [memory.content for memory in self._memories[len(rows) :]]
        if new:
            rows.extend(self._parts.embedder.documents(new))
        return VectorIndex(np.stack(rows))

    @cached_property
    def by_word(self) -> LexicalIndex:
        texts = [memory.index_text for memory in self._memories]
        return LexicalIndex(texts, self._parts.index.k1, self._parts.index.b)

    @cached_property
    def rows(self) -> dict[str, int]:
        return {memory.id: row for row, memory in enumerate(self._memories)}

    @cached_property
    def graph(self) -> MemoryGraph:
        return build_graph(self._memories, self._parts.graph)

    @cached_property
    def standing(self) -> list[Standing]:
        return standing(self.graph, self._memories)
