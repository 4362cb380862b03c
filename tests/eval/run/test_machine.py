"""Faults of the machine: a full or read-only disk, a folder that cannot be, and SIGTERM."""

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval.cli import TERMINATED, code_of, dispatch
from eval.records import folder as folders
from eval.records.files import LineWriter, read_lines, write_json
from memsys.core.errors import InputError, complain
from tests.eval.commands import Run

SAME = "2026-01-01_00-00-00-000000_bm25"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a disk in memory, or mount it again, by mount's options; its folder."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")

    def mounted(options: str) -> Path:
        again = ["-o", f"remount,{options}"] if os.path.ismount(folder) else ["-o", options]
        command = [str(mount), "-t", "tmpfs", *again, "tmpfs", str(folder)]
        if mount is None or subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("no disk can be mounted here")
        return folder

    yield mounted
    if os.path.ismount(folder):
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("pages", [1, 5])
def test_a_full_disk_interrupts_a_run_which_goes_on(start, small, disk, pages, keyed):
    run = Run(disk(f"size={4 * pages}k") / "run")
    command = ("strategy=bm25", *small, f"hydra.run.dir={run.folder}")
    ended = start(*command).refused()
    assert ended.err.splitlines()[-1].startswith("error: ")
    assert "No space left on device" in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
    again = command
    if run.folder.exists():
        for name in ("records.jsonl", "ingest.jsonl"):
            list(read_lines(run.folder / name, torn=True))
        again = (*command, "resume=run")
        assert run.manifest["status"] == "interrupted"
    disk("size=1m")
    assert start(*again).code == 0
    assert run.untimed == keyed["plain"].untimed
    assert run.manifest["status"] == "complete"


@pytest.mark.parametrize("folder", ["file/x", "x" * 300])
def test_a_folder_that_cannot_be_is_one_line(start, small, tmp_path, folder):
    (tmp_path / "file").touch()
    ended = start("strategy=bm25", *small, f"hydra.run.dir={folder}").one_line()
    assert ended.err.startswith("error: ")


def test_a_read_only_disk_is_one_line(start, small, disk):
    start("strategy=bm25", *small, f"hydra.run.dir={disk('ro')}/run").one_line(
        "Read-only file system"
    )


class Full(io.FileIO):
    """A file on a disk with room for a few more bytes."""

    room = 9

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(data[: self.room])
        self.room -= taken
        return taken


def test_a_line_is_written_whole_or_not_at_all(tmp_path):
    writer = LineWriter(tmp_path / "lines")
    writer.write({"a": 1})
    writer._file = Full(tmp_path / "lines", "a")
    with pytest.raises(InputError, match=r"lines: cannot be written \(No space left on device\)"):
        writer.write({"b": "word " * 5})
    writer.close()
    assert list(read_lines(tmp_path / "lines")) == [{"a": 1}]


def test_a_manifest_is_overwritten_where_there_is_no_space_for_another(tmp_path, monkeypatch):
    path = tmp_path / "manifest.json"
    write_json(path, {"status": "running"}, spare=50)
    size = path.stat().st_size

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    write_json(path, {"status": "interrupted", "ended": "now"})
    assert path.stat().st_size == size
    assert '"interrupted"' in path.read_text()
    with pytest.raises(InputError, match="cannot be written"):
        write_json(path, {"status": "interrupted" * 9})
    assert '"ended"' in path.read_text()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_as_ctrl_c_does_but_for_its_code(sent):
    before = signal.signal(sent, signal.SIG_DFL)
    reached = []

    def job() -> None:
        os.kill(os.getpid(), sent)
        reached.append(threading.Event().wait(60))

    assert code_of(job) == TERMINATED == 143
    assert reached == []
    assert signal.signal(sent, before) == signal.SIG_DFL


@pytest.mark.parametrize(
    ("name", "hint"), [("rnu", "did you mean run? memsys lists all"), ("zzz", "memsys lists them")]
)
def test_an_unknown_command_is_answered_with_the_nearest(name, hint, capsys):
    assert dispatch([name], "memsys") == 2
    assert capsys.readouterr().err == f"error: {name}: no such command; {hint}\n"


def test_nohup_is_heeded():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert code_of(lambda: os.kill(os.getpid(), signal.SIGHUP)) == 0
    assert signal.signal(signal.SIGHUP, before) == signal.SIG_IGN


def test_a_command_ends_well_without_stdout_and_errors_are_one_call(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert code_of(lambda: print("text")) == 0
    calls: list[str] = []
    monkeypatch.setattr(sys.stderr, "write", calls.append)
    complain("a\nb")
    (tmp_path / "file").touch()
    assert code_of((tmp_path / "file" / "x").mkdir) == 2
    printed, refused = calls
    assert printed == "error: a b\n"
    assert refused.startswith(f"error: {tmp_path / 'file' / 'x'}: Not a directory")


def test_a_refused_run_leaves_the_folder_of_another_process(start, tmp_path, small, monkeypatch):
    monkeypatch.setattr(folders, "run_id", lambda strategy: SAME)
    others = tmp_path / "results" / "runs" / SAME
    others.mkdir(parents=True)
    (others / ".lock").touch()
    assert start("strategy=bm25", *small, "k=0").code == 2
    assert [path.name for path in others.parent.iterdir()] == [SAME]
    assert (others / ".lock").exists()
