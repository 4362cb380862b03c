"""Jobs at once: their order, their number, and what an error leaves behind."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from memsys.concurrency import ordered_results


def naps(count: int) -> list[Callable[[], int]]:
    """Jobs that end in reverse order."""

    def nap(i: int) -> int:
        time.sleep(0.02 * (count - i) / count)
        return i

    return [lambda i=i: nap(i) for i in range(count)]  # type: ignore[misc]


def until_no(results: Iterator[int]) -> list[int]:
    """What comes before the error, which has to come."""
    seen = []
    try:
        for result in results:
            seen.append(result)  # noqa: PERF402 - a comprehension would lose them
    except ValueError:
        return seen
    raise AssertionError("no error came")


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_results_come_in_the_order_of_the_jobs(workers: int) -> None:
    assert list(ordered_results(naps(12), workers)) == list(range(12))


def test_no_more_than_so_many_are_under_way() -> None:
    lock, now, most = threading.Lock(), 0, 0
    three = threading.Barrier(3)  # passed only by three at once

    def job() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        three.wait(60)
        with lock:
            now -= 1

    list(ordered_results([job] * 12, 3))
    assert most == 3


def test_jobs_are_drawn_by_the_caller_and_only_a_few_ahead() -> None:
    drawn: list[int] = []

    def jobs() -> Iterator[Callable[[], int]]:
        for i in range(50):
            assert threading.current_thread() is threading.main_thread()
            drawn.append(i)
            yield lambda: 0

    results = ordered_results(jobs(), 2)
    next(results)
    assert len(drawn) == 4
    results.close()  # type: ignore[attr-defined]
    assert len(drawn) == 4


def test_one_worker_starts_no_thread() -> None:
    (where,) = ordered_results([threading.current_thread], 1)
    assert where is threading.main_thread()


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_comes_after_the_results_before_it(workers: int) -> None:
    def fail() -> int:
        raise ValueError("no")

    seen = until_no(ordered_results([lambda: 1, lambda: 2, fail, *([lambda: 4] * 20)], workers))
    assert seen[:2] == [1, 2]
    assert len(seen) < 2 + 2 * workers


def test_results_of_running_jobs_survive_an_error() -> None:
    begun = threading.Event()

    def fail() -> int:
        begun.wait(5)
        raise ValueError("no")

    def late() -> int:
        begun.set()
        time.sleep(0.05)
        return 2

    assert until_no(ordered_results([fail, late], 2)) == [2]


def test_an_error_of_drawing_loses_no_result() -> None:
    def jobs() -> Iterator[Callable[[], int]]:
        yield lambda: 1
        raise ValueError("no")

    assert until_no(ordered_results(jobs(), 4)) in ([1], [])  # dropped if it had not begun
