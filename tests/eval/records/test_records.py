"""Lines on disk: what a kill leaves can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.records.folder import run_id
from eval.records.jsonl import LineWriter, read_lines, write_json, write_lines
from eval.records.manifest import command
from memsys.errors import InputError


@pytest.mark.parametrize("torn", ["", "{", '{"a": 2', '{"a": "\N{SNOWMAN}'])
def test_a_torn_line_is_cut_off_before_the_next(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "lines"
    path.write_bytes(('{"a": 1}\n' + torn).encode()[: -1 if torn.endswith("\N{SNOWMAN}") else None])
    writer = LineWriter(path)
    writer.write({"a": 3})
    writer.close()
    assert list(read_lines(path)) == [{"a": 1}, {"a": 3}]


def test_a_line_is_on_disk_when_written(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "lines")
    writer.write({"a": "\N{SNOWMAN}"})
    assert list(read_lines(tmp_path / "lines")) == [{"a": "\N{SNOWMAN}"}]
    writer.close()


def test_no_file_is_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(tmp_path / "none")) == []


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text('{"a": 1}\n{"a"\n')
    with pytest.raises(InputError, match="lines: line 2 is not JSON"):
        list(read_lines(tmp_path / "lines"))


def test_nan_is_never_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a", {"x": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        write_lines(tmp_path / "a", [{"x": float("inf")}])
    assert (tmp_path / "a").read_text() == "old"


def test_command_is_quoted_for_a_shell() -> None:
    assert command(["dataset.types=[temporal, multi_hop]"], []) == (
        "python -m eval.run 'dataset.types=[temporal, multi_hop]'"
    )


def test_command_of_one_run_of_a_sweep() -> None:
    arguments = ["--config-dir", "mine", "-m", "strategy=a,b", "+x=1,2", "hydra.sweep.dir=there"]
    assert command(arguments, ["strategy=b", "+x=1"]) == (
        "python -m eval.run --config-dir mine strategy=b +x=1 hydra.sweep.dir=there"
    )


def test_run_ids() -> None:
    assert run_id("bm25") != run_id("bm25")
    assert run_id("bm25").endswith("_bm25")
