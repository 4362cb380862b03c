"""Garbage collections of a command: few of them find anything."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

_YOUNG = 50_000  # new objects from which the newest are looked through
_RUNS_APART = 8  # of one process: between two full collections of a tenth of a second
_begun = count()  # runs of this process


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look through new objects seldom: imported modules stay, and what a command makes seldom
    refers to itself. It takes a twentieth of a run otherwise, and a tenth of `memsys rescore`.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(_YOUNG, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@contextmanager
def loaded_data_frozen() -> Iterator[None]:
    """Exempt what is loaded from garbage collection: looking through it costs a tenth of a run.
    Afterwards everything is collectable as before, or the next run would find this one in memory.
    """
    if next(_begun) % _RUNS_APART == _RUNS_APART - 1:
        gc.collect()  # what Hydra leaves of each run refers to itself
    gc.freeze()
    try:
        with seldom_collected():
            yield
    finally:
        gc.unfreeze()
