"""The default relation store: networkx graphs in this process, one per owner."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import networkx as nx
import numpy as np

from memsys.errors import InputError
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.relations import (
    NearNode,
    Node,
    Relation,
    node_of,
    relation_of,
    require_ends,
    row_of,
)
from memsys.stores.sqlite import open_store
from memsys.stores.vectors import checked
from memsys.types import Vectors

_TABLES = (
    """CREATE TABLE IF NOT EXISTS nodes (
    owner TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    vector BLOB NOT NULL, mentions INTEGER NOT NULL, created TEXT NOT NULL,
    last_seen TEXT NOT NULL, PRIMARY KEY (owner, id))""",
    """CREATE TABLE IF NOT EXISTS relations (
    owner TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
    mentions INTEGER NOT NULL, created TEXT NOT NULL, last_seen TEXT NOT NULL, ended TEXT,
    turns TEXT NOT NULL, PRIMARY KEY (owner, source, name, target))""",
)


class NetworkxRelations:
    """A directed multigraph per owner, with an exact index of the vectors of names.

    `path` is an SQLite file from which the graph of an owner is built on first use; None: in memory
    only. Processes may share the file if each owner is written by only one of them. Raises
    InputError if the file cannot be opened.
    """

    def __init__(self, path: str | None = None) -> None:
        self._graphs: dict[str, nx.MultiDiGraph] = {}
        self._vectors = FaissVectors()
        self._dimension: int | None = None
        self._lock = RLock()  # a run asks from several threads
        self._file = None if path is None else _RelationFile(path)

    def put_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        """See RelationStore."""
        with self._lock:
            graph = self._graph(owner)
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
        with self._lock:
            graph = self._graph(owner)
            require_ends(relations, graph, owner)
            if self._file is not None:
                self._file.put_relations(owner, relations)
            _connect(graph, relations)

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """See RelationStore."""
        with self._lock:
            graph = self._graph(owner)
            if self._file is not None:
                self._file.drop_relations(owner, keys)
            for source, name, target in keys:
                if graph.has_edge(source, target, name):
                    graph.remove_edge(source, target, name)

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
        with self._lock:
            if self._file is not None:
                self._file.clear(owner)
            self._graphs[owner] = nx.MultiDiGraph()
            self._vectors.clear(owner)

    def close(self) -> None:
        """See RelationStore."""
        with self._lock:
            if self._file is not None:
                self._file.close()

    def _graph(self, owner: str) -> nx.MultiDiGraph:
        if owner not in self._graphs:
            graph = nx.MultiDiGraph()
            if self._file is not None:
                self._insert(owner, graph, self._file.nodes(owner))
                _connect(graph, self._file.relations(owner))
            self._graphs[owner] = graph
        return self._graphs[owner]

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


class _RelationFile:
    """The rows of a relation store; each method is one transaction. Raises InputError if the file
    at `path` cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self._db = open_store(path, _TABLES, "relation_store")
        self._db.row_factory = sqlite3.Row

    def put_nodes(self, owner: str, nodes: Iterable[Node]) -> None:
        self._write(
            "REPLACE INTO nodes VALUES"
            " (:owner, :id, :name, :kind, :vector, :mentions, :created, :last_seen)",
            [
                {**row_of(node), "owner": owner, "vector": node.vector.astype(np.float32).tobytes()}
                for node in nodes
            ],
        )

    def put_relations(self, owner: str, relations: Iterable[Relation]) -> None:
        self._write(
            "REPLACE INTO relations VALUES"
            " (:owner, :source, :name, :target, :mentions, :created, :last_seen, :ended, :turns)",
            [{**row_of(one), "owner": owner, "turns": json.dumps(one.turns)} for one in relations],
        )

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        self._write(
            "DELETE FROM relations WHERE owner = ? AND source = ? AND name = ? AND target = ?",
            [(owner, *key) for key in keys],
        )

    def clear(self, owner: str) -> None:
        with self._db:
            self._db.execute("DELETE FROM relations WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM nodes WHERE owner = ?", (owner,))

    def nodes(self, owner: str) -> list[Node]:
        rows = self._db.execute("SELECT * FROM nodes WHERE owner = ?", (owner,))
        return [node_of(row, np.frombuffer(row["vector"], dtype=np.float32)) for row in rows]

    def relations(self, owner: str) -> list[Relation]:
        rows = self._db.execute("SELECT * FROM relations WHERE owner = ?", (owner,))
        return [
            relation_of(row["source"], {**row, "turns": json.loads(row["turns"])}, row["target"])
            for row in rows
        ]

    def dimension(self) -> int | None:
        row = self._db.execute("SELECT length(vector) / 4 FROM nodes LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def close(self) -> None:
        self._db.close()

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...] | Mapping[str, Any]]) -> None:
        with self._db:
            self._db.executemany(statement, rows)
