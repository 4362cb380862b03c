"""YAML that a user names is read within limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memsys.errors import InputError
from memsys.text.yaml_text import load_yaml


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
        ("[" * 5_000, "nested too deep"),
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
def test_unusable_yaml_is_refused_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        load_yaml(path)
    assert "x.yaml" in str(caught.value)
    assert str(caught.value).isprintable()


def test_usable_yaml_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, y: [*a, 2.5]}\nc:\n")
    assert load_yaml(path) == {
        "a": {"x": 1},
        "b": {"x": 1, "y": [{"x": 1}, 2.5]},
        "c": None,
    }
    path.write_text("")
    assert load_yaml(path) is None


def test_a_pipe_is_no_yaml(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.yaml")
    with pytest.raises(InputError, match="is a pipe"):
        load_yaml(tmp_path / "x.yaml")
