"""The rule-based graph of a large store, in compressed sparse rows, and a random walk over it.

It is the same graph as that of build.py, with mentions in arrays, in both directions. RELATED_TO
edges, which would far outnumber the memories, are computed when a node is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsys.core.types import Memory
from memsys.graph.build import GraphSettings, Ints, mentions_of, starts_of
from memsys.graph.store import ENTITY, MEMORY, Edge, EdgeKind, MemoryGraph
from memsys.stores.size import lines

Floats = NDArray[np.float32]
_ENTRIES = 200_000  # mentions per block when pairs are counted


class Csr(NamedTuple):
    """A sparse matrix: row r has the `columns[starts[r]:starts[r + 1]]`, with `weights` at the same
    places.
    """

    starts: NDArray[np.int64]
    columns: Ints
    weights: Floats

    def row(self, row: int) -> tuple[Ints, Floats]:
        """Return columns and weights of one row."""
        entries = slice(self.starts[row], self.starts[row + 1])
        return self.columns[entries], self.weights[entries]

    def transposed(self, columns: int) -> Csr:
        """Return the transposed matrix; `columns` is the number of columns."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        return Csr(starts_of(self.columns, columns), rows[order], self.weights[order])


class CsrStore:
    """An immutable GraphStore; see build.py for its weights."""

    def __init__(self, ids: Sequence[str], rows: Mapping[str, int], keys: list[str], by: Csr):
        """`ids` of the memories and the row of each (`rows`), `keys` of the entities; `by`: the
        entities that each memory mentions, its title first, then heaviest first.
        """
        self._ids, self._rows, self._keys = ids, rows, keys
        self._of = {key: column for column, key in enumerate(keys)}
        self.mentions, self.mentioned = by, by.transposed(len(keys))

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """See GraphStore."""
        edges_of = (self._edges(node, mentions_only) for node in nodes)
        return [sorted(edges, key=lambda e: (-e.weight, e.node)) for edges in edges_of]

    def size(self) -> dict[str, int]:
        """See GraphStore. The bytes are those of the entities, one line of JSON each, and of the
        mentions in both directions; RELATED_TO edges are counted but not stored.
        """
        arrays = [array for csr in (self.mentions, self.mentioned) for array in csr]
        return {
            "nodes": int(np.count_nonzero(np.diff(self.mentions.starts))) + len(self._keys),
            "edges": len(self.mentions.columns) + self._pairs(),
            "bytes": lines(self._keys) + sum(array.nbytes for array in arrays),
        }

    def _pairs(self) -> int:
        """Return the number of pairs of entities with a common memory. They are counted by blocks
        of entities: all pairs of a large store do not fit into memory.
        """
        starts, count = self.mentioned.starts, 0
        sizes = np.diff(self.mentions.starts)
        blocks = np.unique(np.searchsorted(starts, np.arange(0, starts[-1], _ENTRIES)))
        for first, last in pairwise([*blocks.tolist(), len(self._keys)]):
            rows = self.mentioned.columns[starts[first] : starts[last]]
            many = sizes[rows]  # entities of the memory of each entry
            ones = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1])).repeat(many)
            begin = self.mentions.starts[rows] - np.cumsum(many) + many
            others = self.mentions.columns[np.arange(len(ones)) + begin.repeat(many)]
            later = others > ones  # each pair once
            count += len(np.unique(ones[later] * len(self._keys) + others[later]))
        return count

    def _edges(self, node: str, mentions_only: bool) -> Iterator[Edge]:
        name = node[len(MEMORY) :]
        if node.startswith(MEMORY) and name in self._rows:
            columns, weights = self.mentions.row(self._rows[name])
            for column, weight in zip(columns.tolist(), weights.tolist(), strict=True):
                yield Edge(ENTITY + self._keys[column], "mentions", weight)
        elif node.startswith(ENTITY) and name in self._of:
            entity = self._of[name]
            rows, weights = self.mentioned.row(entity)
            for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
                yield Edge(MEMORY + self._ids[row], "mentions", weight)
            if not mentions_only:
                yield from self._related_edges(entity, rows)

    def _related_edges(self, entity: int, rows: Ints) -> Iterator[Edge]:
        """Yield the entities in the same memories, weighted by the Jaccard index of mentions."""
        around = [self.mentions.row(row)[0] for row in rows.tolist()]
        columns, together = np.unique(np.concatenate(around), return_counts=True)
        starts = self.mentioned.starts
        jaccard = together / (len(rows) + starts[columns + 1] - starts[columns] - together)
        kind: EdgeKind = "related_to"
        for column, weight in zip(columns.tolist(), jaccard.tolist(), strict=True):
            if column != entity:
                yield Edge(ENTITY + self._keys[column], kind, weight)


class StartNodes(Mapping[str, str]):
    """Mapping from memory id to the node of its title, which is the first of its mentions."""

    def __init__(self, rows: Mapping[str, int], keys: list[str], mentions: Csr) -> None:
        self._rows, self._keys, self._mentions = rows, keys, mentions

    def __getitem__(self, id_: str) -> str:
        """Return the node of a memory's title; KeyError if it has none."""
        columns, _ = self._mentions.row(self._rows[id_])
        if not len(columns):
            raise KeyError(id_)
        return ENTITY + self._keys[int(columns[0])]

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the memories with a title."""
        sizes = np.diff(self._mentions.starts)
        return (id_ for id_, row in self._rows.items() if sizes[row])

    def __len__(self) -> int:
        """Return the number of memories with a title."""
        return int(np.count_nonzero(np.diff(self._mentions.starts)))


def build_csr(
    memories: Sequence[Memory], rows: Mapping[str, int], settings: GraphSettings
) -> MemoryGraph:
    """Return the graph of build_graph, for very many memories. `rows`: see Store.rows."""
    names, starts, columns, weights = mentions_of(memories, settings)
    by = Csr(starts, columns, weights.astype(np.float32))
    ids = [memory.id for memory in memories]
    return MemoryGraph(CsrStore(ids, rows, names, by), StartNodes(rows, names, by))


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
