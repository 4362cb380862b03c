"""Import one module of a library without the rest of it, which a small run would wait for."""

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

_LOCK = RLock()


@cache
def import_alone(module: str, name: str, package: str) -> Any:
    """Return `name` of `module`, imported while empty packages stand in for its parents, from
    `package` inwards.

    They are imported as usual if they are imported already, or if the module cannot do without
    them. Afterwards all is as if nothing had been imported, except for compiled modules, which
    cannot be imported twice. No other thread may import from `package` meanwhile, but by this
    function. Raises ImportError where there is no such module.
    """
    with _LOCK:
        return _import_alone(module, name, package)


def _import_alone(module: str, name: str, package: str) -> Any:
    parts = module.split(".")
    parents = [".".join(parts[:end]) for end in range(package.count(".") + 1, len(parts))]
    before = {*sys.modules}
    if before.isdisjoint(parents):
        try:
            for parent in parents:
                spec = find_spec(parent)
                sys.modules[parent] = empty = ModuleType(package)
                empty.__path__ = [str(Path(str(spec and spec.origin)).parent)]
            return getattr(import_module(module), name)
        except (AttributeError, ImportError):
            pass  # below, with its error if that remains
        finally:
            _forget(package, before)
    return getattr(import_module(module), name)


def _forget(package: str, before: set[str]) -> None:
    """Remove from sys.modules the empty packages, and what was imported into them."""
    for name in [name for name in sys.modules if name not in before]:
        spec = getattr(sys.modules[name], "__spec__", None)
        compiled = spec is not None and isinstance(spec.loader, ExtensionFileLoader)
        if not compiled and f"{name}.".startswith(f"{package}."):
            del sys.modules[name]
