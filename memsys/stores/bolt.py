"""A connection to a server that speaks Bolt, by the official driver (extra `neo4j`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from memsys.core.addresses import secret_of
from memsys.core.errors import InputError, check_installed

_SCHEMES = {f"{way}{safety}" for way in ("bolt", "neo4j") for safety in ("", "+s", "+ssc")}
_CONNECT_S = 5
_RETRY_S = 15  # for how long a transaction with a transient error is retried


class Bolt:
    """A connection. `url` is bolt://host:port or neo4j://host:port, with +s for TLS.

    The password is read from the environment variable `password_variable` (None: no login) and
    never stored. `database` None is the server's default. Raises InputError if the extra is missing
    or the address is unusable, and on first use, if the server cannot be used.
    """

    def __init__(
        self, url: str, user: str, password_variable: str | None, database: str | None
    ) -> None:
        check_installed("neo4j", "relation_store=neo4j", "neo4j")
        address = urlsplit(url)
        is_server = address.scheme in _SCHEMES and address.hostname
        if not is_server or "@" in address.netloc or address.query:
            raise InputError(  # without the address, which may contain a password
                "relation_store.url: use an address like bolt://localhost:7687; user and password "
                "are separate settings"
            )
        self._url, self._user, self._database = url, user, database
        self._password_variable = password_variable

    def read(self, statement: str, **parameters: Any) -> list[Any]:
        """Return the records of `statement`. Raises InputError if the server gives none."""
        with self._session() as session:
            records: list[Any] = session.execute_read(lambda t: list(t.run(statement, parameters)))
            return records

    def write(self, statement: str, parameters: Sequence[dict[str, Any]]) -> None:
        """Run `statement` with each of `parameters`, in one transaction, committed on return.
        Raises InputError, and changes nothing, if the server does not commit.
        """
        with self._session() as session:
            session.execute_write(lambda t: [t.run(statement, one).consume() for one in parameters])

    def index(self, label: str, *properties: str) -> None:
        """Create an index of the nodes of `label` by each of these properties. The syntax of Neo4j
        is tried first, then that of Memgraph; a server that accepts neither is only slower.
        """
        from neo4j.exceptions import ClientError  # noqa: PLC0415 - an extra

        for name in properties:
            for statement in (
                f"CREATE INDEX {label}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})",
                f"CREATE INDEX ON :{label}({name})",
            ):
                with self._session() as session, suppress(ClientError):
                    session.run(statement).consume()
                    break

    def close(self) -> None:
        """Close the connections."""
        if "_driver" in self.__dict__:
            self._driver.close()

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
