from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.memsys.build import MakeParts, make_parts


@pytest.fixture
def parts(tmp_path: Path) -> MakeParts:
    """`make_parts` with a fresh cache folder."""
    return partial(make_parts, tmp_path / "cache")
