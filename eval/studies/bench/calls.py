"""Throughput of calls to a model: live, replayed, and by several processes on one recording."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eval.studies.loopback_model import Plan, loopback_model
from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording

_DELAY_S, _CONCURRENCY = 0.2, 16
_PROCESSES, _THREADS, _UNIQUE = 4, 8, 40
_PROMPT = "Answer from these memories alone. " + "Someone told someone else about a journey. " * 50


def calls(count: int = 800) -> Iterator[str]:
    """Yield the rate of `count` live calls against the ideal, and that of replayed ones."""
    yield f"prompts of {len(_PROMPT):,} characters"
    with tempfile.TemporaryDirectory() as folder, loopback_model(Plan(_DELAY_S)) as base_url:
        _seconds(_client(Path(folder) / "warm", base_url), 1, 1)  # loads the libraries
        ideal = _CONCURRENCY / _DELAY_S
        for mode in ("off", "auto"):
            rate = count / _seconds(_client(Path(folder), base_url, mode), count, _CONCURRENCY)
            yield (
                f"live, {mode}: {rate:.1f} calls/s at concurrency {_CONCURRENCY} and "
                f"{_DELAY_S * 1000:.0f} ms per answer; {rate / ideal:.1%} of the ideal {ideal:.0f}"
            )
        for threads in (1, _CONCURRENCY):
            rate = count / _seconds(_client(Path(folder), base_url, "replay"), count, threads)
            yield f"replayed, {threads} threads: {rate:,.0f} calls/s"
        rows, seconds = _shared(Path(folder) / "shared", base_url)
    asked = _PROCESSES * _THREADS * _UNIQUE
    yield (
        f"{_PROCESSES} processes x {_THREADS} threads on one file: {asked:,} calls for "
        f"{_UNIQUE} requests in {seconds:.1f} s, {rows} answers recorded"
    )


def _client(folder: Path, base_url: str, mode: Mode = "auto") -> ChatClient:
    settings = ChatSettings(model="loopback", base_url=base_url, concurrency=_CONCURRENCY)
    return settings.open(Recording(folder, mode), Meter())


def _messages(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{_PROMPT} Question {number}?"}]


def _seconds(client: ChatClient, count: int, threads: int) -> float:
    """Return the seconds that `threads` threads take for `count` different calls."""
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        for _ in pool.map(lambda number: client.complete(_messages(number)), range(count)):
            pass
        return time.perf_counter() - started


def _shared(folder: Path, base_url: str) -> tuple[int, float]:
    """Return rows recorded and seconds after all threads of all processes made the same calls."""
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_ask_all, args=(folder, base_url)) for _ in range(_PROCESSES)]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - started
    return sum(row[2] for row in Recording(folder).totals()), seconds


def _ask_all(folder: Path, base_url: str) -> None:
    client = _client(folder, base_url)
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in range(_THREADS):
            pool.map(lambda number: client.complete(_messages(number)), range(_UNIQUE))
