"""Configurations that somebody else may have written: which classes and addresses they may name.

A run folder or a YAML file may come from anywhere. Of its classes only those are built that an
option of conf/ names for the same group, and those of modules that the user lists in
MEMSYS_TRUSTED.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from memsys.core.addresses import LOOPBACK
from memsys.core.errors import InputError
from memsys.core.json_text import places
from memsys.core.places import CONF

TRUSTED = "MEMSYS_TRUSTED"  # environment variable: modules and addresses, separated by commas
_TARGET = re.compile(r"\b_target_: *([\w.]+)")
_ADDRESS = re.compile(r"^ *(?:base_)?url: *(https?://\S+)", re.MULTILINE)
_REFERENCE = re.compile(r"\$\{[\w.]+\}")  # to another value; no resolver
_SPECIAL = {"_target_", "_partial_", "_convert_"}  # names that Hydra interprets
_VALUES = 10_000
# Settings of a strategy or a graph that are options of another group.
_NESTED = {
    "vector_store": "vector_store",
    "relation_store": "relation_store",
    "store": "relation_store",
}


def check_config(config: object, group: str, where: str) -> None:
    """Raise InputError, naming `where`, unless each `_target_` in `config`, at any depth, is a
    class of an option of conf/`group`, or of a store's group, or of a trusted module, and no value
    is an interpolation.

    Call it on the values that are going to be instantiated: after references are resolved.
    """
    for place, value in _values(config, where):
        if isinstance(value, Mapping) and "_target_" in value:
            own = _NESTED.get(place.rpartition(".")[2], group)
            _check_target(value["_target_"], own, f"{where}: {group}{place}")
        elif isinstance(value, str) and "${" in value:
            raise InputError(f"{where}: {group}{place}: {value!r:.60}; write the value itself")
        name = place.rpartition(".")[2]
        if name.startswith("_") and name.endswith("_") and name not in _SPECIAL:
            raise InputError(f"{where}: {group}{place}: not supported here; leave it out")


def check_references(config: object, where: str) -> None:
    """Raise InputError, naming `where`, if a value is computed by a resolver, such as one that
    reads an environment variable; `${k}`, a reference to another value, is allowed.
    """
    for place, value in _values(config, where):
        if isinstance(value, str) and "${" in _REFERENCE.sub("", value):
            raise InputError(
                f"{where}: {place.lstrip('.')}: {value!r:.60}; only references such as ${{k}} are "
                "resolved, never variables of the environment; write the value itself"
            )


def check_addresses(config: object, where: str) -> None:
    """Raise InputError, naming `where`, if `config` names a server that could receive a key or
    texts: other than this machine, those of conf/, and those in MEMSYS_TRUSTED.
    """
    trusted = {_server(address) for address in (*_shipped_addresses(), *_entries())}
    for place, server, _ in addresses(config):
        if server not in trusted and urlsplit(server).hostname not in LOOPBACK:
            raise InputError(
                f"{where}: {place}: {server} would receive your key and your texts; if you trust "
                f"it, set {TRUSTED}={server}"
            )


def addresses(config: object) -> list[tuple[str, str, str]]:
    """Return place, address (http://host:port) and variable of the key (or "") of every server that
    `config` names.
    """
    servers = []
    for place, value in _values(config, "configuration"):
        for name, url in value.items() if isinstance(value, Mapping) else ():
            if isinstance(url, str) and (server := _server(url)):
                key = str(value.get("key_variable") or "")
                servers.append((f"{place}.{name}".lstrip("."), server, key))
    return servers


def _check_target(target: object, group: str, place: str) -> None:
    if not isinstance(target, str):
        raise InputError(f"{place}: _target_ is not a name; name a class")
    module, _, name = target.rpartition(".")
    if target in _shipped_classes(group):
        return
    if not any(module == entry or module.startswith(f"{entry}.") for entry in _entries()):
        raise InputError(
            f"{place}: {target:.80} is not trusted: only classes of the options in conf/{group} "
            f"are built; if you trust it, set {TRUSTED} to its module (docs/extend.md)"
        )
    try:
        member = getattr(import_module(module), name, None)
    except ImportError as error:
        raise InputError(f"{place}: {target:.80} cannot be imported ({error})") from error
    if not isinstance(member, type) or member.__module__ != module:
        raise InputError(f"{place}: {target:.80} is not a class that {module} defines")


def _values(config: object, where: str) -> Iterator[tuple[str, Any]]:
    """Yield every value with its place (see `places`). Raises InputError beyond 10,000 values: YAML
    can repeat a part exponentially.
    """
    for count, pair in enumerate(places(config)):
        if count == _VALUES:
            raise InputError(f"{where}: more than {_VALUES:,} values; use a smaller one")
        yield pair


def _entries() -> list[str]:
    """Return the modules and addresses that the user trusts."""
    return [entry.strip() for entry in os.environ.get(TRUSTED, "").split(",") if entry.strip()]


def _server(url: str) -> str:
    """Return scheme, host and port of an address; "" of any other text."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if not parts.scheme or not host:
        return ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{port}" if port else f"{parts.scheme}://{host}"


@cache
def _shipped_classes(group: str) -> frozenset[str]:
    """Return the classes that the options of a group name."""
    texts = [file.read_text(encoding="utf-8") for file in (CONF / group).glob("*.yaml")]
    return frozenset(name for text in texts for name in _TARGET.findall(text))


@cache
def _shipped_addresses() -> tuple[str, ...]:
    texts = [file.read_text(encoding="utf-8") for file in CONF.glob("*/*.yaml")]
    return tuple(url for text in texts for url in _ADDRESS.findall(text))
