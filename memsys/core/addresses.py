"""Addresses and keys of servers: checks before any request, and secrets removed from texts."""

import os
import re
from typing import Any
from urllib.parse import urlsplit

from memsys.core.errors import InputError, refuse

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})  # hosts that are this machine
_ENDS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")  # of names of variables with a secret
_LENGTH = 8  # shorter values are words, as in API_KEY=none
_LEAST = 4  # of the value of a variable that is used as a key, unless it is a word
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEY_LENGTH = 20  # of a key that could be taken for the name of a variable
_USED: set[str] = set()  # names of the variables that this process has used as keys


def check_address(url: object, field: str) -> str:
    """Return the host of `url`. Raises InputError, naming the configuration `field`, unless it is
    an http(s) address without user, password or query, with a port of 1 to 65535 if it has one.
    """
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
    except ValueError:
        raise InputError(f"{field}: is not an http(s) address") from None
    try:
        port = parts.port
    except ValueError:
        port = 0
    host = parts.hostname or ""
    faults = {  # secrets come first, so that no message repeats one
        "contains a password; put it into the key's variable": parts.username or parts.password,
        "contains a query; put a key into its variable": parts.query,
        f"{url!r} is not an http(s) address": parts.scheme not in {"http", "https"} or not host,
        f"{url!r} has no valid port; use 1 to 65535": port == 0,
    }
    refuse({f"{field}: {fault}": is_wrong for fault, is_wrong in faults.items()})
    return host


def check_variable(name: object, field: str) -> str:
    """Return `name`, that of an environment variable with a key, or "". Its value is a secret from
    now on: see without_secrets. Raises InputError, naming the configuration `field`, without
    repeating `name`, which may be a key by mistake.
    """
    remedy = "name an environment variable, such as OPENAI_API_KEY, and put the key there"
    text = name if isinstance(name, str) else " "
    mixed = re.search("[0-9]", text) and re.search("[a-z]", text)
    is_name = not text or _VARIABLE.fullmatch(text)
    is_key = len(text) >= _KEY_LENGTH and mixed and text not in os.environ
    faults = {
        f"{field}: is not the name of an environment variable; {remedy}": not is_name,
        f"{field}: looks like a key; {remedy}": is_key,
    }
    refuse(faults)
    if text:
        _USED.add(text)
    return text


def check_open(name: str, value: object, field: str, remedy: str) -> None:
    """Raise InputError, naming `field` and `remedy`, if `name`, of a variable, an option or an
    argument, is that of a secret and `value` is no short word and begins with no placeholder.
    The value is not repeated.
    """
    named = f"_{re.sub(r'[^A-Za-z0-9]+', '_', name).upper()}"
    text = value if isinstance(value, str) else ""
    is_word = len(text) < _LENGTH and (not text or text.isalpha())
    if is_word or re.match(r"\{\w+\}", text):
        return
    if named.endswith((*_ENDS, "APIKEY", "_AUTHORIZATION")):
        raise InputError(f"{field}: looks like a key, which the manifest would record; {remedy}")


def check_key(key_variable: str, host: str, option: str) -> None:
    """Raise InputError, naming `option`, if `host` is another machine and there is no key, or if a
    header cannot carry the key, which is not repeated.
    """
    check_variable(key_variable, f"{option}: key_variable")
    key = os.environ.get(key_variable, "")
    faults = {
        f"{option}: set the variable {key_variable} to your key": not key and host not in LOOPBACK,
        f"{option}: {key_variable}: the key contains white space or other characters that a "
        "header cannot carry": re.search(r"[^!-~]", key),
    }
    refuse(faults)


def secret_of(variable: str | None, setting: str, remedy: str) -> str | None:
    """Return the value of the environment variable that `setting` names; None if it names none.
    Raises InputError with the `remedy` if it is not set or empty.
    """
    if variable is None:
        return None
    secret = os.environ.get(variable)
    if not secret:
        raise InputError(f"{setting}: the environment has no {variable}; {remedy}")
    return secret


def without_secrets(text: str, key_variable: str = "") -> str:
    """Return `text` with each secret replaced by the name of its environment variable. A server may
    repeat a key in its answers. Secrets are the values of at least 8 characters of variables whose
    name ends like one; those of at least 4, unless they are a word, of the variables that this
    process has used as keys (see check_variable); and the value of `key_variable` of any length.
    """
    return str(_cleaned(text, _secrets(key_variable)))


def json_without_secrets(value: Any) -> Any:
    """Return the JSON value `value` with `without_secrets` applied to every text and name in it."""
    secrets = _secrets()
    return _cleaned(value, secrets) if secrets else value


def _cleaned(value: Any, secrets: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for secret, name in secrets:
            value = value.replace(secret, f"${name}")
        return value
    if isinstance(value, list | tuple):
        return [_cleaned(item, secrets) for item in value]
    if isinstance(value, dict):
        return {_cleaned(k, secrets): _cleaned(v, secrets) for k, v in value.items()}
    return value


def _secrets(key_variable: str = "") -> list[tuple[str, str]]:
    """Return the secrets and the names of their variables, the longest first: one may contain
    another.
    """
    secrets = {}
    for name in os.environ:  # names first: each value has to be decoded, and this is asked often
        is_named, is_used = name.endswith(_ENDS), name in _USED
        if is_named or is_used or name == key_variable:
            value = os.environ.get(name, "")
            is_long = len(value) >= _LENGTH
            is_short_key = is_used and len(value) >= _LEAST and not value.isalpha()
            if value and (is_long or is_short_key or name == key_variable):
                secrets[value] = name
    return sorted(secrets.items(), key=lambda pair: (-len(pair[0]), pair[0]))
