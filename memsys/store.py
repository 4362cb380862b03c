"""What all retrieving strategies share: the memories of one conversation and their indexes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from memsys.context.base import ContextWriter
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import MemoryGraph, build_graph
from memsys.graph.csr import build_csr
from memsys.graph.score import Standing, standing
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

    def ranking(self, query: str, start: Start, cosines: Ranking | None = None) -> Ranking:
        """What `relevance` tells, scored as far as it is asked for where the store is large.

        `cosines` spares a second embedding where the caller has the vector ranking already.
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
        """Where in `memories` each id is."""
        return self._derived.rows

    @property
    def standing(self) -> list[Standing]:
        """What the graph says of each memory whatever the query, n of them."""
        return self._derived.standing

    def size(self, *, graph: bool) -> dict[str, int]:
        """What is held, by unit: `memories`, their o200k `tokens`, `bytes` (memsys/stores/size.py)
        of the memories, of the vectors that queries have asked for so far, and of the graph, with
        its `nodes` and `edges`, where there is one; `graph`: there is, if only for later queries.
        """
        memories = self.memories
        held = {
            "memories": len(memories),
            "tokens": sum(count_tokens(memory.content) for memory in memories),
            "bytes": lines(memories) + self.bytes_beside,
        }
        if not memories:
            return held | ({"nodes": 0, "edges": 0} if graph else {})
        found = self._derived.graph_if_built
        if found is None and graph:
            # Not kept: a later query is to take as long as if nobody had asked for the size.
            found = self._derived.new_graph()
        return together(held, found.store.size()) if found else held

    @property
    def bytes_beside(self) -> int:
        """Of the vectors that are held so far; see memsys/stores/size.py."""
        return self._derived.vectors.bytes

    @property
    def graph(self) -> MemoryGraph:
        """The graph over all memories so far."""
        return self._derived.graph


@dataclass(slots=True)
class _VectorRows:
    """Vectors of the memories so far, so that a new session embeds only its own: as they came, or
    in the index of a large store, which holds the only copy.
    """

    rows: list[Vectors] = field(default_factory=list)
    large: LargeVectors | None = None

    def __len__(self) -> int:
        return len(self.large) if self.large is not None else len(self.rows)

    @property
    def bytes(self) -> int:
        """Counted once, though an exact index copies the rows."""
        return singles(self.rows) if self.large is None else self.large.bytes


class _Derived:
    """Everything that is computed from the memories, each part once."""

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
        assert so_far.large is not None  # noqa: S101 - a store that is asked holds something
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
    def standing(self) -> list[Standing]:
        return standing(self.graph, self._memories)
