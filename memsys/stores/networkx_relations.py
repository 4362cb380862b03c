"""The default relation store: a networkx graph per owner in this process, over an SQLite file."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import numpy as np

from memsys.core.types import Vectors
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.relations import (
    NearNode,
    Node,
    Relation,
    RelationStore,
    node_of,
    relation_of,
    row_of,
)
from memsys.stores.sqlite import open_store, rewrite

_TABLES = Path(__file__).with_name("relations.sql").read_text(encoding="utf-8").strip().split(";\n")


class NetworkxRelations(RelationStore):
    """A directed multigraph per owner, with an exact index of the vectors of names.

    `path` is an SQLite file from which the graph of an owner is built on first use, and again after
    another process has changed it; None: in memory only. Threads and processes may share the file,
    and may write the same owner. Raises InputError if the file cannot be opened.
    """

    def __init__(self, path: str | None = None) -> None:
        super().__init__()
        self._graphs: dict[str, nx.MultiDiGraph] = {}
        self._vectors = FaissVectors()
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
                self._known_dimension = None
                raise
            finally:
                self._changed = None

    def _compact(self) -> bool:
        rewrite(self._db)
        return True

    def _close(self) -> None:
        self._db.close()

    def _stored_dimension(self) -> int | None:
        row = self._db.execute("SELECT length(vector) / 4 FROM nodes LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def _present(self, owner: str, ids: Collection[str]) -> Collection[str]:  # noqa: ARG002
        nodes: Collection[str] = self._graphs[owner]
        return nodes

    def _write_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        self._db.executemany(
            "REPLACE INTO nodes VALUES"
            " (:owner, :id, :name, :kind, :vector, :mentions, :created, :last_seen)",
            [{**row_of(n), "owner": owner, "vector": n.vector.tobytes()} for n in nodes],
        )
        self._insert(owner, self._graphs[owner], nodes)

    def _write_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        self._db.executemany(
            "REPLACE INTO relations VALUES (:owner, :source, :name, :target, :mentions,"
            " :created, :last_seen, :ended, :turns)",
            [{**row_of(r), "owner": owner, "turns": json.dumps(r.turns)} for r in relations],
        )
        _connect(self._graphs[owner], relations)

    def _delete_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        self._db.executemany(
            "DELETE FROM relations WHERE owner = ? AND source = ? AND name = ? AND target = ?",
            [(owner, *key) for key in keys],
        )
        graph = self._graphs[owner]
        for source, name, target in keys:
            if graph.has_edge(source, target, name):
                graph.remove_edge(source, target, name)

    def _delete_nodes(self, owner: str, ids: Collection[str]) -> None:
        rows = [{"owner": owner, "id": id_} for id_ in ids]
        for statement in (
            "DELETE FROM relations WHERE owner = :owner AND :id IN (source, target)",
            "DELETE FROM nodes WHERE owner = :owner AND id = :id",
        ):
            self._db.executemany(statement, rows)
        self._graphs[owner].remove_nodes_from(list(ids))
        self._vectors.drop(owner, ids)

    def _delete_all(self, owner: str) -> None:
        for table in ("relations", "nodes"):
            self._db.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608
        self._graphs[owner].clear()
        self._vectors.clear(owner)

    def _nearest(self, owner: str, query: Vectors, most: int) -> Iterable[NearNode]:
        nodes = self._graph(owner).nodes
        near = self._vectors.nearest(owner, query, most)
        return [NearNode(nodes[hit.id]["node"], hit.cosine) for hit in near]

    def _read_nodes(self, owner: str, ids: Collection[str] | None) -> Iterable[Node]:
        nodes = self._graph(owner).nodes
        wanted = nodes if ids is None else {id_ for id_ in ids if id_ in nodes}
        return [nodes[id_]["node"] for id_ in wanted]

    def _read_relations(self, owner: str, nodes: Collection[str] | None) -> Iterable[Relation]:
        graph = self._graph(owner)
        some = None if nodes is None else [id_ for id_ in set(nodes) if id_ in graph]
        edges = [*graph.out_edges(some, data="relation")]
        if some is not None:
            edges += graph.in_edges(some, data="relation")
        return [relation for _, _, relation in edges]

    @contextmanager
    def _change(self, owner: str) -> Iterator[None]:
        """Change the graph of an owner, and the file, in one transaction."""
        with self.writing():
            self._graph(owner)  # is loaded
            if self._changed is not None:
                self._changed.add(owner)
            yield

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
        nodes = [node_of(row, np.frombuffer(row["vector"], dtype=np.float32)) for row in rows]
        self._insert(owner, graph, nodes)
        rows = self._db.execute("SELECT * FROM relations WHERE owner = ?", (owner,))
        relations = [{**row, "turns": json.loads(row["turns"])} for row in rows]
        _connect(graph, [relation_of(row["source"], row, row["target"]) for row in relations])
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


def _connect(graph: nx.MultiDiGraph, relations: Sequence[Relation]) -> None:
    graph.add_edges_from((r.source, r.target, r.name, {"relation": r}) for r in relations)
