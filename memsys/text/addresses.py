"""Checks of server addresses and of the keys they need, before any request is sent."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from memsys.errors import InputError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})  # hosts that are this machine


def check_address(url: str, field: str) -> str:
    """Return the host of `url`.

    Raises InputError, naming the configuration `field`, unless it is an http(s) address without
    user, password or query.
    """
    parts = urlsplit(url)
    # Checked first, so that no message repeats a secret.
    if parts.username or parts.password:
        raise InputError(f"{field}: contains a password; put it into the key's variable")
    if parts.query:
        raise InputError(f"{field}: contains a query; put a key into its variable")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(f"{field}: {url!r} is not an http(s) address")
    return parts.hostname


def check_key(key_variable: str, host: str, option: str) -> None:
    """Raise InputError, naming `option`, if `host` is another machine and there is no key."""
    if not os.environ.get(key_variable) and host not in LOOPBACK:
        raise InputError(f"{option}: set the variable {key_variable} to your key")
