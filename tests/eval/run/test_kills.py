"""Kills at random moments lose, double and change nothing, and pay for no answer twice."""

import signal
import sqlite3
import subprocess
import sys
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from eval.bench.runs import loopback_model, write_dataset
from eval.records.files import INGEST, RECORDS, read_lines
from memsys.llm.recording import CALLS, key_of
from tests.eval.commands import TIMINGS, run_main

QUESTIONS, DELAY_S = 10, 0.03
MODEL = ("strategy=bm25", "k=5", "llm=openai", "reader=llm", "judge=llm")
AT_ONCE = ("concurrency=8", "llm.concurrency=8")


class KilledRun:
    """A run that asks a model and is killed by SIGKILL again and again, in `folder`."""

    def __init__(self, folder: Path, arguments: Sequence[str], conversations: int) -> None:
        self.folder, self.arguments = folder, arguments
        self.requests = 2 * conversations * QUESTIONS  # of reader and judge
        self.recorded: dict[str, float] = {}  # keys of answers, and since when they are there
        self.kills: list[float] = []

    def complete(self, most: int, random: Random) -> None:
        """Kill the run at most `most` times, and let it end."""
        while len(self.kills) < most:
            left = self.requests - len(self.recorded)
            moment = self._sent() + random.randrange(max(left // 2, 1))
            process = self._start()
            while process.poll() is None and self._sent() < moment:
                time.sleep(0.001)
            time.sleep(random.uniform(0, 2 * DELAY_S))
            process.send_signal(signal.SIGKILL)
            if process.wait() == 0:
                return
            self.kills.append(time.time())
            time.sleep(2 * DELAY_S)  # the server still answers what was under way
            for key in self._keys():
                self.recorded.setdefault(key, time.time())
        run_main(self.folder, self.folder / "cache", *self._command()).ok()

    def paid_twice(self) -> int:
        """How many requests began after their answer was recorded, or were sent twice between two
        kills. An answer that was under way at a kill may be asked for again.
        """
        sent: Counter[tuple[str, int]] = Counter()
        twice = 0
        for one in read_lines(self.folder / "log"):
            key = key_of("POST", "/v1/chat/completions", one["body"], 0)
            twice += one["began"] > self.recorded.get(key, float("inf"))
            sent[key, bisect(self.kills, one["began"])] += 1
        return twice + sum(times - 1 for times in sent.values())

    def records(self) -> list[dict[str, Any]]:
        lines = read_lines(self.folder / "run" / RECORDS)
        return [{k: v for k, v in one.items() if k not in TIMINGS} for one in lines]

    def _command(self) -> list[str]:
        begun = (self.folder / "run" / "manifest.json").exists()
        return [*self.arguments, *["resume=run"] * begun]

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "eval.run", *self._command()]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _sent(self) -> int:
        log = self.folder / "log"
        return log.read_bytes().count(b"\n") if log.exists() else 0

    def _keys(self) -> Iterator[str]:
        path = self.folder / "cache" / CALLS
        if path.exists():
            with closing(sqlite3.connect(path)) as db:
                yield from (key for (key,) in db.execute("SELECT key FROM calls"))


def completed(folder: Path, conversations: int, kills: int, random: Random) -> KilledRun:
    folder.mkdir()
    path = write_dataset(folder / "made.json", conversations, QUESTIONS)
    with loopback_model(DELAY_S, folder / "log") as base_url:
        arguments = [*MODEL, *AT_ONCE, f"dataset.path={path}", f"llm.base_url={base_url}"]
        arguments += [f"cache={folder / 'cache'}", f"hydra.run.dir={folder / 'run'}"]
        run = KilledRun(folder, arguments, conversations)
        run.complete(kills, random)
    return run


@pytest.mark.parametrize(
    ("conversations", "kills", "seed"),
    [(3, 1, 1), pytest.param(12, 20, 2, marks=pytest.mark.soak)],
)
def test_a_killed_run_ends_as_an_undisturbed_one(tmp_path, conversations, kills, seed, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    random = Random(seed)  # noqa: S311 - no secret
    undisturbed = completed(tmp_path / "clean", conversations, 0, random)
    clean = {one["id"]: one for one in undisturbed.records()}
    killed = number = 0
    while killed < kills:
        run = completed(tmp_path / f"run {number}", conversations, kills - killed, random)
        killed, number = killed + len(run.kills), number + 1
        found = run.records()
        assert len(found) == len(clean)  # none lost, none doubled
        assert {one["id"]: one for one in found} == clean
        lines = read_lines(run.folder / "run" / INGEST)
        steps = Counter((one["conversation"], one["phase"], one["session"]) for one in lines)
        assert set(steps.values()) == {1}
        assert run.paid_twice() == 0
