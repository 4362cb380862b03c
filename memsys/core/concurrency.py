"""Concurrent jobs, and searches on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

import faiss


def run_jobs(jobs: Iterable[Callable[[], object]], workers: int) -> None:
    """Call each job once, at most `workers` (1 or more) at once, in any order.

    Jobs are drawn in the caller's thread as workers become free, at most `workers` ahead, so that
    work that must be timed alone can be done while drawing, and so that one slow job delays no
    other. With one worker no job is drawn ahead and no thread is started.

    After the first exception, of a job or of drawing one, or Ctrl-C, no further job starts; running
    jobs end, and then the exception is raised. A job has to store its result itself.
    """
    if workers == 1:
        for job in jobs:
            job()
        return
    failed: list[BaseException] = []

    def work(job: Callable[[], object]) -> None:
        try:
            if not failed:
                job()
        except BaseException as error:
            failed.append(error)

    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[None]] = set()
        try:
            for job in jobs:
                running.add(pool.submit(work, job))
                if len(running) == 2 * workers:
                    running = set(wait(running, return_when=FIRST_COMPLETED).not_done)
                if failed:
                    break
        except BaseException as error:  # of drawing a job, or Ctrl-C
            failed.insert(0, error)
    if failed:
        raise failed[0]


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
