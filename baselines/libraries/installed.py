"""Paths of the installed memory libraries and their adapters."""

from __future__ import annotations

import os
from pathlib import Path

from memsys.errors import InputError

HERE = Path(__file__).parent
_VENVS = Path(".venv-baselines")  # in the checkout, unless MEMSYS_BASELINES is set
_STAMP = "installed"  # written by make when all requirements are installed


def names() -> list[str]:
    """Return the names of the libraries with an adapter, sorted."""
    return sorted(path.stem for path in HERE.glob("*.txt"))


def venv(name: str) -> Path:
    """Return the folder of the library's venv, whether it exists or not."""
    folder = os.environ.get("MEMSYS_BASELINES")
    return (Path(folder) if folder else HERE.parents[1] / _VENVS) / name


def is_installed(name: str) -> bool:
    """Return whether `make baseline` has succeeded for `name`."""
    return (venv(name) / _STAMP).is_file()


def python_of(name: str) -> Path:
    """Return the interpreter of the library's venv.

    Raises InputError with the command that installs it, or with the known names.
    """
    if name not in names():
        raise InputError(f"strategy.name: {name!r} is no known library; use {', '.join(names())}")
    if not is_installed(name):
        raise InputError(f"strategy={name}: not installed; make baseline NAME={name}")
    return venv(name) / "bin" / "python"


def adapter_of(name: str) -> Path:
    """Return the script that wraps the library; it runs in the library's venv."""
    return HERE / "adapters" / f"{name}.py"
