"""Where the libraries are installed, and how to install one."""

from __future__ import annotations

import os
from pathlib import Path

from memsys.errors import InputError

HERE = Path(__file__).parent
_VENVS = Path(".venv-baselines")  # in the checkout; elsewhere by the variable MEMSYS_BASELINES
_STAMP = "installed"  # written by make when all of the requirements are there


def names() -> list[str]:
    """The libraries that there is an adapter for, by name."""
    return sorted(path.stem for path in HERE.glob("*.txt"))


def venv(name: str) -> Path:
    """The folder of the library's venv, whether it is there or not."""
    own = os.environ.get("MEMSYS_BASELINES")
    return (Path(own) if own else HERE.parents[1] / _VENVS) / name


def is_installed(name: str) -> bool:
    """Whether `make baseline` has come to its end for `name`."""
    return (venv(name) / _STAMP).is_file()


def python_of(name: str) -> Path:
    """The interpreter of the library's venv. Raises InputError with the command that installs it,
    or with the names there are.
    """
    if name not in names():
        raise InputError(f"strategy.name: {name!r} is no known library; use {', '.join(names())}")
    if not is_installed(name):
        raise InputError(f"strategy={name}: not installed; make baseline NAME={name}")
    return venv(name) / "bin" / "python"


def adapter_of(name: str) -> Path:
    """The script that knows the library; it runs in the library's venv."""
    return HERE / "adapters" / f"{name}.py"
