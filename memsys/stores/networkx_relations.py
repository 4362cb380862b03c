"""The default relation store: a networkx graph per owner in this process, over an SQLite file."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import RLock

import networkx as nx
import numpy as np

from memsys.core.types import Vectors
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
from memsys.stores.sqlite import open_store, rewrite
from memsys.stores.vectors import checked

_TABLES = Path(__file__).with_name("relations.sql").read_text(encoding="utf-8").strip().split(";\n")


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
        self._db = open_store(path, _TABLES, "relation_store", self)
        self._db.row_factory = sqlite3.Row
        self._db.isolation_level = None  # transactions are begun here only
        self._versions: dict[str, int] = {}  # of the graphs, in the file
        self._changed: set[str] | None = None  # owners changed in the open transaction

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See RelationStore."""
        with self._lock:
            if self._changed is not None:
                yield
                return
            changed = set[str]()
            try:
                self._db.execute("BEGIN IMMEDIATE")  # locks out other writers
                with self._db:
                    self._changed = changed
                    yield
                    for owner in sorted(changed):
                        self._db.execute("DELETE FROM owners WHERE owner = ?", (owner,))
                        self._versions[owner] = 0
                        if self._graphs[owner]:
                            new = self._db.execute(
                                "INSERT INTO owners (owner) VALUES (?)", (owner,)
                            )
                            self._versions[owner] = int(new.lastrowid or 0)
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
            copies, dimension = {}, self._known_dimension()
            for node in nodes:  # copied, so that no array is shared with the caller
                (vector,) = checked(node.vector[None], 1, dimension, "relation_store")
                copies[node.id], dimension = replace(node, vector=vector), len(vector)
            latest = list(copies.values())
            if not latest:
                return
            self._db.executemany(
                "REPLACE INTO nodes VALUES"
                " (:owner, :id, :name, :kind, :vector, :mentions, :created, :last_seen)",
                [{**row_of(n), "owner": owner, "vector": n.vector.tobytes()} for n in latest],
            )
            self._dimension = dimension
            self._insert(owner, graph, latest)

    def put_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            require_ends(relations, graph, owner)
            self._db.executemany(
                "REPLACE INTO relations VALUES (:owner, :source, :name, :target, :mentions,"
                " :created, :last_seen, :ended, :turns)",
                [{**row_of(r), "owner": owner, "turns": json.dumps(r.turns)} for r in relations],
            )
            _connect(graph, relations)

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            self._db.executemany(
                "DELETE FROM relations WHERE owner = ? AND source = ? AND name = ? AND target = ?",
                [(owner, *key) for key in keys],
            )
            for source, name, target in keys:
                if graph.has_edge(source, target, name):
                    graph.remove_edge(source, target, name)

    def drop_nodes(self, owner: str, ids: Collection[str]) -> None:
        """See RelationStore."""
        with self._change(owner) as graph:
            rows = [{"owner": owner, "id": id_} for id_ in ids]
            for statement in (
                "DELETE FROM relations WHERE owner = :owner AND :id IN (source, target)",
                "DELETE FROM nodes WHERE owner = :owner AND id = :id",
            ):
                self._db.executemany(statement, rows)
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
            for table in ("relations", "nodes"):
                self._db.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608
            graph.clear()
            self._vectors.clear(owner)

    def compact(self) -> bool:
        """See RelationStore."""
        with self._lock:
            rewrite(self._db)
            return True

    def close(self) -> None:
        """See RelationStore."""
        with self._lock:
            self._db.close()

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
        if self._versions.get(owner) != self._version(owner):
            if self._db.in_transaction:
                self._load(owner)
            else:
                self._db.execute("BEGIN")  # all is read from one state of the file
                with self._db:
                    self._load(owner)
        return self._graphs[owner]

    def _version(self, owner: str) -> int:
        row = self._db.execute("SELECT version FROM owners WHERE owner = ?", (owner,)).fetchone()
        return 0 if row is None else int(row[0])  # 0: it has no nodes

    def _load(self, owner: str) -> None:
        self._forget(owner)
        graph = nx.MultiDiGraph()
        rows = self._db.execute("SELECT * FROM nodes WHERE owner = ?", (owner,))
        nodes = [node_of(one, np.frombuffer(one["vector"], dtype=np.float32)) for one in rows]
        self._insert(owner, graph, nodes)
        rows = self._db.execute("SELECT * FROM relations WHERE owner = ?", (owner,))
        relations = [{**one, "turns": json.loads(one["turns"])} for one in rows]
        _connect(graph, [relation_of(one["source"], one, one["target"]) for one in relations])
        self._graphs[owner], self._versions[owner] = graph, self._version(owner)

    def _forget(self, owner: str) -> None:
        self._graphs.pop(owner, None)
        self._versions.pop(owner, None)
        self._vectors.clear(owner)

    def _insert(self, owner: str, graph: nx.MultiDiGraph, nodes: Sequence[Node]) -> None:
        graph.add_nodes_from((node.id, {"node": node}) for node in nodes)
        if nodes:
            ids = [node.id for node in nodes]
            self._vectors.put(owner, ids, np.stack([node.vector for node in nodes]))

    def _known_dimension(self) -> int | None:
        if self._dimension is None:
            row = self._db.execute("SELECT length(vector) / 4 FROM nodes LIMIT 1").fetchone()
            self._dimension = None if row is None else int(row[0])
        return self._dimension


def _connect(graph: nx.MultiDiGraph, relations: Sequence[Relation]) -> None:
    graph.add_edges_from((r.source, r.target, r.name, {"relation": r}) for r in relations)
