"""`python -m eval.studies.kills`: runs that are killed and resumed, against an undisturbed one.

Each run asks a model on the loopback address at concurrency 8, is killed by SIGKILL at a random
moment, resumed, killed again and so on until it is complete. Prints how many records were lost,
doubled or different, and how many requests were sent although their answer had been recorded.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from eval.cli import code_of, parser
from eval.records.jsonl import INGEST, RECORDS, read_lines
from eval.studies.bench.generated import write_dataset
from eval.studies.loopback_model import Plan, loopback_model
from memsys.llm.meter import key_of
from memsys.llm.recording import CALLS

_CONVERSATIONS, _QUESTIONS = 12, 10
_DELAY_S = 0.03
_PATH = "/v1/chat/completions"
_MEASURED = {
    "latency_ms",
    "latency_source",
    "waited_ms",
    "recorded",
}  # differs between any two runs
_MODEL = ("strategy=bm25", "k=5", "llm=openai", "reader=llm", "judge=llm")
_AT_ONCE = ("concurrency=8", "llm.concurrency=8")


@dataclass(slots=True)
class Damage:
    """What kills did to the records and the requests of runs; all but `kills` should be 0.

    `paid_twice`: requests that were sent although the answer to them had been recorded. An answer
    that was under way at a kill may be asked for again.
    """

    kills: int = 0
    lost: int = 0
    doubled: int = 0
    different: int = 0
    paid_twice: int = 0

    def add_records(self, found: Sequence[Mapping[str, Any]], clean: Mapping[str, Any]) -> None:
        """Compare the records of a completed run with those of the undisturbed one, by id."""
        times = Counter(record["id"] for record in found)
        self.lost += sum(id_ not in times for id_ in clean)
        self.doubled += sum(count - 1 for count in times.values())
        self.different += sum(_untimed(record) != clean.get(record["id"]) for record in found)


@dataclass(slots=True)
class _Killed:
    """One run that is killed again and again, in its folder, by its command."""

    folder: Path
    arguments: Sequence[str]
    random: Random
    damage: Damage
    known: dict[str, float] = field(default_factory=dict)  # recorded keys, and since when
    killed: list[float] = field(default_factory=list)  # when

    def complete(self, most: int) -> None:
        """Kill the run at most `most` times and then let it end."""
        for _ in range(most):
            if self._ends_before_the_kill():
                return
        ended = _start(self.folder, [*self.arguments, *self._resume()]).wait()
        if ended != 0:
            raise RuntimeError(f"the resumed run left with {ended}: {_log(self.folder)}")

    def _resume(self) -> list[str]:
        return ["resume=run"] if (self.folder / "run" / "manifest.json").exists() else []

    def _ends_before_the_kill(self) -> bool:
        left = 2 * _CONVERSATIONS * _QUESTIONS - len(self.known)
        moment = _lines(self.folder / "log") + self.random.randrange(max(left // 2, 1))
        process = _start(self.folder, [*self.arguments, *self._resume()])
        while process.poll() is None and _lines(self.folder / "log") < moment:
            time.sleep(0.001)
        time.sleep(self.random.uniform(0, 2 * _DELAY_S))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            return True
        self.damage.kills += 1
        self.killed.append(time.time())
        time.sleep(2 * _DELAY_S)  # the server still answers what was under way
        for key in _recorded(self.folder / "cache"):
            self.known.setdefault(key, time.time())
        return False

    def paid_twice(self) -> int:
        """Return how many requests began after their answer had been recorded, or were sent twice
        by one process.
        """
        sent: Counter[tuple[str, int]] = Counter()
        twice = 0
        for attempt in read_lines(self.folder / "log"):
            key, began = key_of("POST", _PATH, attempt["body"], 0), attempt["began"]
            twice += began > self.known.get(key, float("inf"))
            sent[key, bisect(self.killed, began)] += 1
        return twice + sum(times - 1 for times in sent.values())


def kills(most: int, folder: Path, seed: int = 0) -> Damage:
    """Kill runs in `folder` until `most` kills were done; return the damage."""
    damage, random = Damage(), Random(seed)  # noqa: S311 - no secret
    path = write_dataset(folder / "made.json", _CONVERSATIONS, _QUESTIONS)
    clean: dict[str, Any] = {}
    for number in count():
        if clean and damage.kills >= most:
            break
        run = folder / f"run {number}"
        run.mkdir()
        with loopback_model(Plan(_DELAY_S, log=run / "log")) as base_url:
            arguments = [*_MODEL, *_AT_ONCE, f"dataset.path={path}", f"llm.base_url={base_url}"]
            arguments += [f"cache={run / 'cache'}", f"hydra.run.dir={run / 'run'}"]
            one = _Killed(run, arguments, random, damage)
            one.complete(most - damage.kills if clean else 0)  # the first one is undisturbed
        records = list(read_lines(run / "run" / RECORDS))
        clean = clean or {record["id"]: _untimed(record) for record in records}
        damage.add_records(records, clean)
        steps = Counter(map(json.dumps, map(_step, read_lines(run / "run" / INGEST))))
        damage.doubled += sum(times - 1 for times in steps.values())
        damage.paid_twice += one.paid_twice()
    return damage


def _step(line: Mapping[str, Any]) -> list[Any]:
    return [line["conversation"], line["phase"], line["session"]]


def _untimed(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in _MEASURED}


def _start(folder: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "eval.run", *arguments],
            stdout=output,
            stderr=output,
            env={**os.environ, "OPENAI_API_KEY": "none"},
        )


def _log(folder: Path) -> str:
    return (folder / "output").read_text(errors="replace")


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _recorded(cache: Path) -> Iterator[str]:
    path = cache / CALLS
    if path.exists():
        with closing(sqlite3.connect(path)) as db:
            yield from (key for (key,) in db.execute("SELECT key FROM calls"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, compare and print; return the exit code, 1 if there was any damage."""
    options = parser("studies.kills", "Kill runs at random moments, resume them, and compare.")
    options.add_argument("--kills", type=int, default=50, help="default: 50")
    options.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    given = options.parse_args(arguments)

    def kill() -> int:
        with tempfile.TemporaryDirectory() as folder:
            damage = kills(given.kills, Path(folder), given.seed)
        print(
            f"{damage.kills} kills: {damage.lost} records lost, {damage.doubled} doubled, "
            f"{damage.different} different, {damage.paid_twice} answers paid for twice"
        )
        return int((damage.lost, damage.doubled, damage.different, damage.paid_twice) != (0,) * 4)

    return code_of(kill)


if __name__ == "__main__":
    sys.exit(main())
