"""The memories of one conversation and their indexes, shared by all strategies over a store."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from memsys.context.writers import ContextWriter
from memsys.core.terms import covers, language_of
from memsys.core.tokens import count_tokens
from memsys.core.types import Memory, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import GraphSettings, build_graph
from memsys.graph.csr import CsrStore, PageRank, build_csr
from memsys.graph.score import GraphStatistics, graph_statistics
from memsys.graph.store import MemoryGraph, NetworkXStore
from memsys.index.lexical import LexicalIndex, SparseLexicalIndex
from memsys.index.rank import Dense, IndexSettings, Ranking, Scores, Start, convex, min_max
from memsys.index.signals import Signals
from memsys.index.vector import LargeVectors, Nearest, TokenIndex, VectorIndex
from memsys.index.weights import load_weights
from memsys.knowledge.memory.base import MemoryBuilder
from memsys.knowledge.relations.written_graph import WrittenByModel, WrittenGraph
from memsys.llm.base import LLM
from memsys.stores.size import lines, together
from memsys.strategies.shared import Shared

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parts:
    """The components that every strategy of a run shares, so that only the strategies differ.

    `shared`: what earlier runs of the process made, None to share nothing with them.
    """

    memory: MemoryBuilder  # as configured also MemoriesByModel, which each strategy opens
    embedder: CachedEmbedder
    context: ContextWriter
    index: IndexSettings
    # Opened where a strategy uses it; None if no strategy does.
    graph: GraphSettings | WrittenByModel | WrittenGraph | None
    llm: LLM | None = None  # most strategies do not ask a model
    depth: int = 0  # memories of each ranking that are recorded, besides those that are read
    owner_filter: bool = False  # return only memories of the query's conversation
    shared: Shared | None = None


class Store:
    """Memories in order, with indexes that are built on first use, each at most once.

    Adding memories drops the indexes: the next query (the warm-up of a run) builds them again. The
    vectors remain, so that a new session embeds only its memories.
    """

    def __init__(self, parts: Parts) -> None:
        """Raises InputError if the weights of the fusion ranking that `parts` names are wrong."""
        self.memories: list[Memory] = []
        self.owners: list[str] = []  # of each memory: the owner of its session
        self._parts = parts
        fusion = parts.index.fusion
        self._weights = load_weights() if fusion is None else load_weights(Path(fusion).resolve())
        self._vectors: VectorIndex | None = None  # of the memories that are embedded so far

    def add(self, memories: Sequence[Memory], owner: str = "") -> None:
        """Append `memories`, oldest first, of one `owner`."""
        self.memories.extend(memories)
        self.owners.extend([owner] * len(memories))
        self.drop_derived()

    def add_grown(self, memories: Sequence[Memory], owner: str = "") -> int:
        """Add `memories`, of which the first one replaces the last stored one if that has its id;
        return the number of new ones.
        """
        last, count = len(self.memories) - 1, len(memories)
        if last >= 0 and memories and memories[0].id == self.memories[last].id:
            self.replace(last, 1, memories)
            return count - 1
        self.add(memories, owner)
        return count

    def replace(self, first: int, number: int, memories: Sequence[Memory]) -> list[Memory]:
        """Put `memories` in the place of the `number` memories from row `first`, which are of one
        owner; return those of them whose text or turns the new ones do not repeat.

        Vectors of a repeated content remain. An approximate index is built anew, since it cannot
        remove a vector.
        """
        end = first + number
        old, owner = self.memories[first:end], self.owners[first] if number else ""
        self._replace_vectors(first, old, memories)
        self.memories[first:end] = memories
        self.owners[first:end] = [owner] * len(memories)
        self.drop_derived()
        present = {(unit.content, unit.index_text, unit.turns) for unit in memories}
        return [unit for unit in old if (unit.content, unit.index_text, unit.turns) not in present]

    def drop_derived(self) -> None:
        """Drop all cached properties; the next query builds them again."""
        for name, value in vars(Store).items():
            if isinstance(value, cached_property):
                self.__dict__.pop(name, None)

    @cached_property
    def by_vector(self) -> VectorIndex:
        """Index of the vectors of all memories, of which there is at least one; embeds new ones."""
        embedded = 0 if self._vectors is None else len(self._vectors)
        new = [memory.content for memory in self.memories[embedded:]]
        if new or self._vectors is None:
            return self._insert(self._parts.embedder.documents(new))
        return self._vectors

    @cached_property
    def by_word(self) -> LexicalIndex | SparseLexicalIndex:
        """BM25 index of all memories."""
        settings = self._parts.index
        texts = [memory.index_text for memory in self.memories]
        kind = LexicalIndex if settings.lexical == "rank_bm25" else SparseLexicalIndex
        k1, b = settings.k1, settings.b
        return self._share(("words", kind, k1, b), lambda: kind(texts, k1, b))

    @cached_property
    def by_token(self) -> TokenIndex:
        """Index of the token vectors of all memories, of which there is at least one. Raises
        InputError if the embedder has none.
        """
        contents = [memory.content for memory in self.memories]
        return TokenIndex(self._parts.embedder.document_tokens(contents))

    @cached_property
    def signals(self) -> Signals:
        """Signals of all memories for the fusion ranking."""
        k1, b = self._parts.index.k1, self._parts.index.b
        memories, owners, embedder = tuple(self.memories), tuple(self.owners), None
        vectors = None
        if self.understood:
            vectors, embedder = self.by_vector.vectors(), self._parts.embedder.name
        return self._share(
            ("signals", owners, embedder, k1, b), lambda: Signals(memories, owners, vectors, k1, b)
        )

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Row in `memories` of each memory id."""
        return {memory.id: row for row, memory in enumerate(self.memories)}

    @cached_property
    def graph(self) -> MemoryGraph:
        """The graph over all memories."""
        return self._new_graph()

    @cached_property
    def walk(self) -> PageRank:
        """The walk over the graph that rules make of all memories, whatever graph is stored."""
        settings = self._parts.graph
        assert isinstance(settings, GraphSettings)  # noqa: S101 - the strategy checks it

        def make() -> PageRank:
            graph = build_csr(self.memories, self.rows, settings).store
            assert isinstance(graph, CsrStore)  # noqa: S101 - for the type checker
            return PageRank(graph)

        return self._share(("walk", settings), make)

    @cached_property
    def statistics(self) -> list[GraphStatistics]:
        """Graph statistics of each memory, in order; independent of the query."""
        graph, settings = self.graph, self._parts.graph  # the time of the graph is its own
        if isinstance(settings, WrittenGraph):
            return graph_statistics(graph, self.memories)
        return self._share(("statistics", settings), lambda: graph_statistics(graph, self.memories))

    @cached_property
    def language(self) -> str:
        """The ISO 639-1 code of the language of most memories; "und" if they say too little."""
        contents = [memory.content for memory in self.memories]
        return self._share(("language",), lambda: language_of(contents))

    @property
    def understood(self) -> bool:
        """Whether the embedder was trained for the store's language; True if either is unknown."""
        languages = self._parts.embedder.languages
        return languages is None or covers(languages, self.language)

    def similarity(self, query: str) -> Scores:
        """Return the cosine of the query and every memory, shape (n,)."""
        return self.by_vector.similarities(self._parts.embedder.query(query))

    def bm25(self, query: str) -> Scores:
        """Return the BM25 score of every memory for the query, shape (n,)."""
        return self.by_word.scores(query)

    def max_sim(self, query: str, rows: Sequence[int], idf: float = 1) -> Scores:
        """Return MaxSim of the query and the memories of `rows`, shape (len(rows),); see
        TokenIndex. Raises InputError if the embedder has no token vectors.
        """
        return self.by_token.max_sim(self._parts.embedder.query_tokens(query), rows, idf)

    def fused(self, query: str, signals: Mapping[str, Scores] | None = None) -> Scores:
        """Return the score of every memory in the fusion ranking, shape (n,), unbounded. `signals`:
        those of the memories (see Signals), if the caller has them.
        """
        if signals is None:
            signals = self.signals.of(query, self.similarity(query) if self.understood else None)
        return self._weights.score(signals, query, understood=self.understood)

    def relevance(self, query: str, start: Start, similarity: Scores | None = None) -> Scores:
        """Return the relevance of every memory, shape (n,): cosine, or another start in 0..1.
        `similarity`: the cosines, if the caller has them; avoids embedding the query twice.
        """
        if start == "lexical":
            return min_max(self.bm25(query))
        if start == "fusion" and not self.understood:
            return min_max(self.fused(query))
        cosines = self.similarity(query) if similarity is None else similarity
        if start == "fusion":
            return min_max(self.fused(query, self.signals.of(query, cosines)))
        if start == "vector":
            return cosines
        return convex(cosines, self.bm25(query), self._parts.index.alpha)

    def ranking(self, query: str, start: Start, cosines: Ranking | None = None) -> Ranking:
        """Return the ranking by `relevance`; over a large index, only memories that are read are
        scored. `cosines`: the vector ranking, if the caller has it; avoids embedding the query
        twice.
        """
        if start == "vector" and cosines is not None:
            return cosines
        if start == "vector" and isinstance(self.by_vector, LargeVectors):
            vector = self._parts.embedder.query(query)
            return Nearest(self.by_vector, vector, self._parts.depth)
        similarity = cosines.scores if isinstance(cosines, Dense) else None
        return Dense(self.relevance(query, start, similarity), self._parts.depth)

    def size(self, *, graph: bool) -> dict[str, int]:
        """Return the size by unit.

        The units are `memories`; their o200k `tokens`, with those of the entities and relations
        that a model wrote for the graph; `bytes` (memsys/stores/size.py) of the memories, of the
        vectors embedded so far, of the token vectors and of the graph if they are built; the
        graph's `nodes` and `edges`. With `graph`, the graph counts even if no query has needed it
        yet.
        """
        memories = self.memories
        sizes = {
            "memories": len(memories),
            "tokens": sum(count_tokens(memory.content) for memory in memories),
            "bytes": lines(memories) + self.bytes_beside,
        }
        if graph and isinstance(self._parts.graph, WrittenGraph):
            sizes = together(sizes, self._parts.graph.size())
        if not memories:
            return sizes | ({"nodes": 0, "edges": 0} if graph else {})
        built = self.__dict__.get("graph")
        if built is None and graph:
            # Not stored: asking for the size must not make a later query faster.
            built = self._new_graph()
        return together(sizes, built.store.size()) if built else sizes

    @property
    def bytes_beside(self) -> int:
        """Bytes of the vectors embedded so far, and of the token vectors in half precision; see
        memsys/stores/size.py.
        """
        tokens: TokenIndex | None = self.__dict__.get("by_token")
        return sum(index.bytes for index in (self._vectors, tokens) if index is not None)

    def _insert(self, vectors: Vectors) -> VectorIndex:
        """Append the vectors, shape (n, d), of the next n memories; return the index of all."""
        settings = self._parts.index
        if self._vectors is not None:
            self._vectors.add(vectors)
        elif settings.vectors == "exact":
            self._vectors = VectorIndex(vectors)
        else:
            n, dimensions = vectors.shape
            expected = max(settings.expected, n)
            self._vectors = LargeVectors(settings.vectors, dimensions, expected, settings.searched)
            self._vectors.add(vectors)
        return self._vectors

    def _replace_vectors(self, first: int, old: Sequence[Memory], new: Sequence[Memory]) -> None:
        """Do for the vectors what `replace` does; the memories are those before the change."""
        if self._vectors is None or first >= len(self._vectors):
            return  # not embedded yet
        stored = self._vectors.rows()
        vectors = dict(zip((memory.content for memory in old), stored[first:], strict=False))
        missing = [memory.content for memory in new if memory.content not in vectors]
        if missing:
            vectors |= zip(missing, self._parts.embedder.documents(missing), strict=True)
        rows = [vectors[memory.content] for memory in new]
        rows = [*stored[:first], *rows, *stored[first + len(old) :]]
        self._vectors = None
        if rows:
            self._insert(np.stack(rows))

    def _new_graph(self) -> MemoryGraph:
        source = self._parts.graph
        if isinstance(source, WrittenGraph):
            return source.build(self.memories)
        assert isinstance(source, GraphSettings)  # noqa: S101 - a strategy that uses it opens it
        if source.store == "csr":
            return self._share(
                ("graph", source), lambda: build_csr(self.memories, self.rows, source)
            )
        graph = self._share(("graph", source), lambda: build_graph(self.memories, source))
        store = graph.store
        # What another run has looked up would make the same look-ups of this one faster.
        return replace(graph, store=store.unread()) if isinstance(store, NetworkXStore) else graph

    def _share(self, of: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """Return the result of `make`, which depends on the memories and on what `of` names, or
        that of an earlier run.
        """
        shared = self._parts.shared
        if shared is None:
            return make()
        memories = tuple(self.memories)
        return shared.made((of, memories), len(memories), make, self._parts.embedder.meter)
