"""Folders that all workers of a test session share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder `name`, which `make` fills once a session, in the first worker that asks.

    Tests read it and change nothing in it. If `make` raises, the next worker that asks tries again.
    """
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = root / f"shared-{name}", root / f"shared-{name}.done"
    with FileLock(root / f"shared-{name}.lock"):
        if not done.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            done.touch()
    return folder
