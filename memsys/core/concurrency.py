"""Concurrent jobs, threads that compute in turns, and searches on one thread."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock, local

_turn = Lock()
_thread = local()  # its `has_turn`
_turns, _overdue = 0, 0  # how many have begun, and which of them was too long
_LONGEST_S, _MOST_WAITS = 0.01, 5  # of a turn that others wait for; how often one waits so long


@contextmanager
def computing() -> Iterator[None]:
    """Have this thread compute while others that enter this context wait for their turn: Python
    lets one thread run at a time, and to hand over at each system call, from core to core, takes
    longer than what is computed in between.

    A turn protects nothing and blocks nobody. Others go on without theirs if a thread has it for
    more than 0.01 s, in a long calculation or because it waits for something.
    """
    if getattr(_thread, "has_turn", False):
        yield
        return
    _take_turn()
    try:
        yield
    finally:
        _end_turn()


@contextmanager
def waiting() -> Iterator[None]:
    """Let another thread compute, if this one is `computing`, while it waits for a server."""
    had_turn = _end_turn()
    try:
        yield
    finally:
        if had_turn:
            _take_turn()


def _take_turn() -> None:
    global _turns, _overdue  # noqa: PLW0603 - a race costs one wait
    for _ in range(_MOST_WAITS):
        number = _turns
        if _turn.acquire(timeout=0 if number == _overdue else _LONGEST_S):
            _turns += 1
            _thread.has_turn = True
            return
        if number == _turns:
            _overdue = number
            return


def _end_turn() -> bool:
    """Return whether this thread had the turn, which it now has no longer."""
    had_turn = getattr(_thread, "has_turn", False)
    if had_turn:
        _thread.has_turn = False
        _turn.release()
    return had_turn


def run_jobs(jobs: Iterable[Callable[[], object]], workers: int) -> None:
    """Call each job once, at most `workers` (1 or more) at once, in any order.

    Jobs are drawn in the caller's thread as workers become free, at most `workers` ahead, so that
    work that must be timed alone can be done while drawing, and so that one slow job delays no
    other. Drawing and jobs are `computing`. With one worker no job is drawn ahead and no thread is
    started.

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
                with computing():
                    job()
        except BaseException as error:
            failed.append(error)

    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[None]] = set()
        try:
            rest = iter(jobs)
            while (drawn := _next(rest)) is not None:
                running.add(pool.submit(work, drawn))
                if len(running) == 2 * workers:
                    running = set(wait(running, return_when=FIRST_COMPLETED).not_done)
                if failed:
                    break
        except BaseException as error:  # of drawing a job, or Ctrl-C
            failed.insert(0, error)
    if failed:
        raise failed[0]


def _next(jobs: Iterator[Callable[[], object]]) -> Callable[[], object] | None:
    with computing():
        return next(jobs, None)


@contextmanager
def one_thread() -> Iterator[None]:
    """Make faiss search on the calling thread only, within this context.

    From some thousand vectors on, faiss starts threads for a single query, and they wait for each
    other longer than the query takes: twice as long on an idle machine, 20 times on a busy one.
    The order of its sums, and with it a cosine's last bits, also depends on the number of threads.
    """
    import faiss  # noqa: PLC0415 - takes .1 s, and most jobs search by no vector

    before = faiss.omp_get_max_threads()  # of the calling thread
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
