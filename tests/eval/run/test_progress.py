"""The progress bar: on a terminal and in a notebook, silent in a log file."""

from __future__ import annotations

import io
import sys
from types import ModuleType

import pytest

from eval.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(2, "question", file=stream) as bar:
        bar.update(2)
    return stream.getvalue()


def test_silent_in_a_log_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert shown(monkeypatch, io.StringIO()) == ""


def test_a_text_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert "2/2" in shown(monkeypatch, Terminal())


def test_a_text_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    assert "2/2" in shown(monkeypatch, io.StringIO())
