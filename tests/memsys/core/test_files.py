"""Files that a user names: regular, of limited size, UTF-8, and no gzip bomb."""

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest

from memsys.core import files
from memsys.core.errors import InputError
from memsys.core.files import is_there, read_bytes, read_text, shown, unpacked_chunks


def test_text_is_read_gzipped_or_not(tmp_path):
    for data in (b"a\r\n", gzip.compress(b"a\r\n"), b"\xef\xbb\xbfa\r\n"):
        (tmp_path / "x").write_bytes(data)
        assert read_text(tmp_path / "x") == "a\r\n"


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_SMALL", 1 << 20)
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(60):
            file.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"bomb\.gz: [0-9,]+ bytes of gzip unpack to more than"):
        read_text(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
    path.write_bytes(gzip.compress(b"abc " * 10_000))
    assert len(read_text(path)) == 40_000
    with pytest.raises(InputError, match="unpack to more than 30,000;"):  # the caller's limit
        read_text(path, 30_000)


def test_only_regular_files_of_limited_size_are_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(InputError, match="name a regular file"):
            read_bytes(path)
        assert is_there(path)
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(files.MOST + 1)
    with pytest.raises(InputError, match=r"sparse: has 4,294,967,297 bytes; at most"):
        read_bytes(sparse)


def test_what_cannot_be_a_path_is_one_line():
    for name in ("a" * 300, "a\x00b", "\ud800"):
        with pytest.raises(InputError, match="cannot be read") as caught:
            read_bytes(Path(name))
        assert str(caught.value).isprintable()
        with pytest.raises(InputError, match="cannot be read"):
            is_there(Path(name))
    assert shown("a\nb\ud800") == "a\\nb\\ud800"
    assert shown("x" * 400, 10) == "x" * 10 + "..."


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_unpacked_in_chunks(packed, tmp_path):
    data = bytes(range(256)) * 40
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(data) if packed else data)
    chunks = list(unpacked_chunks(path, size=1_000))
    assert b"".join(chunks) == data
    assert {len(chunk) for chunk in chunks} <= {1_000, 240}
    with pytest.raises(InputError, match=r"at most 50|more than 50"):
        list(unpacked_chunks(path, most=50))
