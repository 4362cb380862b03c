"""Whole runs: growth with the data, the share of the harness; counting tokens, and model calls."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from statistics import median
from threading import Lock
from typing import Any, TypeAlias

from eval.bench.generated import write_dataset
from eval.records.jsonl import SUMMARY
from memsys.core.places import MANIFEST
from memsys.core.tokens import count_tokens
from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording

Row: TypeAlias = Mapping[str, str | float]  # of a table, by column
_SIZES = (250, 1000, 4000)  # conversations with one question each
_PER_CONVERSATION = 10  # questions, where questions are many
_LENGTHS = (1_000, 10_000, 100_000)  # characters
_WORDS = "Yesterday we walked to the harbour and she asked me about the old violin. "
_COMPARED = ("vector_only", "graph_expand", "bm25")
_WORK = ("ingest", "retrieve", "answer", "judge", "score")  # strategy, reader, judge and metrics
_MODEL = ("llm=openai", "reader=llm", "judge=llm", "strategy=bm25", "k=5")
_DELAY_S, _AT_ONCE = 0.2, 16
_PROMPT = "Answer from these memories alone. " + "Someone told someone else about a journey. " * 50
_CONVERSATIONS, _QUESTIONS = 24, 10


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run as a process from start to end: its seconds, its seconds of CPU, and its peak MB.

    `seconds`: by part, as in the manifest; with several questions at once they overlap.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    seconds: Mapping[str, float]
    retrieve_ms_p95: float

    @property
    def work_s(self) -> float:
        """Seconds in strategy, reader, judge and metrics; the rest of `wall_s` is the harness."""
        return sum(self.seconds[part] for part in _WORK)


def measure_run(arguments: Sequence[str], cache: Path) -> MeasuredRun:
    """Run `python -m eval.run` with `arguments` and the cache folder `cache`. Raises RuntimeError
    with its output if it fails.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as output:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "eval.run", *arguments, f"hydra.run.dir={run}"]
        streams = [(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)]
        variables = {**os.environ, "OPENAI_API_KEY": "none", "MEMSYS_CACHE": str(cache)}
        started = time.perf_counter()
        pid = os.posix_spawn(command[0], command, variables, file_actions=streams)
        _, status, usage = os.wait4(pid, 0)  # which returns the peak of this child alone
        wall_s = time.perf_counter() - started
        if status != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{output.read()}")
        manifest, summary = (json.loads((run / name).read_bytes()) for name in (MANIFEST, SUMMARY))
    unit = 1024 if sys.platform == "linux" else 1024 * 1024  # KB on Linux, bytes on macOS
    p95 = summary["by_type"]["overall"]["retrieve_ms_p95"] or 0.0
    cpu_s = usage.ru_utime + usage.ru_stime
    return MeasuredRun(wall_s, cpu_s, usage.ru_maxrss / unit, manifest["seconds"], p95)


def growth(questions: int) -> Iterator[Row]:
    """Yield runs with bm25: on 250 to 4,000 conversations of nine turns with one question, and on a
    data set of `questions`, ten to a conversation. Linear growth is a constant time for each
    further conversation: the start takes as long for few as for many.
    """
    asked = max(1, questions // _PER_CONVERSATION)
    before: tuple[int, float] | None = None
    for count, each in (*((size, 1) for size in _SIZES), (asked, _PER_CONVERSATION)):
        with tempfile.TemporaryDirectory() as folder:
            path = write_dataset(Path(folder) / "made.json", count, each)
            run = measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], Path(folder))
        row: dict[str, str | float] = {
            **{"conversations": count, "questions": count * each},
            **{"s": run.wall_s, "CPU s": run.cpu_s},
            **{"summary s": run.seconds["summary"], "peak MB": run.peak_mb},
            "ms a conversation": run.wall_s / count * 1000,
        }
        if before and each == 1:
            further = (run.cpu_s - before[1]) / (count - before[0])
            row["CPU ms a further one"] = further * 1000
        before = count, run.cpu_s
        yield row


def tokens() -> Iterator[Row]:
    """Yield milliseconds of count_tokens on texts of 1,000 to 100,000 characters: words, and
    runs of characters without a space.
    """
    count_tokens("the ranks are loaded")
    random = Random(0)  # noqa: S311 - no secret
    for length in _LENGTHS:
        texts = {
            "words": (_WORDS * length)[:length],
            "one letter": "a" * length,
            "letters": "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=length)),
            "Chinese": "".join(map(chr, random.choices(range(0x4E00, 0x9FA5), k=length))),
        }
        taken = {f"{name}, ms": _milliseconds(text) for name, text in texts.items()}
        yield {"characters": length, **taken}


def _milliseconds(text: str) -> float:
    """Return the median of three counts; each is of another text, as counts may be remembered."""
    taken = []
    for end in ("", ".", "!"):
        started = time.perf_counter()
        count_tokens(text + end)
        taken.append((time.perf_counter() - started) * 1000)
    return median(taken)


def harness(dataset: str, runs: int = 3) -> Iterator[Row]:
    """Yield a run on `dataset` with an empty cache of embeddings, and the medians of `runs` warm
    runs of each strategy, which take turns. Work is what strategy, reader and metrics do.
    """
    chosen = f"dataset={dataset}"
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = measure_run([chosen, "strategy=graph_expand"], cache)
        found: dict[str, list[MeasuredRun]] = {name: [] for name in _COMPARED}
        for _ in range(runs):
            for name in _COMPARED:  # in turns, so that a slow minute affects all
                found[name].append(measure_run([chosen, f"strategy={name}"], cache))
    first = found[_COMPARED[0]]
    for name, measured in (*found.items(), ("graph_expand, empty cache", [cold])):
        yield {"strategy": name, **_harness(measured, first[: len(measured)])}


