"""The version of the package, as installed."""

from __future__ import annotations

from importlib import metadata

import pytest

import memsys


def test_it_is_that_of_the_installed_package_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", lambda name: f"1.2 of {name}")
    assert memsys.__version__ == "1.2 of memsys"
    monkeypatch.setattr(metadata, "version", missing)
    assert memsys.__version__ == "0+unknown"
