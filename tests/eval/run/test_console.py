"""What a run shows: its progress, as a bar on a terminal and in a notebook or as plain lines in a
log file, and at its end what makes sense after it, and nothing else.
"""

import io
import json
import shlex
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from eval.records.prices import PaidCalls
from eval.rendering.terminal import progress
from eval.run import progress as run_progress
from eval.run.console import after_run, after_sweep
from eval.run.progress import RunProgress
from memsys.core.types import Usage
from memsys.llm.pricing import Price, Pricing
from tests.eval.commands import FAULTY, Run, runs_in
from tests.eval.factory import hashed


def altered(run: Run, **fields: Any) -> Any:
    """The manifest of `run` with other `fields`."""
    return hashed({**run.manifest, **fields})


@pytest.fixture
def runs(copy: Callable[[Run], Run], monkeypatch: pytest.MonkeyPatch, clean: Run) -> Path:
    """The folder of runs, with one run, in the current folder."""
    folder = copy(clean).folder.parent
    monkeypatch.chdir(folder.parents[1])
    return folder


def add(runs: Path, name: str, manifest: Any) -> Path:
    """Add a run of which only the manifest is there."""
    (runs / name).mkdir()
    (runs / name / "manifest.json").write_text(json.dumps({**manifest, "run_id": name}))
    return runs / name


def test_another_strategy_keeps_data_and_model_and_drops_settings_of_this_one(runs, clean):
    kept = "--config-dir conf dataset=locomo {}llm=openai 'llm.extra={{a: 1}}' k=5 {}"
    own = kept.format("strategy=hybrid_gate strategy.expansion.hops=2 ", "resume=r")
    graph = "graph=relations llm=openai"
    for command, strategy, expected in (
        (own, "faulty", f"eval.run {kept.format('', 'strategy=auto')}"),
        (own, "auto", f"eval.run {kept.format('', 'strategy=vector_only')}"),
        (graph, "faulty", f"eval.run {graph} strategy=vector_only"),
        ("from=last judge=llm", "faulty", f"eval report {clean.folder.name}"),
    ):
        mine = altered(clean, command=f"python -m eval.run {command}", strategy=strategy)
        first, *_ = after_run(runs / clean.folder.name, mine, clean.summary)
        assert first == f"python -m {expected}"


def test_the_newest_comparable_run_is_named(runs, clean):
    mine = runs / clean.folder.name
    config = {**clean.manifest["config"], "k": 3}
    other = altered(clean, config=config)
    add(runs, "2026-01-01_older", other)
    add(runs, "2026-01-02_newer", other)
    add(runs, "2026-01-03_same_settings", clean.manifest)
    add(runs, "2026-01-04_unfinished", {**other, "status": "interrupted"})
    add(runs, "2026-01-05_other_data", {**other, "data": []})
    add(runs, "2026-01-06_part", altered(clean, config={**config, "questions": 3}))
    (runs / "2026-01-07_not_a_run").mkdir()
    (runs / "2026-01-08_broken").mkdir()
    (runs / "2026-01-08_broken" / "manifest.json").write_text("{")
    both = f"2026-01-02_newer {clean.folder.name}"
    assert after_run(mine, clean.manifest, clean.summary) == [
        f"python -m eval compare {both}",
        f"python -m eval report {both}",
        f"python -m eval browse {clean.folder.name}",
    ]


def test_runs_elsewhere_are_named_by_their_folder(runs, clean):
    steps = after_run(clean.folder, clean.manifest, clean.summary)
    assert f"python -m eval browse {clean.folder}" in steps


def test_after_a_sweep_runs_on_the_same_data_are_compared(runs, clean):
    other_data = altered(clean, data=[{"name": "b"}])
    swept = [(runs / name, clean.manifest) for name in "ab"] + [(runs / "c", other_data)]
    assert after_sweep(swept) == [
        *(f"python -m eval {command} a b" for command in ("compare", "report", "browse")),
        *(f"python -m eval {command} c" for command in ("report", "browse")),
    ]
    assert after_sweep(swept[:2], answered=False) == ["python -m eval retrieval a b"]


def test_a_run_in_which_all_failed_says_why_and_what_to_mend(start, tmp_path, small, fault):
    patient = ("failures.stop_after=null",)
    choice = (*FAULTY, "reader=faulty", "reader.word=''", "strategy=bm25", *small, *patient)
    ended = start(*choice)
    assert ended.code == 1
    (run,) = runs_in(tmp_path)
    output, following = ended.out.split("\nNext:\n")
    remedy, command = map(str.strip, following.splitlines())
    assert "the first: ash/0: answer: " in output
    assert remedy.startswith("correct the code that ")
    assert remedy.endswith("log.txt names, and resume the run:")
    assert command == f"{run.manifest['command']} resume={run.folder.name}"
    fault.unlink()
    assert start(*shlex.split(command)[3:]).code == 0


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
