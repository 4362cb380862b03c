"""A random walk over the graph by rules: from memory to entity to memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsys.graph.csr import Csr, CsrStore


class PageRank:
    """Walks from memory to entity to memory, each step in proportion to the mention's weight.

    Personalised PageRank (Haveliwala, 2002), as HippoRAG (Gutierrez et al., 2024, arXiv 2405.14831)
    uses it to find passages: the walk restarts at the memories found for the query.
    """

    def __init__(self, store: CsrStore) -> None:
        from scipy import sparse  # noqa: PLC0415 - takes a third of a second

        def matrix(of: Csr, columns: int) -> Any:
            """Return the matrix with rows that sum to 1, or to 0 if empty."""
            rows = len(of.starts) - 1
            sums = np.bincount(
                np.repeat(np.arange(rows), np.diff(of.starts)), weights=of.weights, minlength=rows
            )
            weights = of.weights / np.repeat(np.where(sums == 0, 1, sums), np.diff(of.starts))
            return sparse.csr_matrix((weights, of.columns, of.starts), shape=(rows, columns))

        memories, entities = len(store.mentions.starts) - 1, len(store.mentioned.starts) - 1
        # Transposed once: a step sums what flows into a node.
        self._to_entities = matrix(store.mentions, entities).T.tocsr()
        self._to_memories = matrix(store.mentioned, memories).T.tocsr()
        self._size = memories

    def size(self) -> dict[str, int]:
        """Return the size of the mentions, the edges of the walk; see GraphStore.size."""
        both = self._to_entities, self._to_memories
        linked = int(np.count_nonzero(np.diff(self._to_memories.indptr)))
        return {
            "nodes": linked + self._to_entities.shape[0],
            "edges": int(self._to_entities.nnz),
            "bytes": sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in both),
        }

    def scores(
        self, restart: Mapping[int, float], damping: float, steps: int
    ) -> NDArray[np.float64]:
        """Return the probability of the walk at each memory, shape (n,). x <- (1 - damping) r +
        damping x P, repeated `steps` times from x = r. `restart`: rows and weights, normalised to
        r. The share of a memory without mentions is lost in a step.
        """
        start = np.zeros(self._size)
        start[list(restart)] = list(restart.values())
        start /= max(start.sum(), 1e-12)
        share = start
        for _ in range(steps):
            share = (1 - damping) * start + damping * (
                self._to_memories @ (self._to_entities @ share)
            )
        return np.asarray(share, dtype=np.float64)