def _harness(runs: Sequence[MeasuredRun], others: Sequence[MeasuredRun]) -> Row:
    pairs = zip(runs, others, strict=True)
    return {
        "run s": median(one.wall_s for one in runs),
        "CPU s": median(one.cpu_s for one in runs),
        "work s": median(one.work_s for one in runs),
        "harness s": median(one.wall_s - one.work_s for one in runs),
        "of it start s": median(one.wall_s - one.seconds["total"] for one in runs),
        "harness / work": median((one.wall_s - one.work_s) / one.work_s for one in runs),
        "retrieve p95 ms": median(one.retrieve_ms_p95 for one in runs),
        f"p95 / {_COMPARED[0]}": median(
            one.retrieve_ms_p95 / other.retrieve_ms_p95 for one, other in pairs
        ),
        "peak MB": max(one.peak_mb for one in runs),
    }


def calls(count: int = 800) -> Iterator[Row]:
    """Yield the seconds of `count` calls without and with a recording, and replayed; then those of
    runs with reader and judge, from the first request to the last reply. The ideal: at every moment
    as many requests are under way as may be.
    """
    with tempfile.TemporaryDirectory() as folder, loopback_model(_DELAY_S) as base_url:
        _seconds(_client(Path(folder) / "warm", base_url, "auto"), 1, 1)  # loads the libraries
        modes: tuple[tuple[str, Mode, int], ...] = (
            ("live, not recorded", "off", _AT_ONCE),
            ("live, recorded", "auto", _AT_ONCE),
            ("replayed", "replay", _AT_ONCE),
            ("replayed", "replay", 1),
        )
        for name, mode, threads in modes:
            seconds = _seconds(_client(Path(folder), base_url, mode), count, threads)
            ideal = None if mode == "replay" else count * _DELAY_S / threads
            yield _row(name, threads, count, seconds, ideal)
    with tempfile.TemporaryDirectory() as folder:
        path = write_dataset(Path(folder) / "made.json", _CONVERSATIONS, _QUESTIONS)
        for threads in (4, _AT_ONCE):
            log = Path(folder) / f"log {threads}"
            with loopback_model(_DELAY_S / 2, log) as base_url:
                model = [*_MODEL, f"llm.base_url={base_url}", f"dataset.path={path}"]
                at_once = [f"concurrency={threads}", f"llm.concurrency={threads}"]
                measure_run([*model, *at_once], Path(folder) / f"cache {threads}")
            sent = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
            seconds = max(one["ended"] for one in sent) - min(one["began"] for one in sent)
            ideal = sum(one["ended"] - one["began"] for one in sent) / threads
            yield _row("run with reader and judge", threads, len(sent), seconds, ideal)


def _row(name: str, threads: int, count: int, seconds: float, ideal: float | None) -> Row:
    row = {"at once": threads, "calls": count, "s": seconds, "calls a second": count / seconds}
    return {"what": name, **row, **({} if ideal is None else {"s / ideal s": seconds / ideal})}


def _client(folder: Path, base_url: str, mode: Mode) -> ChatClient:
    settings = ChatSettings(model="loopback", base_url=base_url, concurrency=_AT_ONCE)
    return settings.open(Recording(folder, mode), Meter())


def _seconds(client: ChatClient, count: int, threads: int) -> float:
    """Return the seconds that `threads` threads take for `count` different calls."""

    def ask(number: int) -> None:
        client.complete([{"role": "user", "content": f"{_PROMPT} Question {number}?"}])

    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        list(pool.map(ask, range(count)))
        return time.perf_counter() - started


@contextmanager
def loopback_model(delay_s: float, log: Path | None = None) -> Iterator[str]:
    """Yield the base URL of a server that answers each request after `delay_s`, with an answer or a
    verdict that depends on the request alone. `log`: file of one JSON line for each request. The
    server stops with the block.
    """
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the caller's threads
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run, args=(theirs, delay_s, log), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _run(started: Connection, delay_s: float, log: Path | None) -> None:
    server = _Server(("127.0.0.1", 0), partial(_Connection, delay_s, log, Lock()))
    started.send(server.server_address[1])
    server.serve_forever()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # of 5, the system makes further clients wait for a second


class _Connection(BaseHTTPRequestHandler):
    """Answers the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, delay_s: float, log: Path | None, lock: Lock, *args: Any) -> None:
        self._delay_s, self._log, self._lock = delay_s, log, lock
        super().__init__(*args)

    def do_POST(self) -> None:
        """Answer a chat request, and write it to the log."""
        began, data = time.time(), self.rfile.read(int(self.headers["content-length"]))
        time.sleep(self._delay_s)
        body = json.loads(data)
        if self._log:
            row = {"body": body, "began": began, "ended": time.time()}
            with self._lock, self._log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(row) + "\n")
        answer = json.dumps(_completion(body, hashlib.sha256(data).hexdigest())).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _completion(body: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return a short answer, or a verdict where JSON is asked for."""
    text = f"In the spring of {digest[:8]}."
    if "response_format" in body:
        verdict = "CORRECT" if digest < "8" else "WRONG"
        text = json.dumps({"reason": f"because of {digest[:8]}", "verdict": verdict})
    message = {"role": "assistant", "content": text}
    return {
        "id": "loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 5, "total_tokens": 505},
    }
