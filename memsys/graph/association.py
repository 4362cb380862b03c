"""Which phrases and words say something: association of two words, concentration in sessions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def associations(together: Counts, one: Counts, other: Counts, n: int) -> Floats:
    """Return the log-likelihood ratio G^2 (Dunning, 1993) of the two words of each phrase.

    Of n memories `together` have the phrase, `one` and `other` each of its words. G^2 = 2 sum O
    ln(O / E) over the 2 x 2 table; it is 0 where the words are adjacent no more often than by
    chance. Above 10.83, p < .001.
    """
    expected = np.stack([one, n - one])[:, None] * np.stack([other, n - other]) / n
    observed = np.array(
        [[together, one - together], [other - together, n - one - other + together]]
    )
    observed = np.maximum(observed, 0)  # a phrase may occur more often than a word beside it counts
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(observed > 0, observed * np.log(observed / expected), 0.0)
    ratio: Floats = 2 * parts.sum(axis=(0, 1))
    return np.where(together > expected[0, 0], ratio, 0.0)


def concentrations(entities: Counts, sessions: Counts, size: int) -> Floats:
    """Return the residual inverse document frequency of each entity, in bits, shape (size,).

    It is log2(sessions expected / sessions), with sessions as documents (Church and Gale, 1995):
    an entity of `mentions` spread over S sessions by chance would be in S (1 - exp(-mentions / S))
    of them. It is above 0 for what a few sessions are about, and about 0 for everyday words. One
    mention of `entities` (numbers below `size`) is in the session of the same place in `sessions`.
    It is 0 for entities without a mention, and for all of them in a single session.
    """
    count = int(sessions.max(initial=0)) + 1
    mentions = np.bincount(entities, minlength=size)
    pairs = np.unique(entities * count + sessions)
    found = np.bincount(pairs // count, minlength=size)
    expected = count * -np.expm1(-mentions / count)
    bits = np.log2(np.maximum(expected, 1e-12) / np.maximum(found, 1))
    return np.where((mentions > 0) & (count > 1), bits, 0.0)
