"""Whole runs whose model is uneven, against a greedy schedule of the same calls."""

from __future__ import annotations

import heapq
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.rendering.terminal import plain
from eval.studies.bench.generated import write_dataset
from eval.studies.bench.processes import measure_run
from eval.studies.loopback_model import PAUSE_S, Plan, loopback_model

MODEL = ("llm=openai", "reader=llm", "judge=llm", "strategy=bm25")
_PLANS = {
    "all alike": Plan(0.1),
    "3% ten times slower": Plan(0.1, slow=0.03),
    "10% HTTP 500": Plan(0.1, failing=0.1),
}
_CONVERSATIONS, _QUESTIONS = 24, 10
_NUMBER = re.compile(r"\(q(\d+)\)")  # of a generated question


def schedules() -> Iterator[str]:
    """Yield a table of the seconds from the first request of a run to its last reply, at two
    concurrencies, beside those of the ideal schedule.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = write_dataset(Path(folder) / "made.json", _CONVERSATIONS, _QUESTIONS)
        for name, plan in _PLANS.items():
            for concurrency in (4, 16):
                log = Path(folder) / f"{name} {concurrency}"
                with loopback_model(replace(plan, log=log)) as base_url:
                    arguments = [*MODEL, f"llm.base_url={base_url}", f"dataset.path={path}", "k=5"]
                    at_once = [f"concurrency={concurrency}", f"llm.concurrency={concurrency}"]
                    measure_run([*arguments, *at_once], Path(folder) / f"cache {log.name}")
                attempts = [json.loads(line) for line in log.read_text().splitlines()]
                seconds = max(a["ended"] for a in attempts) - min(a["began"] for a in attempts)
                ideal = greedy_seconds(durations(attempts), concurrency)
                row = [name, str(concurrency), str(len(attempts)), f"{seconds:.2f}"]
                rows.append([*row, f"{ideal:.2f}", f"{seconds / ideal:.2f}"])
    yield (
        f"{_CONVERSATIONS * _QUESTIONS} questions of {_CONVERSATIONS} conversations, reader and "
        "judge of 100 ms each; from the first request to the last reply"
    )
    yield plain(["model", "at once", "attempts", "s", "ideal s", "ratio"], rows)


def durations(attempts: Iterable[Mapping[str, Any]]) -> list[float]:
    """Return the seconds of each question: its `attempts`, and a pause after each failed one."""
    found: dict[int, float] = {}
    for attempt in attempts:
        match = _NUMBER.search(json.dumps(attempt["body"]["messages"]))
        if match is None:
            raise ValueError("durations: a request without a generated question")
        pause = PAUSE_S if attempt["status"] != 200 else 0.0
        taken = attempt["ended"] - attempt["began"] + pause
        found[int(match[1])] = found.get(int(match[1]), 0.0) + taken
    return [found[number] for number in sorted(found)]


def greedy_seconds(jobs: Iterable[float], workers: int) -> float:
    """Return the end of the last of `jobs` if each starts, in order, on the first free worker."""
    free = [0.0] * workers
    for seconds in jobs:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)
