"""One ranking for every conversation: words, vectors, tokens and the graph, weighed together."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from memsys.core.declared import Count, Range, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query
from memsys.graph.build import GraphSettings
from memsys.index.rank import Scores, min_max, top
from memsys.index.signals import standardised
from memsys.index.weights import load_auto_weights, shares, weighted
from memsys.stores.size import together
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy


class Auto(Strategy):
    """Top k by the weighted sum of the signals of fusion, of single vectors and tokens, and of a
    walk over the graph that rules make.

    The weights were fitted on several kinds of data at once by `python -m eval.regress.fit_auto`;
    which set of them counts follows from the embedder, the language and the question.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        seeds: Count,
        pool: Count,
        damping: Annotated[float, Range(0, 0.999)],
        steps: Annotated[int, Range(1, 10_000)],
    ) -> None:
        """`seeds`: best memories by fusion, from which the walk starts; `damping`, `steps`: see
        PageRank. `pool`: best memories by fusion and walk whose tokens are compared. Raises
        InputError if the graph is none that rules make.
        """
        check_values(Auto, locals(), "strategy")
        super().__init__(parts, k, budget)
        if not isinstance(parts.graph, GraphSettings):
            raise InputError(
                "strategy=auto: walks a graph that rules make; use graph=rules or dialogue"
            )
        self._seeds, self._pool, self._damping, self._steps = seeds, pool, damping, steps

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the weighted sum; the trace says how much each group of signals counts."""
        signals = self.signals(query)
        weights = load_auto_weights().of(signals, query.text)
        scores = weighted(weights, signals)
        best = top(scores, self.k)
        counts = shares(weights, signals, best)
        direct = top(scores - weights.get("walk", 0.0) * signals["walk"], self.k)
        walked = len(set(best) - set(direct))
        listed = ", ".join(f"{name} {share:g}" for name, share in counts.items())
        trace = {
            "shares": counts,
            "walked": walked,
            "decision": f"the walk brought {walked} of {len(best)} memories; shares: {listed}",
        }
        return self.best(scores), trace

    def signals(self, query: Query) -> dict[str, Scores]:
        """Return the signals of every memory by name, each of shape (n,).

        They are those of Signals and three more. walk: ln(1 + n p), for the probability p of a
        memory in a walk that restarts at the best memories by fusion; in a walk that is spread
        evenly, n p is 1. cosine: of question and memory, in standard deviations above the store's
        mean; absent where the embedder does not know the language. max_sim: see
        TokenIndex.max_sim, in standard deviations above the mean of the pool; elsewhere the pool's
        least; absent also where the embedder has no token vectors.
        """
        store = self.store
        cosines = store.similarity(query.text) if store.understood else None
        signals = store.signals.of(query.text, cosines)
        fused = min_max(store.fused(query.text, signals))
        rows = store.rows
        restart = {rows[seed.memory.id]: seed.score for seed in self.best(fused, self._seeds)}
        walk = store.walk.scores(restart, self._damping, self._steps)
        signals["walk"] = np.log1p(len(walk) * walk)
        if cosines is not None:
            signals["cosine"] = standardised(cosines)
            if self.parts.embedder.has_tokens:
                pool = top(fused + min_max(signals["walk"]), self._pool)
                near = standardised(store.max_sim(query.text, pool))
                signals["max_sim"] = np.full(len(fused), near.min())
                signals["max_sim"][pool] = near
        return signals

    def size(self) -> Mapping[str, int]:
        """Return the size of the store with the nodes and edges of the walk."""
        graph = self.store.walk.size() if self.store.memories else {"nodes": 0, "edges": 0}
        return together(super().size(), graph)
