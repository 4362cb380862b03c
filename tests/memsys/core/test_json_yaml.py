"""JSON, YAML and files of others are read whole and within limits, or refused with the reason."""

import gzip
import json
import math
import os
import tracemalloc
from itertools import product
from pathlib import Path

import pytest

from memsys.core import files
from memsys.core.errors import InputError
from memsys.core.files import is_there, read_bytes, read_text, shown
from memsys.core.json_text import DEPTH, check_json, parse_json
from memsys.core.yaml_text import load_yaml


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": ["\\ud800"]}', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ("[" * 100_000, "nested more than 100 deep"),
        ("[" * 900 + "]" * 900, "nested more than 100 deep"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested more than 100 deep"),
        ("9" * 5_000, "an integer beyond the range of 64 bits"),
        ("[9223372036854775808]", "an integer beyond the range of 64 bits"),
        ("1e999", "a number beyond the range of 64 bits"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("-Infinity", "a number beyond the range of 64 bits"),
        (b'"\xff"', "can't decode byte 0xff"),
        ("{", "Expecting property name"),
        ("", "Expecting value"),
        # The place of a wrong value is named.
        ('{"a": [1, {"b": "\\ud800"}]}', r"^a\[1\]\.b: an unpaired surrogate, \\ud800,"),
        ('[{"\\udfff": 1}]', r"^\[0\]: an unpaired surrogate, \\udfff,"),
        ('{"a": {"b": NaN}, "c": 1}', r"^a\.b: NaN is not JSON$"),
        ('{"a": [2, 3' + "9" * 50 + "]}", r"^a\[1\]: an integer beyond"),
    ],
)
def test_unusable_json_is_refused_with_one_line(text, reason):
    with pytest.raises(ValueError, match=reason) as error:
        parse_json(text)
    assert "\n" not in str(error.value)


def test_repeated_keys_are_refused_and_nan_is_accepted_on_request():
    text = '{"a": 1, "b": {"c": 1, "c": 2}}'
    assert parse_json(text) == {"a": 1, "b": {"c": 2}}
    with pytest.raises(ValueError, match="key 'c' occurs twice in one object"):
        parse_json(text, unique=True)
    assert math.isnan(parse_json("[NaN]", nan=True)[0])
    check_json({math.nan: 1}, nan=True)
    with pytest.raises(ValueError, match="beyond the range"):
        parse_json("[Infinity]", nan=True)


def test_every_unpaired_surrogate_among_other_escapes_is_found():
    parts = ("\\ud83d", "\\ude00", "\\uDBFF", "\\\\", "\\\\ud83d", "\\u2019", "a")
    refused = 0
    for chosen in product(parts, repeat=4):
        text = '"' + "".join(chosen) + '"'
        paired = json.loads(text).encode(errors="replace").decode() == json.loads(text)
        if paired:
            assert parse_json(text) == json.loads(text)
        else:
            refused += 1
            with pytest.raises(ValueError, match="surrogate"):
                parse_json(text)
    assert refused > 1_000


def test_usable_json_is_returned():
    nested = "[" * DEPTH + "]" * DEPTH
    text = f'{{"pair": "\\ud83d\\ude00", "least": -9223372036854775807, "deep": {nested}}}'
    value = parse_json(text)
    assert value["pair"] == "\N{GRINNING FACE}"
    assert value["least"] == -(2**63 - 1)
    check_json({"a": [1, 2.5, None, True, "x"]})  # without text
    with pytest.raises(ValueError, match="surrogate"):
        check_json(["\udc80"])


def _laughs(merge: str) -> str:
    """Nine levels of nine aliases each."""
    lines = ["a0: &a0 {x: 1}"]
    for n in range(1, 10):
        aliases = ", ".join([f"*a{n - 1}"] * 9)
        lines.append(f"a{n}: &a{n} " + merge.format(aliases))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_laughs("[{}]"), "more than 200,000 values once its aliases are replaced"),
        (_laughs("{{<<: [{}]}}"), "more than 200,000 values once its aliases are replaced"),
        ("&a [*a]", "an alias stands for a value that contains it"),
        ("[" * 1_500, "nested too deep"),
        ("[" * 150 + "]" * 150, "nested more than 100 deep"),
        ("a: " + "9" * 5_000, "not YAML: "),
        ("a: .nan", "a: NaN is not JSON"),
        ("a: .inf", "a: a number beyond"),
        ('a: "\\ud800"', "unpaired surrogate|not YAML"),
        ("a: 1\na: 2", "key 'a' occurs twice"),
        ("a: 2023-13-99", "not YAML"),
        ("a: [", "not YAML"),
        ("--- a\n--- b", "not YAML"),
        ("a: !!python/object/apply:os.system [x]", "not YAML"),
        ("? [1]\n: 2", "not YAML"),
        ("a: \x01", "not YAML"),
    ],
)
def test_unusable_yaml_is_refused_in_one_line(text, says, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        load_yaml(path)
    assert "x.yaml" in str(caught.value)
    assert str(caught.value).isprintable()


def test_usable_yaml_is_returned(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, y: [*a, 2.5]}\nc:\n")
    assert load_yaml(path) == {"a": {"x": 1}, "b": {"x": 1, "y": [{"x": 1}, 2.5]}, "c": None}
    path.write_text("")
    assert load_yaml(path) is None


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
