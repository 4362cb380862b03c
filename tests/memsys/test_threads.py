"""A search keeps to the thread that asks, whatever number of threads faiss is allowed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import faiss
import numpy as np
import pytest

from memsys.concurrency import one_thread
from memsys.embed.base import unit_rows
from memsys.index.vector import VectorIndex
from memsys.types import Vectors

ROWS = 12_000  # from about ten thousand on faiss splits one query among its threads


@pytest.fixture
def allowed() -> Iterator[Callable[[int], None]]:
    """Allow faiss a number of threads; afterwards it has what it had."""
    before = faiss.omp_get_max_threads()
    yield faiss.omp_set_num_threads
    faiss.omp_set_num_threads(before)


@pytest.fixture(scope="module")
def rows() -> Vectors:
    return unit_rows(np.random.default_rng(5).normal(size=(ROWS, 64)).astype(np.float32))


def test_cosines_are_the_same_to_the_bit_whatever_is_allowed(
    rows: Vectors, allowed: Callable[[int], None]
) -> None:
    index = VectorIndex(rows)
    found = []
    for number in (1, 2, 5):
        allowed(number)
        found.append(np.stack([index.similarities(row) for row in rows[:20]]))
        assert faiss.omp_get_max_threads() == number
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    assert found[0][:, :20] == pytest.approx(rows[:20] @ rows[:20].T, abs=1e-6)


def test_what_was_allowed_is_allowed_again_after_a_failure(
    allowed: Callable[[int], None],
) -> None:
    allowed(3)
    with pytest.raises(ValueError, match="1 of them"), one_thread():
        raise ValueError(f"{faiss.omp_get_max_threads()} of them")
    assert faiss.omp_get_max_threads() == 3


_STARTED = f"""
import os, faiss, numpy as np
from memsys.index.vector import VectorIndex
from memsys.stores.faiss_vectors import FaissVectors
rows = np.random.default_rng(5).normal(size=({ROWS}, 64)).astype(np.float32)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
store = FaissVectors()
store.put("ann", [str(n) for n in range(len(rows))], rows)
flat = faiss.IndexFlatIP(64)
flat.add(rows)
faiss.omp_set_num_threads(4)
threads = lambda: len(os.listdir("/proc/self/task"))
before = threads()
for ask in (
    VectorIndex(rows).similarities,
    lambda row: store.nearest("ann", row, 5),
    lambda row: flat.search(row[None], 5),
):
    ask(rows[0])
    print(threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_no_thread_is_started_for_a_query_but_by_faiss_itself() -> None:
    command = [sys.executable, "-c", _STARTED]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    index, store, library = map(int, output.stdout.split())
    assert (index, store) == (0, 0)
    assert library > 0
