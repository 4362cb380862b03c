"""The harness beside what it measures: runs and bare loops, model calls and bare requests, search.

A figure is a ratio, a rate or a difference of what is measured in turns within one call of the
command, and the median of its rounds.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from eval.bench.runs import MeasuredRun, Row, loopback_model, measure_run
from eval.bench.scale import large_store
from eval.metrics import Answered
from eval.metrics.registry import score
from eval.run.build import build
from eval.run.composing import composed
from memsys.core.places import cache_folder
from memsys.core.types import Query
from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording

_COMPARED = ("vector_only", "graph_expand", "bm25")
_ROUNDS = 3
_DELAY_S, _AT_ONCE = 0.02, 16
_MODEL = ("strategy=bm25", "llm=openai", "reader=llm", "concurrency=16", "llm.concurrency=16")
_PROMPT = "Answer from these memories alone. " + "Someone told someone else about a journey. " * 50
_REPLAYED = 2_000  # calls


def runs(dataset: str, seconds: float) -> Iterator[Row]:
    """Yield for each strategy the share of the harness and the peak memory of a run on `dataset`,
    and the CPU seconds of a sweep of all beside those of the runs. Strategies take turns; rounds
    end after half of `seconds`.
    """
    argument, began, cache = f"dataset={dataset}", time.monotonic(), cache_folder()
    measure_run([argument, "strategy=vector_only"], cache)  # embeds what is not in the cache
    by_strategy: dict[str, list[tuple[MeasuredRun, float]]] = {name: [] for name in _COMPARED}
    for number in range(_ROUNDS):
        if number and time.monotonic() - began > seconds / 2:
            break
        for name, pairs in by_strategy.items():
            pairs.append(_run_and_loop([argument, f"strategy={name}"], cache))
    for name, pairs in by_strategy.items():
        share = median((run.cpu_s - loop_s) / loop_s for run, loop_s in pairs)
        yield {"what": f"{name}: harness / its parts in a bare loop, CPU", "now": share}
        yield {"what": f"{name}: peak MB of a run", "now": max(run.peak_mb for run, _ in pairs)}
    alone = sum(median(run.cpu_s for run, _ in pairs) for pairs in by_strategy.values())
    sweep = measure_run(["-m", argument, f"strategy={','.join(_COMPARED)}"], cache)
    yield {"what": "a sweep of these / single runs, CPU", "now": sweep.cpu_s / alone}


def _run_and_loop(arguments: Sequence[str], cache: Path) -> tuple[MeasuredRun, float]:
    """Return a run, and the CPU seconds of its parts in a bare loop at the same time."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        loop = pool.submit(_bare_loop, arguments, cache)
        return measure_run(arguments, cache), loop.result()


def _bare_loop(arguments: Sequence[str], cache: Path) -> float:
    """Return the CPU seconds of ingestion, retrieval, reader and metrics without a harness."""
    built = build(*composed([*arguments, f"cache={cache}"]))
    reader = built.models.reader
    assert reader is not None  # noqa: S101 - the strategies compared are read
    began = time.process_time()
    for conversation in built.dataset.conversations:
        strategy = built.make_strategy(conversation.id)
        for session in conversation.sessions:
            strategy.ingest(session)
        for question in built.dataset.questions:
            if question.searched == conversation.id:
                asked_at = question.asked_at or conversation.sessions[-1].time
                retrieval = strategy.retrieve(
                    Query(question.id, question.text, question.conversation, asked_at)
                )
                answer = reader.read(question.text, retrieval)
                turns = {turn for each in retrieval.candidates for turn in each.memory.turns}
                score(
                    Answered(
                        category=question.category,
                        gold=question.gold,
                        answer=answer.text,
                        evidence=question.evidence,
                        retrieved=turns,
                        question=question.text,
                    )
                )
    return time.process_time() - began


