"""A pin made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.regress.pins import Pin
from tests.eval.regress.made import outcome


@pytest.fixture
def pin(tmp_path: Path) -> Pin:
    """Expects outcome(); one question's worth may move."""
    path = tmp_path / "made.yaml"
    path.write_text("# a pin made by hand\ncommand: python -m eval.run strategy=bm25\n")
    return Pin(path, "python -m eval.run strategy=bm25", 1.0, outcome())
