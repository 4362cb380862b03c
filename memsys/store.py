"""The memories of one conversation and their indexes, shared by all strategies over a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from memsys.context.writers import ContextWriter
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import MemoryGraph, build_graph
from memsys.graph.csr import build_csr
from memsys.graph.score import GraphStatistics, graph_statistics
from memsys.graph.settings import GraphSettings
from memsys.index.lexical import LexicalIndex, SparseLexicalIndex
from memsys.index.rank import Dense, IndexSettings, Ranking, Scores, Start, convex, min_max
from memsys.index.vector import LargeVectors, Nearest, VectorIndex
from memsys.llm.base import LLM
from memsys.memory.base import MemoryBuilder
from memsys.stores.size import lines, singles, together
from memsys.text.tokens import count_tokens
from memsys.types import Memory, Vectors


@dataclass(frozen=True, slots=True)
class Parts:
    """The components that every strategy of a run shares, so that only the strategies differ."""

    memory: MemoryBuilder
    embedder: CachedEmbedder
    context: ContextWriter
    index: IndexSettings
    graph: GraphSettings
    llm: LLM | None = None  # most strategies do not ask a model


class Store:
    """Memories in order, with indexes that are built on first use.

    Adding memories drops the indexes: the next query (the warm-up of a run) builds them again.
    """

    def __init__(self, parts: Parts) -> None:
        self.memories: list[Memory] = []
        self._parts = parts
        self._derived = _Derived(parts, self.memories)

    def add(self, memories: Sequence[Memory]) -> None:
        """Append `memories`, oldest first."""
        self.memories.extend(memories)
        self._derived = _Derived(self._parts, self.memories, self._derived.vectors)

    def similarity(self, query: str) -> Scores:
        """Return the cosine of the query and every memory, shape (n,)."""
        return self._derived.by_vector.similarities(self._parts.embedder.query(query))

    def bm25(self, query: str) -> Scores:
        """Return the BM25 score of every memory for the query, shape (n,)."""
        return self._derived.by_word.scores(query)

    def relevance(self, query: str, start: Start, similarity: Scores | None = None) -> Scores:
        """Return the relevance of every memory, shape (n,): cosine, or BM25 or hybrid in 0..1.

        `similarity`: the cosines, if the caller has them; avoids embedding the query twice.
        """
        if start == "lexical":
            return min_max(self.bm25(query))
        cosines = self.similarity(query) if similarity is None else similarity
        if start == "vector":
            return cosines
        return convex(cosines, self.bm25(query), self._parts.index.alpha)

    def ranking(self, query: str, start: Start, cosines: Ranking | None = None) -> Ranking:
        """Return the ranking by `relevance`; over a large index, only what is read is scored.

        `cosines`: the vector ranking, if the caller has it; avoids embedding the query twice.
        """
        if start == "vector":
            if cosines is not None:
                return cosines
            index = self._derived.by_vector
            if isinstance(index, LargeVectors):
                return Nearest(index, self._parts.embedder.query(query))
        if start == "hybrid" and isinstance(cosines, Dense):
            return Dense(self.relevance(query, start, cosines.scores))
        return Dense(self.relevance(query, start))

    @property
    def rows(self) -> Mapping[str, int]:
        """Row in `memories` of each memory id."""
        return self._derived.rows

    @property
    def statistics(self) -> list[GraphStatistics]:
        """Graph statistics of each memory, in order; independent of the query."""
        return self._derived.statistics

    def size(self, *, graph: bool) -> dict[str, int]:
        """Return the size by unit.

        `memories`; their o200k `tokens`; `bytes` (memsys/stores/size.py) of the memories, of the
        vectors embedded so far, and of the graph if it is built; its `nodes` and `edges`. With
        `graph`, the graph counts even if no query has needed it yet.
        """
        memories = self.memories
        sizes = {
            "memories": len(memories),
            "tokens": sum(count_tokens(memory.content) for memory in memories),
            "bytes": lines(memories) + self.bytes_beside,
        }
        if not memories:
            return sizes | ({"nodes": 0, "edges": 0} if graph else {})
        built = self._derived.graph_if_built
        if built is None and graph:
            # Not stored: asking for the size must not make a later query faster.
            built = self._derived.new_graph()
        return together(sizes, built.store.size()) if built else sizes

    @property
    def bytes_beside(self) -> int:
        """Bytes of the vectors embedded so far; see memsys/stores/size.py."""
        return self._derived.vectors.bytes

    @property
    def graph(self) -> MemoryGraph:
        """The graph over all memories so far."""
        return self._derived.graph


@dataclass(slots=True)
class _VectorRows:
    """Vectors of the memories so far, so that a new session embeds only its own memories.

    They are rows, or are stored only in the index of a large store.
    """

    rows: list[Vectors] = field(default_factory=list)
    large: LargeVectors | None = None

    def __len__(self) -> int:
        return len(self.large) if self.large is not None else len(self.rows)

    @property
    def bytes(self) -> int:
        """Bytes of the vectors, counted once although an exact index copies them."""
        return singles(self.rows) if self.large is None else self.large.bytes


class _Derived:
    """Everything computed from the memories, each part at most once."""

    def __init__(
        self, parts: Parts, memories: list[Memory], vectors: _VectorRows | None = None
    ) -> None:
        self._parts, self._memories = parts, memories
        self.vectors = vectors or _VectorRows()

    @cached_property
    def by_vector(self) -> VectorIndex | LargeVectors:
        so_far, kind = self.vectors, self._parts.index.vectors
        new = [memory.content for memory in self._memories[len(so_far) :]]
        rows = self._parts.embedder.documents(new) if new else None
        if kind == "exact":
            if rows is not None:
                so_far.rows.extend(rows)
            return VectorIndex(np.stack(so_far.rows))
        if rows is not None:
            if so_far.large is None:
                settings = self._parts.index
                expected = max(settings.expected, len(new))
                so_far.large = LargeVectors(kind, rows.shape[1], expected, settings.searched)
            so_far.large.add(rows)
        assert so_far.large is not None  # noqa: S101 - a store that is queried is not empty
        return so_far.large

    @cached_property
    def by_word(self) -> LexicalIndex | SparseLexicalIndex:
        settings = self._parts.index
        texts = [memory.index_text for memory in self._memories]
        kind = LexicalIndex if settings.lexical == "rank_bm25" else SparseLexicalIndex
        return kind(texts, settings.k1, settings.b)

    @cached_property
    def rows(self) -> dict[str, int]:
        return {memory.id: row for row, memory in enumerate(self._memories)}

    @cached_property
    def graph(self) -> MemoryGraph:
        return self.new_graph()

    def new_graph(self) -> MemoryGraph:
        settings = self._parts.graph
        if settings.store == "csr":
            return build_csr(self._memories, self.rows, settings)
        return build_graph(self._memories, settings)

    @property
    def graph_if_built(self) -> MemoryGraph | None:
        return self.graph if "graph" in self.__dict__ else None

    @cached_property
    def statistics(self) -> list[GraphStatistics]:
        return graph_statistics(self.graph, self._memories)
