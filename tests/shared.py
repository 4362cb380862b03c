"""Folders that all workers of a test session share."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no proxy is set: import it where no test wants the user's."""
    for name in ("OPENAI_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


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
