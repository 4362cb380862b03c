"""Wrong input: exit code 2, one clear line, and nothing left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval.rendering.errors import blame
from memsys.core.errors import InputError
from tests.eval import faulty
from tests.eval.commands import FAULTY, runs_in


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("strategy=nope", "strategy=nope: no such option; its options are auto, bm25, cognee, dec"),
        ("k=0", "k: 0; use a whole number of 1 or more"),
        ("dataset.path=broken.json", "broken.json: not JSON (column 2"),
        ("embedder=openai", "embedder=openai: set the variable OPENAI_API_KEY to your key"),
        ("k=${kk}", "Interpolation key 'kk' not found"),
    ],
)
def test_one_line_and_no_folder(start, tmp_path, small, argument, said):
    (tmp_path / "broken.json").write_text("[oops")
    ended = start("strategy=vector_only", *small, argument).one_line(said)
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert runs_in(tmp_path) == []


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ((*FAULTY, "strategy=faulty", "strategy.fault=construct"), "RuntimeError: cannot be made"),
        (
            ("strategy=bm25", "dataset._target_=tests.eval.faulty.FaultyDataset"),
            "KeyError: 'sessions'",
        ),
    ],
)
@pytest.mark.usefixtures("fault")
def test_a_fault_of_code_is_not_called_bad_input(start, tmp_path, small, choice, message):
    ended = start(*small, *choice)
    assert ended.code == 1
    assert ended.err.startswith(f"error: {message} (")
    assert ended.err.count("\n") == 1
    place = re.search(r"faulty\.py:(\d+)\); traceback: (.*)", ended.err)
    assert place, ended.err
    line = (Path(faulty.__file__)).read_text().splitlines()[int(place[1]) - 1]
    assert "raise" in line or "[" in line
    text = (tmp_path / place[2]).read_text()
    assert text.startswith("Traceback")
    assert message in text


def test_blame_finds_the_input_error_that_another_error_wraps():
    wrapped = RuntimeError("Error in call to target")
    wrapped.__cause__ = InputError("k: 0")
    assert blame(wrapped) == "k: 0"
    assert blame(RuntimeError("k: 0")) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"x: [", "cannot be read: while parsing a flow node"),
        (b"a: \xff", "cannot be read: 'utf-8' codec can't decode byte 0xff"),
        (b"defaults: [bad]", "cannot be read: it names itself in its defaults"),
        (b"a: 1", "strategy._target_: missing; name the class of the option"),
    ],
)
def test_a_broken_option_of_the_user_is_one_line(start, tmp_path, small, text, said):
    (tmp_path / "own" / "strategy").mkdir(parents=True)
    (tmp_path / "own" / "strategy" / "bad.yaml").write_bytes(text)
    start("--config-dir=own", "strategy=bad", *small).one_line(said)
