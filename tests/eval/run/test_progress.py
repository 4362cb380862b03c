"""The progress of a run: a bar on a terminal and in a notebook, plain lines in a log file."""

import io
import sys
import threading
from types import ModuleType

import pytest

from eval.cli import progress
from eval.records.prices import PaidCalls
from eval.run import progress as run_progress
from eval.run.progress import RunProgress
from memsys.core.types import Usage
from memsys.llm.pricing import Price, Pricing

PRICES = Pricing({"dear": Price(1.0, 2.0)})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)


@pytest.mark.parametrize(
    ("stream", "modules", "is_shown"),
    [
        (io.StringIO(), {}, False),  # a log file
        (Terminal(), {}, True),
        (io.StringIO(), {"ipykernel": ModuleType("ipykernel")}, True),  # a notebook
    ],
)
def test_a_text_bar_on_a_terminal_and_in_a_notebook(monkeypatch, stream, modules, is_shown):
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(2, "question", file=stream) as bar:
        bar.update(2)
        bar.refresh()
    text = stream.getvalue()
    assert ("2/2" in text) is is_shown
    assert "\n" not in text, "the bar is erased at its end"
    assert text.rpartition("\r")[2] == ""


def test_dollars_are_shown_and_tokens_without_a_price_are_not_0_dollars(tmp_path):
    paid = PaidCalls(tmp_path)
    assert (paid.added, paid.spent(PRICES)) == (False, "")
    paid.note("dear", Usage(1, 1_000_000, 100_000))
    paid.note("dear", Usage(1, 1_000_000, 0))
    assert (paid.added, paid.spent(PRICES)) == (True, "$2.2000")
    paid.note("unknown", Usage(1, 3_000, 400))
    assert paid.spent(PRICES) == "$2.2000 + 3,400 tokens without a price"
    unpriced = PaidCalls(tmp_path)
    unpriced.note("unknown", Usage(1, 3_000, 400))
    assert unpriced.spent(PRICES) == "3,400 tokens without a price"


def test_the_bar_shows_errors_dollars_and_the_session(monkeypatch, tmp_path):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    paid = PaidCalls(tmp_path)
    progress_of_run = RunProgress(9, 3, paid, PRICES)
    with progress_of_run.shown():
        progress_of_run.at("conv-26: session 3 of 19")
        paid.note("dear", Usage(1, 1_000_000, 0))
        progress_of_run.step(failed=True)
        progress_of_run.step(failed=False)
    text = terminal.getvalue()
    assert "conv-26: session 3 of 19" in text
    assert "5/9" in text
    assert "1 error, $1.0000" in text


def test_the_bar_is_redrawn_while_nothing_ends(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(run_progress, "_ALIVE_S", 0.01)
    redrawn = threading.Event()
    progress_of_run = RunProgress(9, 3, None, PRICES)
    with progress_of_run.shown():
        monkeypatch.setattr(progress_of_run._bar, "refresh", redrawn.set)
        assert redrawn.wait(5)


class Writes(io.StringIO):
    """A log file that notes each write, and when the second line is there."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []
        self.second = threading.Event()

    def write(self, text: str) -> int:
        self.writes.append(text)
        if len(self.writes) == 2:
            self.second.set()
        return len(text)


def test_lines_in_a_log_file_also_while_nothing_happens(monkeypatch):
    log = Writes()
    monkeypatch.setattr(sys, "stderr", log)
    for name in ("FIRST_S", "_EVERY_S", "_APART_S"):
        monkeypatch.setattr(run_progress, name, 0.01)
    progress_of_run = RunProgress(9, 3, None, PRICES)
    with progress_of_run.shown():
        progress_of_run.at("conv-26: session 3 of 19")
        progress_of_run.step(failed=True)
        assert log.second.wait(60)
    assert log.writes[1] == "conv-26: session 3 of 19, 4 of 9 questions, 1 error, 0:00:00\n"
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in log.writes)


def test_a_short_run_writes_no_line(monkeypatch):
    log = Writes()
    monkeypatch.setattr(sys, "stderr", log)
    progress_of_run = RunProgress(9, 0, None, PRICES)
    with progress_of_run.shown():
        for number in range(9):
            progress_of_run.at(f"conv-{number}")
            progress_of_run.step(failed=False)
    assert log.writes == []
