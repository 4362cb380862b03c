"""The default relation store: networkx graphs in this process, one per owner."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock

import networkx as nx
import numpy as np

from memsys.core.errors import InputError
from memsys.core.types import Vectors
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.relation_file import RelationFile
from memsys.stores.relations import NearNode, Node, Relation, require_ends
from memsys.stores.vectors import checked


class NetworkxRelations:
    """A directed multigraph per owner, with an exact index of the vectors of names.

    `path` is an SQLite file from which the graph of an owner is built on first use, and again after
    another process has changed it; None: in memory only. Threads and processes may share the file,
    and may write the same owner. Raises InputError if the file cannot be opened.
    """

    def __init__(self, path: str | None = None) -> None:
        self._graphs: dict[str, nx.MultiDiGraph] = {}
        self._vectors = FaissVectors()
        self._dimension: int | None = None
        self._lock = RLock()  # a run asks from several threads
        self._file = None if path is None else RelationFile(path)
        self._versions: dict[str, int] = {}  # of the graphs, in the file
        self._current: set[str] = set()  # owners whose graph is that of the file
        self._changed: set[str] | None = None  # owners changed in the open transaction

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See RelationStore."""
        with self._lock:
            if self._file is None or self._changed is not None:
                yield
                return
            changed = set[str]()
            try:
                with self._file.writing():
                    self._changed = changed
                    self._current.clear()  # another process may have written since
                    yield
                    for owner in sorted(one for one in changed if self._graphs[one]):
                        self._versions[owner] = self._file.renew_version(owner)
            except BaseException:
                for owner in changed:
                    self._forget(owner)
                self._dimension = None
                raise
            finally:
                self._changed = None

    def put_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            latest = list({node.id: self._copied(node) for node in nodes}.values())
            if not latest:
                return
            if len({len(node.vector) for node in latest}) > 1:
                raise InputError("relation_store: nodes with vectors of different dimensions")
            if self._file is not None:
                self._file.put_nodes(owner, latest)
            self._dimension = len(latest[0].vector)
            self._insert(owner, graph, latest)

    def put_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            require_ends(relations, graph, owner)
            if self._file is not None:
                self._file.put_relations(owner, relations)
            _connect(graph, relations)

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            if self._file is not None:
                self._file.drop_relations(owner, keys)
            for source, name, target in keys:
                if graph.has_edge(source, target, name):
                    graph.remove_edge(source, target, name)

    def drop_nodes(self, owner: str, ids: Collection[str]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            if self._file is not None:
                self._file.drop_nodes(owner, ids)
            graph.remove_nodes_from(list(ids))
            self._vectors.drop(owner, ids)

    def similar(self, owner: str, vector: Vectors, threshold: float, most: int) -> list[NearNode]:
        """See RelationStore."""
        with self._lock:
            graph = self._graph(owner)
            query = checked(vector[None], 1, self._known_dimension(), "relation_store")[0]
            return [
                NearNode(graph.nodes[near.id]["node"], near.cosine)
                for near in self._vectors.nearest(owner, query, most)
                if near.cosine >= threshold
            ]

    def nodes(self, owner: str, ids: Collection[str] | None = None) -> list[Node]:
        """See RelationStore."""
        with self._lock:
            stored = self._graph(owner).nodes
            wanted = stored if ids is None else {id_ for id_ in ids if id_ in stored}
            return [stored[id_]["node"] for id_ in sorted(wanted)]

    def relations(self, owner: str, nodes: Collection[str] | None = None) -> list[Relation]:
        """See RelationStore."""
        with self._lock:
            graph = self._graph(owner)
            some = None if nodes is None else [id_ for id_ in set(nodes) if id_ in graph]
            edges = [*graph.out_edges(some, data="relation")]
            if some is not None:
                edges += graph.in_edges(some, data="relation")
            by_key: dict[tuple[str, str, str], Relation] = {r.key: r for _, _, r in edges}
            return [by_key[key] for key in sorted(by_key)]

    def clear(self, owner: str) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            if self._file is not None:
                self._file.clear(owner)
            graph.clear()
            self._vectors.clear(owner)
            self._versions.pop(owner, None)

    def compact(self) -> bool:
        """See RelationStore."""
        with self._lock:
            if self._file is not None:
                self._file.compact()
            return True

    def close(self) -> None:
        """See RelationStore."""
        with self._lock:
            if self._file is not None:
                self._file.close()

    @contextmanager
    def _change(self, owner: str) -> Iterator[nx.MultiDiGraph]:
        """Change the graph of an owner, and the file, in one transaction."""
        with self.writing():
            graph = self._graph(owner)
            if self._changed is not None:
                self._changed.add(owner)
            yield graph

    def _graph(self, owner: str) -> nx.MultiDiGraph:
        """Return the graph of an owner, as the file has it now."""
        if self._file is not None:
            if self._changed is None and self._file.changed_by_others():
                self._current.clear()
            if owner not in self._current:
                with self._file.reading():
                    self._refresh(owner, self._file)
                self._current.add(owner)
        return self._graphs.setdefault(owner, nx.MultiDiGraph())

    def _refresh(self, owner: str, file: RelationFile) -> None:
        version = file.version(owner)
        if owner in self._graphs and self._versions.get(owner, 0) == version:
            return
        self._forget(owner)
        graph = nx.MultiDiGraph()
        self._insert(owner, graph, file.nodes(owner))
        _connect(graph, file.relations(owner))
        self._graphs[owner], self._versions[owner] = graph, version

    def _forget(self, owner: str) -> None:
        self._graphs.pop(owner, None)
        self._versions.pop(owner, None)
        self._current.discard(owner)
        self._vectors.clear(owner)

    def _insert(self, owner: str, graph: nx.MultiDiGraph, nodes: Sequence[Node]) -> None:
        graph.add_nodes_from((node.id, {"node": node}) for node in nodes)
        if nodes:
            ids = [node.id for node in nodes]
            self._vectors.put(owner, ids, np.stack([node.vector for node in nodes]))

    def _copied(self, node: Node) -> Node:
        """Return a copy that does not share the caller's array."""
        rows = checked(node.vector[None], 1, self._known_dimension(), "relation_store")
        return replace(node, vector=rows[0])

    def _known_dimension(self) -> int | None:
        if self._dimension is None and self._file is not None:
            self._dimension = self._file.dimension()
        return self._dimension


def _connect(graph: nx.MultiDiGraph, relations: Sequence[Relation]) -> None:
    graph.add_edges_from((r.source, r.target, r.name, {"relation": r}) for r in relations)
