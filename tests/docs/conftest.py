"""Commands of the pages run with the vectors that all runs of the tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.eval.composing import quick_composition
from tests.eval.conftest import cache

__all__ = ["cache"]  # a fixture


@pytest.fixture(scope="package", autouse=True)
def quick(cache: Path) -> Iterator[None]:
    """Most of the time of a small run would go into its configuration and its vectors."""
    with quick_composition(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMSYS_CACHE", str(cache))
        yield
