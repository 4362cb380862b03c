"""Concurrent jobs with results in order, and searches on one thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import faiss

_T = TypeVar("_T")


def ordered_results(jobs: Iterable[Callable[[], _T]], workers: int) -> Iterator[_T]:
    """Yield the result of each job in the order of `jobs`, at most `workers` (1 or more) at once.

    Jobs are drawn in the caller's thread, a few ahead of the results, so that work that must be
    timed alone can be done while drawing. With one worker no job is drawn ahead and no thread is
    started. After the first error, of a job or of drawing one, no further job starts; the results
    of running jobs are still yielded, so that nothing paid for is lost; then the error is raised.
    """
    if workers == 1:
        for job in jobs:
            yield job()
        return
    with ThreadPoolExecutor(workers) as pool:
        running: deque[Future[_T]] = deque()
        error: Exception | None = None
        try:
            for job in jobs:
                running.append(pool.submit(job))
                if len(running) >= 2 * workers:
                    yield running.popleft().result()
        except Exception as raised:
            error = raised
            _cancel(running)
        except BaseException:  # Ctrl-C, or the caller stops iterating
            _cancel(running)
            raise
        for future in running:
            try:
                yield future.result()
            except CancelledError:
                continue
            except Exception as raised:
                if error is None:
                    error = raised
                    _cancel(running)
        if error is not None:
            raise error


def _cancel(futures: Iterable[Future[_T]]) -> None:
    """Cancel the jobs that have not started."""
    for future in futures:
        future.cancel()


@contextmanager
def one_thread() -> Iterator[None]:
    """Make faiss search on the calling thread only, within this context.

    From some thousand vectors on, faiss starts threads for a single query, and they wait for each
    other longer than the query takes: twice as long on an idle machine, 20 times on a busy one.
    The order of its sums, and with it a cosine's last bits, also depends on the number of threads.
    """
    before = faiss.omp_get_max_threads()  # of the calling thread
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
