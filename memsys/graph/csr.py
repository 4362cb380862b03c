"""The rule-made graph of a large store, in compressed sparse rows.

The same graph as build.py makes, held in arrays: who mentions what, both ways round. RELATED_TO
edges, which would outnumber the memories many times, are counted when a node is asked for.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsys.graph.build import MemoryGraph
from memsys.graph.entities import EntityKind, NumberedKeys, entities_in, names_of
from memsys.graph.settings import GraphSettings
from memsys.graph.store import ENTITY, MEMORY, Edge, EdgeKind
from memsys.stores.size import lines
from memsys.types import Memory

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
_ENTRIES = 200_000  # mentions whose pairs are counted at a time
_BEYOND = np.iinfo(np.int64).max  # any key's number
_KINDS: tuple[EntityKind, ...] = ("name", "phrase", "keyword")


class Csr(NamedTuple):
    """Row r holds columns `columns[starts[r]:starts[r + 1]]` with `weights` of the same places."""

    starts: NDArray[np.int64]
    columns: Ints
    weights: Floats

    def row(self, row: int) -> tuple[Ints, Floats]:
        """Columns and weights of one row."""
        own = slice(self.starts[row], self.starts[row + 1])
        return self.columns[own], self.weights[own]

    def transposed(self, columns: int) -> Csr:
        """The same entries by column, of which there are so many."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        return Csr(_starts(self.columns, columns), rows[order], self.weights[order])


class CsrStore:
    """A GraphStore that is built once; see build.py for its weights."""

    def __init__(self, ids: Sequence[str], rows: Mapping[str, int], keys: list[str], by: Csr):
        """`ids` of the memories and where each is (`rows`), `keys` of the entities; `by`: the
        entities that each memory mentions, heaviest first.
        """
        self._ids, self._rows, self._keys = ids, rows, keys
        self._of = {key: column for column, key in enumerate(keys)}
        self.mentions, self.mentioned = by, by.transposed(len(keys))

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        """See GraphStore."""
        found = (self._edges(node, mentions_only) for node in nodes)
        return [sorted(edges, key=lambda e: (-e.weight, e.node)) for edges in found]

    def size(self) -> dict[str, int]:
        """See GraphStore. Held are the entities, a line of JSON each, and who mentions what, both
        ways round; RELATED_TO edges are counted, as they are for a query, but not held.
        """
        arrays = [array for csr in (self.mentions, self.mentioned) for array in csr]
        return {
            "nodes": int(np.count_nonzero(np.diff(self.mentions.starts))) + len(self._keys),
            "edges": len(self.mentions.columns) + self._pairs(),
            "bytes": lines(self._keys) + sum(array.nbytes for array in arrays),
        }

    def _pairs(self) -> int:
        """How many pairs of entities some memory mentions, counted by blocks of entities: those of
        all at once would not fit into memory where the store is large.
        """
        starts, found = self.mentioned.starts, 0
        sizes = np.diff(self.mentions.starts)
        blocks = np.unique(np.searchsorted(starts, np.arange(0, starts[-1], _ENTRIES)))
        for first, last in pairwise([*blocks.tolist(), len(self._keys)]):
            rows = self.mentioned.columns[starts[first] : starts[last]]
            many = sizes[rows]  # entities of the memory of each entry
            own = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1])).repeat(many)
            begin = self.mentions.starts[rows] - np.cumsum(many) + many
            others = self.mentions.columns[np.arange(len(own)) + begin.repeat(many)]
            later = others > own  # each pair once
            found += len(np.unique(own[later] * len(self._keys) + others[later]))
        return found

    def _edges(self, node: str, mentions_only: bool) -> Iterator[Edge]:
        name = node[len(MEMORY) :]
        if node.startswith(MEMORY) and name in self._rows:
            columns, weights = self.mentions.row(self._rows[name])
            for column, weight in zip(columns.tolist(), weights.tolist(), strict=True):
                yield Edge(ENTITY + self._keys[column], "mentions", weight)
        elif node.startswith(ENTITY) and name in self._of:
            own = self._of[name]
            rows, weights = self.mentioned.row(own)
            for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
                yield Edge(MEMORY + self._ids[row], "mentions", weight)
            if not mentions_only:
                yield from self._related(own, rows)

    def _related(self, own: int, rows: Ints) -> Iterator[Edge]:
        """Entities that the same memories mention, by the Jaccard index of all their mentions."""
        around = [self.mentions.row(row)[0] for row in rows.tolist()]
        columns, together = np.unique(np.concatenate(around), return_counts=True)
        starts = self.mentioned.starts
        jaccard = together / (len(rows) + starts[columns + 1] - starts[columns] - together)
        kind: EdgeKind = "related_to"
        for column, weight in zip(columns.tolist(), jaccard.tolist(), strict=True):
            if column != own:
                yield Edge(ENTITY + self._keys[column], kind, weight)


