"""`python -m eval.studies.bench_llm`: throughput of the LLM client, for live and replayed calls.

Prints figures and asserts nothing: machines are noisy. The server is a separate process on the
loopback address that answers after a fixed time, so any loss of throughput is the client's.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eval.cli import parser
from eval.studies.steady_server import steady_server
from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording

_DELAY_S, _CONCURRENCY = 0.2, 16
_PROCESSES, _THREADS, _UNIQUE = 4, 8, 40
_PROMPT = "Answer from these memories alone. " + "Someone told someone else about a journey. " * 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    options = parser(
        "studies.bench_llm",
        "Measure the throughput of live and replayed LLM calls on this machine, with a local "
        "server that answers after a fixed time.",
    )
    options.add_argument("--calls", type=int, default=800, help="live calls (default: 800)")
    calls = options.parse_args(arguments).calls
    print(f"{os.cpu_count()} cores, prompts of {len(_PROMPT):,} characters")
    with tempfile.TemporaryDirectory() as folder, steady_server(_DELAY_S) as base_url:
        _seconds(_client(Path(folder) / "warm", base_url), 1, 1)  # loads the libraries
        ideal = _CONCURRENCY / _DELAY_S
        for mode in ("off", "auto"):
            rate = calls / _seconds(_client(Path(folder), base_url, mode), calls, _CONCURRENCY)
            print(
                f"live, {mode}: {rate:.1f} calls/s at concurrency {_CONCURRENCY} and "
                f"{_DELAY_S * 1000:.0f} ms per answer; {rate / ideal:.1%} of the ideal {ideal:.0f}"
            )
        for threads in (1, _CONCURRENCY):
            rate = calls / _seconds(_client(Path(folder), base_url, "replay"), calls, threads)
            print(f"replayed, {threads} threads: {rate:,.0f} calls/s")
        rows, seconds = _shared(Path(folder) / "shared", base_url)
        asked = _PROCESSES * _THREADS * _UNIQUE
        print(
            f"{_PROCESSES} processes x {_THREADS} threads on one file: {asked:,} calls for "
            f"{_UNIQUE} requests in {seconds:.1f} s, {rows} answers recorded"
        )
    return 0


def _client(folder: Path, base_url: str, mode: Mode = "auto") -> ChatClient:
    settings = ChatSettings(model="steady", base_url=base_url, concurrency=_CONCURRENCY)
    return settings.open(Recording(folder, mode), Meter())


def _messages(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{_PROMPT} Question {number}?"}]


def _seconds(client: ChatClient, calls: int, threads: int) -> float:
    """Seconds that `threads` threads take for `calls` different calls."""
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        for _ in pool.map(lambda number: client.complete(_messages(number)), range(calls)):
            pass
        return time.perf_counter() - started


def _shared(folder: Path, base_url: str) -> tuple[int, float]:
    """Recorded rows and seconds after all threads of all processes made the same calls."""
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


if __name__ == "__main__":
    raise SystemExit(main())
