"""What engines outside of this package need: their Python package, and secrets of a server."""

from __future__ import annotations

import os
from importlib.util import find_spec

from memsys.core.errors import InputError


def check_installed(package: str, option: str, extra: str) -> None:
    """Raise InputError naming `option` and the `extra` to install if `package` is missing."""
    if find_spec(package) is None:
        raise InputError(f"{option}: not installed; pip install -e '.[{extra}]'")


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
