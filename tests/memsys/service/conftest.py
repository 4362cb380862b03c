import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memsys.service import configuration, setup
from memsys.service.configuration_source import OPTIONS
from memsys.service.memory import Memory
from tests.memsys.service.made import memory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory without a model."""
    with memory(tmp_path) as made:
        yield made


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configurations may name the embedders of the tests."""
    monkeypatch.setenv("MEMSYS_TRUSTED", "tests.memsys.build")


_compose = configuration.composed


@cache
def _composed(wanted: str) -> dict[str, Any]:
    return _compose(json.loads(wanted), "test")


@pytest.fixture
def composed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The options of conf/ are composed once a process: Hydra needs most of a test's time."""

    def composed(wanted: Any, where: str) -> dict[str, Any]:
        named = {n: v for n, v in wanted.items() if n in OPTIONS}
        named = {n: v for n, v in named.items() if isinstance(v, str)}
        return {**wanted, **deepcopy(_composed(json.dumps(named)))}

    for module in (configuration, setup):
        monkeypatch.setattr(module, "composed", composed)