class Titles(Mapping[str, str]):
    """Each memory's heaviest entity, without an entry of its own for each memory."""

    def __init__(self, rows: Mapping[str, int], keys: list[str], mentions: Csr) -> None:
        self._rows, self._keys, self._mentions = rows, keys, mentions

    def __getitem__(self, id_: str) -> str:
        """The node of a memory's title; KeyError where it has none."""
        columns, _ = self._mentions.row(self._rows[id_])
        if not len(columns):
            raise KeyError(id_)
        return ENTITY + self._keys[int(columns[0])]

    def __iter__(self) -> Iterator[str]:
        """Ids of the memories that have a title."""
        sizes = np.diff(self._mentions.starts)
        return (id_ for id_, row in self._rows.items() if sizes[row])

    def __len__(self) -> int:
        """How many have one."""
        return int(np.count_nonzero(np.diff(self._mentions.starts)))


def build_csr(
    memories: Sequence[Memory], rows: Mapping[str, int], settings: GraphSettings
) -> MemoryGraph:
    """The graph of build_graph, for hundreds of thousands of memories. `rows`: see Store.rows."""
    keys, starts, numbers, kinds = _found(memories)
    n = len(memories)
    known, frequency = np.unique(numbers, return_counts=True)
    most = min(max(settings.max_share * n, 2), n - 1)
    weight_of = {
        "name": settings.name_weight,
        "phrase": 1.0,
        "keyword": settings.keyword_weight,
    }
    by_kind = np.array([weight_of[kind] for kind in _KINDS])
    links = (frequency > 1) & (frequency <= most)  # few do, so the rest is left out early
    known, frequency = np.append(known[links], _BEYOND), frequency[links]
    found = np.searchsorted(known, numbers)
    linking = known[found] == numbers
    of = np.repeat(np.arange(n, dtype=np.int32), np.diff(starts))[linking]
    found, kinds = found[linking], kinds[linking]
    weights = by_kind[kinds] * (np.log(n / frequency[found]) / math.log(max(n, 2)))
    order = np.lexsort((-weights, of))  # stable: of equal weight the first to appear
    place = np.arange(len(of)) - _starts(of, n)[of]  # of an entry within its memory, once ordered
    kept = order[place < settings.max_entities]
    used = np.bincount(found[kept], minlength=len(frequency)) > 0
    columns = (np.cumsum(used, dtype=np.int32) - 1)[found[kept]]
    by = Csr(_starts(of[kept], n), columns, weights[kept].astype(np.float32))
    ids, names = [memory.id for memory in memories], keys.texts(known[:-1][used].tolist())
    return MemoryGraph(CsrStore(ids, rows, names, by), Titles(rows, names, by))


def _found(
    memories: Sequence[Memory],
) -> tuple[NumberedKeys, NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]:
    """Every entity of every memory, in order of appearance: where each memory's entries start, and
    the key and kind of each entry.
    """
    keys = NumberedKeys()
    speakers = frozenset(memory.speaker for memory in memories)
    ignored = frozenset(keys.number(name) for name in names_of(speakers))
    found, kinds, sizes = array("q"), array("b"), array("q", [0])
    code = {kind: number for number, kind in enumerate(_KINDS)}
    for memory in memories:
        own = entities_in(memory.content, ignored, keys)
        found.extend(own)
        kinds.extend(map(code.__getitem__, own.values()))
        sizes.append(len(own))
    return (
        keys,
        np.cumsum(np.frombuffer(sizes, dtype=np.int64)),
        np.frombuffer(found, dtype=np.int64),
        np.frombuffer(kinds, dtype=np.int8),
    )


def _starts(rows: Ints, n: int) -> NDArray[np.int64]:
    """Where each of n rows begins among sorted entries of these rows, shape (n + 1,)."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
