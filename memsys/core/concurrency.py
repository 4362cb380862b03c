"""Concurrent jobs, and searches on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
    places = threading.Semaphore(2 * workers)  # of jobs that are drawn and have not ended
    stopped = threading.Event()
    raised: list[BaseException] = []

    def work(job: Callable[[], object]) -> None:
        try:
            if not stopped.is_set():
                job()
        except BaseException as error:
            raised.append(error)
            stopped.set()
        finally:
            places.release()

    drawn = iter(jobs)
    with ThreadPoolExecutor(workers) as pool:
        try:
            while not stopped.is_set():
                places.acquire()
                if stopped.is_set():
                    break
                try:
                    job = next(drawn)
                except StopIteration:
                    break
                pool.submit(work, job)
        except BaseException:
            stopped.set()
            raise
    if raised:
        raise raised[0]


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
