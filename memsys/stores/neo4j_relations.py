"""Relations in a graph database that speaks Bolt: Neo4j, Memgraph, ArcadeDB (extra `neo4j`)."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from memsys.core.addresses import secret_of
from memsys.core.errors import InputError, check_installed, refuse
from memsys.core.types import Vectors
from memsys.core.yaml_text import load_table
from memsys.stores.relations import (
    NearNode,
    Node,
    Relation,
    RelationStore,
    node_of,
    relation_of,
    row_of,
)
from memsys.stores.vectors import best, key_of

_SCHEMES = {f"{way}{safety}" for way in ("bolt", "neo4j") for safety in ("", "+s", "+ssc")}
_CONNECT_S = 5
_RETRY_S = 15  # for how long a transaction with a transient error is retried
_STATEMENTS = Path(__file__).with_name("cypher.yaml")
_BATCH = 500  # rows per statement: a few megabytes at 384 dimensions


class Neo4jRelations(RelationStore):
    """Nodes of one label and relations of one type, separated by their property `owner`.

    `url` is bolt://host:port or neo4j://host:port, with +s for TLS. The password is read from the
    environment variable `password_variable` (None: no login) and never stored. `database` None is
    the server's default; `label` separates several stores in one. `similarity` is a function of the
    engine that increases with the cosine of two vectors: it orders candidates, and the cosine
    itself is computed here. Raises InputError if the extra is missing or a setting is unusable, and
    on first use, if the server cannot be used.
    """

    def __init__(
        self,
        url: str,
        user: str = "neo4j",
        password_variable: str | None = "NEO4J_PASSWORD",  # noqa: S107 - a variable's name
        database: str | None = None,
        label: str = "MemsysNode",
        similarity: str = "vector.similarity.cosine",
    ) -> None:
        address = urlsplit(url)
        is_server = address.scheme in _SCHEMES and address.hostname
        named = all(part.isidentifier() for part in similarity.split("."))
        faults = {  # without the address, which may contain a password
            f"relation_store.label: {label!r} is not a plain name": not label.isidentifier(),
            f"relation_store.similarity: {similarity!r} is no function name": not named,
            "relation_store.url: use an address like bolt://localhost:7687; user and password are "
            "separate settings": not is_server or "@" in address.netloc or address.query,
        }
        refuse(faults)  # label and similarity become part of statements
        check_installed("neo4j", "relation_store=neo4j", "neo4j")
        super().__init__()
        self._url, self._user, self._database = url, user, database
        self._password_variable = password_variable
        self._cypher = load_table(_STATEMENTS, LABEL=label, SIMILARITY=similarity)
        # Nodes are named by one property, as not every engine has indexes over two.
        self._nodes, self._named = self._cypher["nodes"], self._cypher["named"]
        self._indexed = False

    def _close(self) -> None:
        if "_driver" in self.__dict__:
            self._driver.close()

    def _stored_dimension(self) -> int | None:
        rows = self._read(self._cypher["dimension"])
        return rows[0]["d"] if rows else None

    def _present(self, owner: str, ids: Collection[str]) -> Collection[str]:
        rows = self._read(f"{self._named} RETURN n.id AS id", keys=_keys(owner, ids))
        return {row["id"] for row in rows}

    def _write_nodes(self, owner: str, nodes: Sequence[Node]) -> None:
        rows = [
            {"key": key_of(owner, node.id), "owner": owner, **row_of(node)}
            | {"embedding": node.vector.tolist()}  # all engines store a list
            for node in nodes
        ]
        self._write("put_nodes", rows)

    def _write_relations(self, owner: str, relations: Sequence[Relation]) -> None:
        rows = [
            {**_ends(owner, relation.key), **row_of(relation), "turns": list(relation.turns)}
            for relation in relations
        ]
        self._write("put_relations", rows)

    def _delete_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        self._write("drop_relations", [{**_ends(owner, key), "name": key[1]} for key in keys])

    def _delete_nodes(self, owner: str, ids: Collection[str]) -> None:
        self._run(f"{self._named} DETACH DELETE n", [{"keys": _keys(owner, ids)}])

    def _delete_all(self, owner: str) -> None:
        self._run(f"{self._nodes} DETACH DELETE n", [{"owner": owner}])

    def _nearest(self, owner: str, query: Vectors, most: int) -> Iterable[NearNode]:
        seen: dict[str, Node] = {}

        def fetch(wanted: int) -> tuple[list[str], Vectors]:
            given = {"owner": owner, "embedding": query.tolist(), "most": wanted}
            nodes = [_node(record["n"]) for record in self._read(self._cypher["similar"], **given)]
            seen.update((node.id, node) for node in nodes)
            rows = np.array([node.vector for node in nodes], dtype=np.float32)
            return [node.id for node in nodes], rows

        return [NearNode(seen[id_], cosine) for id_, cosine in best(fetch, query, most)]

    def _read_nodes(self, owner: str, ids: Collection[str] | None) -> Iterable[Node]:
        if ids is None:
            rows = self._read(f"{self._nodes} RETURN n", owner=owner)
        else:
            rows = self._read(f"{self._named} RETURN n", keys=_keys(owner, ids))
        return [_node(row["n"]) for row in rows]

    def _read_relations(self, owner: str, nodes: Collection[str] | None) -> Iterable[Relation]:
        if nodes is None:
            rows = self._read(self._cypher["relations"], owner=owner)
        else:
            rows = self._read(self._cypher["relations_of"], keys=_keys(owner, nodes))
        return [relation_of(row["source"], row["r"], row["target"]) for row in rows]

    def _write(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        """Run the statement of this name with all of `rows`, in one transaction."""
        if not self._indexed:
            self._index()
            self._indexed = True
        batches = [rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH)]
        self._run(self._cypher[name], [{"rows": batch} for batch in batches])

    def _read(self, statement: str, **parameters: Any) -> list[Any]:
        """Return the records of `statement`. Raises InputError if the server gives none."""
        with self._session() as session:
            records: list[Any] = session.execute_read(lambda t: list(t.run(statement, parameters)))
            return records

    def _run(self, statement: str, parameters: Sequence[dict[str, Any]]) -> None:
        """Run `statement` with each of `parameters`, in one transaction, committed on return.
        Raises InputError, and changes nothing, if the server does not commit.
        """
        with self._session() as session:
            session.execute_write(lambda t: [t.run(statement, row).consume() for row in parameters])

    def _index(self) -> None:
        """Create the indexes of the nodes. The syntax of Neo4j is tried first, then that of
        Memgraph; a server that accepts neither is only slower.
        """
        from neo4j.exceptions import ClientError  # noqa: PLC0415 - an extra

        for statements in self._cypher["indexes"].values():
            for statement in statements:
                with self._session() as session, suppress(ClientError):
                    session.run(statement).consume()
                    break

    @contextmanager
    def _session(self) -> Iterator[Any]:
        """Open a session. Raises InputError on an error of the server or of the connection."""
        from neo4j.exceptions import DriverError, Neo4jError  # noqa: PLC0415 - an extra

        try:
            with self._driver.session(database=self._database) as session:
                yield session
        except (DriverError, Neo4jError) as error:
            message = getattr(error, "message", None) or str(error) or type(error).__name__
            raise InputError(
                f"relation_store.url={self._url}: {message.splitlines()[0]}; check that the "
                "server runs there, and the user, password variable and database"
            ) from error

    @cached_property
    def _driver(self) -> Any:
        import neo4j  # noqa: PLC0415 - an extra

        # It warns of every label and property that is not used yet.
        logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
        remedy = "set it, or the setting to null for no login"
        place = "relation_store.password_variable"
        password = secret_of(self._password_variable, place, remedy)
        login = None if password is None else (self._user, password)
        driver = neo4j.GraphDatabase.driver(
            self._url,
            auth=login,
            connection_timeout=_CONNECT_S,
            max_transaction_retry_time=_RETRY_S,
        )
        try:
            driver.verify_connectivity()
        except BaseException:
            driver.close()
            raise
        return driver


def _node(row: Mapping[str, Any]) -> Node:
    return node_of(row, np.array(row["embedding"], dtype=np.float32))


def _keys(owner: str, ids: Collection[str]) -> list[str]:
    return [key_of(owner, id_) for id_ in sorted(set(ids))]


def _ends(owner: str, key: tuple[str, str, str]) -> dict[str, str]:
    source, _, target = key
    return {"from": key_of(owner, source), "to": key_of(owner, target)}
