"""Files that are written whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.records.files import replacing
from memsys.core.errors import InputError


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_folder_is_not_replaced(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is a folder"), replacing(Path(name)):
        pass
    assert list(tmp_path.iterdir()) == []
