"""Jobs at once and threads: their number, who draws them, and what an error leaves behind."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import faiss
import numpy as np
import pytest

from memsys.core.concurrency import computing, one_thread, run_jobs, waiting
from memsys.embed.base import unit_rows
from memsys.index.vector import VectorIndex
from memsys.stores.faiss_vectors import FaissVectors

WAIT_S = 60  # a test that passes waits for nothing


def test_a_slow_job_holds_up_no_other():
    others = threading.Semaphore(0)

    def slow() -> None:
        for _ in range(99):
            assert others.acquire(timeout=WAIT_S)

    run_jobs([slow, *[others.release] * 99], 2)


def test_no_more_than_so_many_are_under_way():
    lock, now, most = threading.Lock(), 0, 0
    three = threading.Barrier(3)  # passed only by three at once

    def job() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        three.wait(WAIT_S)
        with lock:
            now -= 1

    run_jobs([job] * 12, 3)
    assert most == 3


def test_jobs_are_drawn_by_the_caller_and_only_a_few_ahead():
    drawn, begun = [], threading.Semaphore(0)
    go_on = threading.Event()

    def job() -> None:
        begun.release()
        assert go_on.wait(WAIT_S)

    def watch() -> None:
        for _ in range(2):
            begun.acquire(timeout=WAIT_S)
        seen.append(len(drawn))
        go_on.set()

    def jobs() -> Iterator[Callable[[], None]]:
        for i in range(50):
            assert threading.current_thread() is threading.main_thread()
            drawn.append(i)
            yield job

    seen: list[int] = []
    watcher = threading.Thread(target=watch)
    watcher.start()
    run_jobs(jobs(), 2)
    watcher.join()
    assert seen[0] <= 4
    assert len(drawn) == 50


def test_threads_compute_one_at_a_time_except_while_they_wait():
    now: list[int] = []
    together, meeting = 0, threading.Barrier(2)

    def job() -> None:
        nonlocal together
        now.append(1)
        time.sleep(0.001)
        together += len(now) - 1
        now.pop()
        with waiting():
            meeting.wait(WAIT_S)  # both are waiting at once

    run_jobs([job] * 100, 2)
    assert together < 25  # a busy machine may stop a thread for longer than others wait


def test_nobody_waits_for_a_thread_that_computes_for_long():
    begun, ended = threading.Event(), threading.Event()

    def long() -> None:
        begun.set()
        assert ended.wait(WAIT_S)

    def short() -> None:
        assert begun.wait(WAIT_S)
        with computing(), computing():  # the second one asks for no turn
            ended.set()

    run_jobs([long, short], 2)


def test_one_worker_starts_no_thread_and_draws_nothing_ahead():
    steps: list[str] = []

    def jobs() -> Iterator[Callable[[], None]]:
        for i in range(3):
            steps.append(f"drawn {i}")
            yield lambda i=i: steps.append(f"{i} {threading.current_thread().name}")  # type: ignore[misc]

    run_jobs(jobs(), 1)
    assert steps == [
        step for i in range(3) for step in (f"drawn {i}", f"{i} {threading.main_thread().name}")
    ]


@pytest.mark.parametrize("workers", [1, 3])
def test_after_an_error_no_further_job_starts(workers):
    ended: list[int] = []

    def fail() -> None:
        raise ValueError("no")

    jobs = [lambda: ended.append(1), fail, *[lambda: ended.append(2)] * 100]
    with pytest.raises(ValueError, match="no"):
        run_jobs(jobs, workers)
    assert len(ended) < 100


@pytest.mark.parametrize("source", ["drawing", "Ctrl-C", "another job"])
def test_running_jobs_end_after_an_error(source):
    error = KeyboardInterrupt if source == "Ctrl-C" else ValueError
    begun, raised, ended = threading.Event(), threading.Event(), []

    def late() -> None:
        begun.set()
        assert raised.wait(WAIT_S)
        ended.append(1)

    def fail() -> None:
        assert begun.wait(WAIT_S)
        raised.set()
        raise error

    def jobs() -> Iterator[Callable[[], None]]:
        yield late
        if source == "another job":
            yield fail
        else:
            fail()

    with pytest.raises(error):
        run_jobs(jobs(), 2)
    assert ended == [1]


def test_what_waits_for_a_worker_is_not_begun_after_an_error_of_drawing(monkeypatch):
    ending, ended = threading.Event(), []

    class Pool(ThreadPoolExecutor):
        def shutdown(self, *arguments: Any, **options: Any) -> None:
            ending.set()
            super().shutdown(*arguments, **options)

    def running() -> None:
        assert ending.wait(WAIT_S)

    def jobs() -> Iterator[Callable[[], None]]:
        yield from [running] * 2
        yield lambda: ended.append("waiting")
        raise KeyboardInterrupt

    monkeypatch.setattr("memsys.core.concurrency.ThreadPoolExecutor", Pool)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs(), 2)
    assert ended == []


@pytest.fixture
def four_threads() -> Iterator[None]:
    """Faiss may use four threads; afterwards it has what it had."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(4)
    yield
    faiss.omp_set_num_threads(before)


@pytest.mark.usefixtures("four_threads")
def test_a_query_is_searched_on_one_thread_and_four_are_allowed_again(monkeypatch):
    with pytest.raises(ValueError, match="1 of them"), one_thread():
        raise ValueError(f"{faiss.omp_get_max_threads()} of them")
    assert faiss.omp_get_max_threads() == 4
    rows = unit_rows(np.random.default_rng(5).normal(size=(100, 64)).astype(np.float32))
    threads: list[int] = []

    def counted(scoring: Callable[..., Any]) -> Callable[..., Any]:
        def scored(*given: Any, **more: Any) -> Any:
            threads.append(faiss.omp_get_max_threads())
            return scoring(*given, **more)

        return scored

    for name in ("search", "compute_distance_subset"):
        monkeypatch.setattr(faiss.IndexFlatIP, name, counted(getattr(faiss.IndexFlatIP, name)))
    store = FaissVectors()
    store.put("ann", [str(number) for number in range(100)], rows)
    cosines = VectorIndex(rows).similarities(rows[0])
    assert cosines[:20] == pytest.approx(rows[:20] @ rows[0], abs=1e-6)
    assert faiss.omp_get_max_threads() == 4
    store.nearest("ann", rows[0], 5)
    assert set(threads) == {1}
    assert len(threads) >= 2
