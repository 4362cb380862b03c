"""A client of a memory service with the interface of `python -m memsys.serve`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from memsys.errors import InputError
from memsys.text.addresses import LOOPBACK, check_address


class ServiceError(Exception):
    """The service answered with a failure, or not at all; of the session or question under way."""


class Client:
    """Asks one service, over one connection. Connects with the first request."""

    # Addresses that answered this process once: who is gone since is no wrong input.
    _reached: ClassVar[set[str]] = set()

    def __init__(self, url: str, key_variable: str, timeout_s: float) -> None:
        """`key_variable`: of the environment; its value is sent as a bearer, and told nowhere.
        `timeout_s`: of one request. Raises InputError on what is no address.
        """
        self._here = check_address(url, "strategy.url") in LOOPBACK
        if not isinstance(timeout_s, int | float) or not timeout_s > 0:
            raise InputError(f"strategy.timeout_s: {timeout_s!r}; give more than 0")
        self.url, self._key_variable, self._timeout_s = url.rstrip("/"), key_variable, timeout_s
        self._client: Any = None

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> list[Any]:
        """The `results` of the answer. Raises ServiceError, naming the status; InputError where
        nobody has ever answered at the address, or the key is refused.
        """
        import httpx2  # noqa: PLC0415 - half a second that nobody else has to wait

        if self._client is None:
            key = os.environ.get(self._key_variable)
            self._client = httpx2.Client(
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=self._timeout_s,
                trust_env=not self._here,  # no proxy reaches this machine's own loopback
            )
        try:
            reply = self._client.request(method, self.url + path, json=body)
        except httpx2.TransportError as error:
            if self.url in self._reached or not isinstance(error, httpx2.ConnectError):
                raise ServiceError(f"{method} {path}: {type(error).__name__}") from None
            raise InputError(
                f"strategy.url={self.url}: nobody answers there; start a service, such as "
                "python -m memsys.serve, or name another address"
            ) from None
        self._reached.add(self.url)
        if reply.status_code == 401:
            raise InputError(
                f"strategy.url={self.url}: refuses the key; put it into the environment variable "
                f"{self._key_variable}, or name another by strategy.key_variable"
            )
        if not reply.is_success:
            raise ServiceError(f"{method} {path}: {reply.status_code} {_message(reply)}".rstrip())
        try:
            rows = reply.json().get("results", [])
        except (ValueError, AttributeError) as error:
            raise ServiceError(f"{method} {path}: the answer is no JSON object") from error
        if not isinstance(rows, list):
            raise ServiceError(f"{method} {path}: `results` is no list")
        return rows

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()


def _message(reply: Any) -> str:
    try:
        return str(reply.json()["error"]["message"])[:200]
    except (ValueError, TypeError, KeyError):
        return ""
