"""What all tests of runs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.eval.composing import quick_composition


@pytest.fixture(scope="package", autouse=True)
def quick() -> Iterator[None]:
    """Most of the time of a small run would go into its configuration."""
    with quick_composition():
        yield
