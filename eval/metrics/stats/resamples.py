"""Resamples of a bootstrap: of whole conversations, of questions within them, or of both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ROWS, _CELLS = 64, 2**20  # of resamples in one product; full multiples of 64 rows, which BLAS adds
# up in the same order as all rows at once


@lru_cache(maxsize=4)  # the columns of a cell mostly share one
def drawn(seed: int, resamples: int, count: int) -> NDArray[np.uint16]:
    """Return how often each of `count` conversations is in each resample: (resamples, count)."""
    rng, chances = np.random.default_rng(seed), np.full(count, 1 / count)
    times = np.empty((resamples, count), dtype=np.uint16)
    for rows in _blocks(resamples, count):
        times[rows] = rng.multinomial(count, chances, size=len(times[rows]))
    times.flags.writeable = False
    return times


def product(times: NDArray[Any], parts: NDArray[Any]) -> Floats:
    """Return times @ parts, of which only some rows become floats at a time."""
    blocks = _blocks(*times.shape)
    return np.concatenate([times[rows].astype(np.float64) @ parts for rows in blocks])


def sums_within(features: Floats, strata: NDArray[np.intp], seed: int, resamples: int) -> Floats:
    """Return sums of resamples of the items within each stratum, shape (resamples, m).

    features: (n, m), one row per item; strata: (n,), numbered from 0.
    """
    rng = np.random.default_rng(seed)
    sums = np.zeros((resamples, features.shape[1]))
    for stratum in range(int(strata.max()) + 1):
        items = features[strata == stratum]
        kinds, times = np.unique(items, axis=0, return_counts=True)  # few kinds of items
        sums += rng.multinomial(len(items), times / len(items), size=resamples) @ kinds
    return sums


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of at most about _CELLS cells that cover all rows in order."""
    step = max(_CELLS // columns // _ROWS, 1) * _ROWS
    for start in range(0, rows, step):
        yield slice(start, start + step)
