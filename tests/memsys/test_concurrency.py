"""Jobs at once: their number, who draws them, and what an error leaves behind."""

import threading
from collections.abc import Callable, Iterator

import pytest

from memsys.concurrency import run_jobs

WAIT_S = 60  # a test that passes waits for nothing


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_each_job_runs_once(workers: int) -> None:
    ended: list[int] = []
    run_jobs([lambda i=i: ended.append(i) for i in range(50)], workers)  # type: ignore[misc]
    assert sorted(ended) == list(range(50))


def test_a_slow_job_holds_up_no_other() -> None:
    others = threading.Semaphore(0)

    def slow() -> None:
        for _ in range(99):
            assert others.acquire(timeout=WAIT_S)

    run_jobs([slow, *[others.release] * 99], 2)


def test_no_more_than_so_many_are_under_way() -> None:
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


def test_jobs_are_drawn_by_the_caller_and_only_a_few_ahead() -> None:
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


def test_one_worker_starts_no_thread_and_draws_nothing_ahead() -> None:
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
def test_after_an_error_no_further_job_starts(workers: int) -> None:
    ended: list[int] = []

    def fail() -> None:
        raise ValueError("no")

    jobs = [lambda: ended.append(1), fail, *[lambda: ended.append(2)] * 100]
    with pytest.raises(ValueError, match="no"):
        run_jobs(jobs, workers)
    assert len(ended) < 100


@pytest.mark.parametrize("source", ["drawing", "Ctrl-C", "another job"])
def test_running_jobs_end_after_an_error(source: str) -> None:
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
