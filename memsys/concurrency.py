"""Several jobs at once, their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


def in_order(jobs: Iterable[Callable[[], _T]], workers: int) -> Iterator[_T]:
    """The result of each job, in the order of `jobs`, with at most `workers` (1 or more) under way.

    Jobs are drawn in the caller's thread, a few ahead of the results, so that what has to be timed
    alone can be done while drawing. With one worker nothing is drawn ahead and no thread started.
    The first error of a job, or of drawing one, ends it: no further job begins, the results of
    those under way are still given, so that nothing paid for is lost, and then the error is raised.
    """
    if workers == 1:
        for job in jobs:
            yield job()
        return
    with ThreadPoolExecutor(workers) as pool:
        under_way: deque[Future[_T]] = deque()
        error: Exception | None = None
        try:
            for job in jobs:
                under_way.append(pool.submit(job))
                if len(under_way) >= 2 * workers:
                    yield under_way.popleft().result()
        except Exception as raised:
            error = raised
            _cancel(under_way)
        except BaseException:  # Ctrl-C, or a caller that has seen enough
            _cancel(under_way)
            raise
        for future in under_way:
            try:
                yield future.result()
            except CancelledError:
                continue
            except Exception as raised:
                if error is None:
                    error = raised
                    _cancel(under_way)
        if error is not None:
            raise error


def _cancel(futures: Iterable[Future[_T]]) -> None:
    """Keep those from beginning that have not begun."""
    for future in futures:
        future.cancel()
