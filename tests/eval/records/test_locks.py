"""The lock of a run folder: one holder at a time, and none after a process has died."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval.records.folder import locked
from memsys.errors import InputError

HOLD = "import sys; from pathlib import Path; from eval.records.folder import locked\n"
HOLD += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


def test_a_folder_is_locked_once_and_then_free_again(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(InputError, match="another process is writing"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        pass


def test_a_process_that_dies_frees_its_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="another process"), locked(tmp_path):
            pass
        process.kill()
        process.wait()
        with locked(tmp_path):
            pass


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: cannot be written"), locked(tmp_path / "file"):
        pass
