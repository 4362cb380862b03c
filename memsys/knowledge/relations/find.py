"""Search of relations by a question's entities, and by similarity of question and triple."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from memsys.core.declared import Cosine, Count, check_fields
from memsys.core.terms import STOPWORDS, cjk_terms, is_cjk, words
from memsys.core.types import Candidate, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.index.lexical import LexicalIndex
from memsys.index.rank import IndexSettings, top
from memsys.knowledge.relations.extract import RelationExtractor
from memsys.knowledge.relations.relation_graph import RelationGraph
from memsys.knowledge.relations.triples import id_of
from memsys.stores.relations import Relation

By = Literal["entity", "triple", "both"]
QueryEntities = Literal["llm", "rule"]


@dataclass(frozen=True, kw_only=True)
class RelationSettings:
    """Settings of the search. `by`: relations are found by the question's entities, by the
    similarity of question and triple, or both. `query_entities`: the question's entities are named
    by a model, or are its content words. `limit`: most relations; `similarity`: least cosine of
    question and triple. `hops`: path length from the question's entities.
    """

    by: By
    query_entities: QueryEntities
    limit: Count
    similarity: Cosine
    hops: Count = 1

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        check_fields(self, "strategy.relations")


class RelationFinder:
    """Finds relations as candidates of origin `expanded`, scored by the cosine of question and
    triple: the scale of the memories with which they share the budget.
    """

    def __init__(
        self,
        graph: RelationGraph,
        extractor: RelationExtractor,
        embedder: CachedEmbedder,
        index: IndexSettings,
        settings: RelationSettings,
    ) -> None:
        self.graph, self._extractor, self._embedder = graph, extractor, embedder
        self._index, self._settings = index, settings
        self._snapshot: _Snapshot | None = None

    def invalidate(self) -> None:
        """Discard the values computed from the graph; call it before the graph changes."""
        self._snapshot = None

    def find(self, question: str) -> tuple[list[Candidate], dict[str, Any]]:
        """Return the best `limit` relations, best first, and a trace of plain JSON values.

        If both searches are set, their results are taken in turn. Raises LLMError if a model has to
        name the question's entities and gives no usable reply.
        """
        snapshot = self._snapshot = self._snapshot or _Snapshot(self.graph, self._embedder)
        if not snapshot.relations:
            return [], {}
        cosines = snapshot.vectors @ self._embedder.query(question)
        row = {relation.key: n for n, relation in enumerate(snapshot.relations)}
        names, by_entity = [], []
        if self._settings.by != "triple":
            by_model = self._settings.query_entities == "llm"
            question_names = self._extractor.question_entities if by_model else content_words
            mine = self._extractor.self_names(question)
            names = list(dict.fromkeys([*question_names(question), *mine]))
            by_entity = [row[relation.key] for relation in self._by_entity(question, names)]
        by_triple = []
        if self._settings.by != "entity":
            close = top(cosines.astype(np.float64), self._settings.limit)
            by_triple = [n for n in close if cosines[n] >= self._settings.similarity]
        pairs = zip_longest(by_entity, by_triple)
        taken = list(dict.fromkeys(n for pair in pairs for n in pair if n is not None))
        best = sorted(taken[: self._settings.limit], key=lambda n: -cosines[n])
        ways = {"entity": set(by_entity), "triple": set(by_triple)}
        trace = {
            "entities": names,
            "found": [
                {
                    "relation": id_of(snapshot.relations[n].key),
                    "by": [way for way, rows in ways.items() if n in rows],
                    "cosine": round(float(cosines[n]), 6),
                }
                for n in best
            ],
        }
        memories = snapshot.memories
        return [Candidate(memories[n], float(cosines[n]), "expanded", True) for n in best], trace

    def _by_entity(self, question: str, names: Sequence[str]) -> list[Relation]:
        """Return the relations around `names`, ranked by BM25 against the question as in mem0ai
        (mem0/memory/graph_memory.py, `search`); ties by nearness to the names.
        """
        near = [relation for relation, _ in self.graph.around(names, self._settings.hops)]
        if not near:
            return []
        sentences = [related.sentence for related in self.graph.related(near)]
        index = LexicalIndex(sentences, self._index.k1, self._index.b)
        return [near[n] for n in top(index.scores(question), self._settings.limit)]


class _Snapshot:
    """All relations of a graph, and the vectors of their sentences, shape (n, d)."""

    def __init__(self, graph: RelationGraph, embedder: CachedEmbedder) -> None:
        self.relations = graph.relations()
        self.memories = [related.as_memory() for related in graph.related(self.relations)]
        texts = [memory.index_text for memory in self.memories]
        self.vectors: Vectors = (
            embedder.documents(texts) if texts else np.zeros((0, 1), dtype=np.float32)
        )


def content_words(question: str) -> Iterator[str]:
    """Yield possible entity names without a model: runs of content words, and each word of them
    (Chinese: bigrams).
    """
    run: list[str] = []
    for word in [*words(question), ""]:
        if is_cjk(word):
            yield from cjk_terms(word)
        elif word and word not in STOPWORDS:
            bare = word.removesuffix("'s")
            run.append(bare)
            yield bare
            continue
        if len(run) > 1:
            yield " ".join(run)
        run = []
