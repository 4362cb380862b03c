"""A connection to a server that speaks Bolt, by the official driver (extra `neo4j`)."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, TypeVar
from urllib.parse import urlsplit

from memsys.core.errors import InputError

_SCHEMES = {f"{way}{safety}" for way in ("bolt", "neo4j") for safety in ("", "+s", "+ssc")}
_CONNECT_S = 5
_RETRY_S = 15  # for how long a transaction with a transient error is retried
_T = TypeVar("_T")


class Bolt:
    """A connection. `url` is bolt://host:port or neo4j://host:port, with +s for TLS.

    The password is read from the environment variable `password_variable` (None: no login) and
    never stored. `database` None is the server's default. Raises InputError if the extra is missing
    or the address is unusable, and for any other fault on first use.
    """

    def __init__(
        self, url: str, user: str, password_variable: str | None, database: str | None
    ) -> None:
        if find_spec("neo4j") is None:
            raise InputError("relation_store=neo4j: not installed; pip install -e '.[neo4j]'")
        address = urlsplit(url)
        # Checked first, so that no message repeats a secret.
        if "@" in address.netloc or address.query:
            raise InputError(
                "relation_store.url: give only host and port; user and password are separate "
                "settings"
            )
        if address.scheme not in _SCHEMES or not address.hostname:
            raise InputError(f"relation_store.url: {url!r} is not like bolt://localhost:7687")
        self._url, self._user, self._database = url, user, database
        self._password_variable = password_variable

    def read(self, statement: str, **parameters: Any) -> list[Any]:
        """Return the records of `statement`. Raises InputError if the server gives none."""

        def work(transaction: Any) -> list[Any]:
            return list(transaction.run(statement, parameters))

        with self._session() as session:
            return self._ask(lambda: session.execute_read(work))

    def write(self, statement: str, parameters: Sequence[dict[str, Any]]) -> None:
        """Run `statement` with each of `parameters`, in one transaction, committed on return.
        Raises InputError, and changes nothing, if the server does not commit.
        """

        def work(transaction: Any) -> None:
            for one in parameters:
                transaction.run(statement, one).consume()

        with self._session() as session:
            self._ask(lambda: session.execute_write(work))

    def index(self, label: str, *properties: str) -> None:
        """Create an index of the nodes of `label` by each of these properties. The syntax of Neo4j
        is tried first, then that of Memgraph; a server that accepts neither is only slower. Raises
        InputError if it does not answer.
        """
        for name in properties:
            neo4j = f"CREATE INDEX {label}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})"
            if not self._run_single(neo4j):
                self._run_single(f"CREATE INDEX ON :{label}({name})")

    def close(self) -> None:
        """Close the connections."""
        if "_driver" in self.__dict__:
            self._driver.close()

    @cached_property
    def _driver(self) -> Any:
        import neo4j  # noqa: PLC0415 - an extra

        # It warns of every label and property that is not used yet.
        logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
        login = None
        if self._password_variable is not None:
            password = os.environ.get(self._password_variable)
            if not password:
                raise InputError(
                    f"relation_store.password_variable: the environment has no "
                    f"{self._password_variable}; set it to the password of {self._user!r}, or the "
                    "setting to null for a server without login"
                )
            login = (self._user, password)
        driver = neo4j.GraphDatabase.driver(
            self._url,
            auth=login,
            connection_timeout=_CONNECT_S,
            max_transaction_retry_time=_RETRY_S,
        )
        try:
            self._ask(driver.verify_connectivity)
        except InputError:
            driver.close()
            raise
        return driver

    def _run_single(self, statement: str) -> bool:
        """Run `statement` without a transaction; return whether the server accepts it."""
        from neo4j.exceptions import ClientError  # noqa: PLC0415 - an extra

        def run() -> bool:
            try:
                session.run(statement).consume()
            except ClientError:
                return False
            return True

        with self._session() as session:
            return self._ask(run)

    def _session(self) -> Any:
        return self._driver.session(database=self._database)

    def _ask(self, call: Callable[[], _T]) -> _T:
        from neo4j.exceptions import DriverError, Neo4jError  # noqa: PLC0415 - an extra

        try:
            return call()
        except (DriverError, Neo4jError) as error:
            message = getattr(error, "message", None) or str(error) or type(error).__name__
            raise InputError(
                f"relation_store.url={self._url}: {message.splitlines()[0]}; check that the "
                "server runs there, and the user, password variable and database"
            ) from error