def calls(dataset: str, seconds: float) -> Iterator[Row]:
    """Yield how much more time a run with a reader takes than a bare client that sends the same
    requests, the share of the ideal in its calls, and replayed calls a second. Ideal: at every
    moment as many requests are under way as may be.
    """
    began, more, more_cpu, ideal = time.monotonic(), list[float](), list[float](), list[float]()
    while len(more) < _ROUNDS and (not more or time.monotonic() - began < seconds / 3):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            with loopback_model(_DELAY_S, log) as url:
                arguments = [*_MODEL, f"dataset={dataset}", f"llm.base_url={url}"]
                run = measure_run(arguments, Path(folder))
                sent = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
                bare_s, bare_cpu_s = _bare_client(url, [call["body"] for call in sent])
        more.append(run.wall_s - bare_s)
        more_cpu.append(run.cpu_s - bare_cpu_s)
        under_way = sum(call["ended"] - call["began"] for call in sent) / _AT_ONCE
        ideal.append(under_way / (sent[-1]["ended"] - min(call["began"] for call in sent)))
    name = f"a run with a reader of 20 ms, {_AT_ONCE} at once"
    yield {"what": f"{name}: s more than a bare client", "now": median(more)}
    yield {"what": f"{name}: CPU s more than a bare client", "now": median(more_cpu)}
    yield {"what": f"{name}: ideal / s of its calls", "now": median(ideal)}
    yield from _replays()


def _bare_client(url: str, bodies: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the seconds and CPU seconds of `bodies` as requests over one connection a thread."""
    parts = urlsplit(url)

    def ask(some: Sequence[Mapping[str, Any]]) -> None:
        path, headers = f"{parts.path}/chat/completions", {"Content-Type": "application/json"}
        with closing(HTTPConnection(parts.netloc)) as connection:
            for body in some:
                connection.request("POST", path, json.dumps(body), headers)
                json.loads(connection.getresponse().read())["choices"][0]["message"]["content"]

    began = time.process_time()
    seconds = _seconds(lambda number: ask(bodies[number::_AT_ONCE]), _AT_ONCE)
    return seconds, time.process_time() - began


def _replays() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, loopback_model(0.0) as url:
        _ask_all(_client(Path(folder), url, "auto"), _AT_ONCE)
        by_threads: dict[int, list[float]] = {1: [], _AT_ONCE: []}
        for _ in range(2 * _ROUNDS + 1):
            for threads, seconds in by_threads.items():
                seconds.append(_ask_all(_client(Path(folder), url, "replay"), threads))
    for threads, seconds in by_threads.items():
        what = f"replayed calls a second, {threads} thread{'s' * (threads > 1)}"
        yield {"what": what, "now": int(_REPLAYED / median(seconds))}


def _client(folder: Path, base_url: str, mode: Mode) -> ChatClient:
    settings = ChatSettings(model="loopback", base_url=base_url, concurrency=_AT_ONCE)
    return settings.open(Recording(folder, mode), Meter())


def _ask_all(client: ChatClient, threads: int) -> float:
    """Return the seconds that `threads` threads take for different calls."""

    def ask(first: int) -> None:
        for number in range(first, _REPLAYED, threads):
            client.complete([{"role": "user", "content": f"{_PROMPT} Question {number}?"}])

    return _seconds(ask, threads)


def _seconds(work: Callable[[int], None], threads: int) -> float:
    """Return the seconds until `work` is done for each of the numbers below `threads`, at once."""
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        list(pool.map(work, range(threads)))
        return time.perf_counter() - started


def search() -> Iterator[Row]:
    """Yield medians of retrieval from 10,000 generated memories in relation to raw faiss."""
    ms = large_store("flat", 10_000, 50)
    for name in ("raw search", "vector_only", "graph_expand"):
        ratio = ms[f"{name} ms"] / ms["faiss ms"]
        yield {"what": f"{name} of 10,000 memories / faiss, ms", "now": ratio}
