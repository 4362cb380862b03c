"""How many threads of this process work on one search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import faiss


@contextmanager
def one_thread() -> Iterator[None]:
    """Let faiss search on the calling thread alone.

    From some thousand vectors on it starts threads for a single query, and they wait for each other
    longer than the query takes: twice as long where the machine is idle, twenty times and more
    where it is busy. How it sums depends on their number too, and with it a cosine's last bits.
    """
    before = faiss.omp_get_max_threads()  # of the calling thread
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
