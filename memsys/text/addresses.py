"""Addresses and keys of servers: checks before any request, and secrets removed from texts."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from memsys.errors import InputError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})  # hosts that are this machine
_ENDS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")  # of names of variables with a secret
_LENGTH = 8  # shorter values are words, as in API_KEY=none


def check_address(url: str, field: str) -> str:
    """Return the host of `url`. Raises InputError, naming the configuration `field`, unless it is
    an http(s) address without user, password or query.
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


def without_secrets(text: str, key_variable: str = "") -> str:
    """Return `text` with each secret replaced by the name of its environment variable. A server may
    repeat a key in its messages. Secrets are the values of variables whose name ends like one, and
    the value of `key_variable`, independent of its name and length.
    """
    key = os.environ.get(key_variable)
    if key:
        text = text.replace(key, f"${key_variable}")
    for name, value in os.environ.items():
        if name.endswith(_ENDS) and len(value) >= _LENGTH:
            text = text.replace(value, f"${name}")
    return text
