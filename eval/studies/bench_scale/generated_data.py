"""Generated memories and vectors in any number, and embedders that return them.

No data set has a million memories, and embedding them takes hours. Words follow Zipf's law, as in
natural language; vectors cluster around centres, as texts around topics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from memsys.core.types import Memory, Vectors
from memsys.embed.base import unit_rows

DIMENSIONS: Final = 384  # as MiniLM
_WORDS = 60_000
_ZIPF = 1.05
_LENGTH = 11  # words per memory; LoCoMo's turns have twice that, half of them function words
_CENTRES = 4_000
_SPREAD = 0.9  # of vectors around their centre; the mean cosine to it is .74
_BATCH = 20_000
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()


def memories(n: int, seed: int) -> Iterator[Memory]:
    """Yield `n` memories in order of time, ten per minute."""
    random = np.random.default_rng(seed)
    words = [_word(number) for number in range(_WORDS)]
    share = 1 / np.arange(1, _WORDS + 1) ** _ZIPF
    chance = np.cumsum(share / share.sum())
    began = datetime(2024, 1, 1)
    for start in range(0, n, _BATCH):
        drawn = np.searchsorted(chance, random.random((min(_BATCH, n - start), _LENGTH)))
        for row, numbers in enumerate(np.minimum(drawn, _WORDS - 1).tolist(), start):
            text = "Mara: " + " ".join([words[number] for number in numbers])
            time = began + timedelta(minutes=row // 10)
            yield Memory(str(row), text, text, time, "Mara", (str(row),))


def queries(n: int, seed: int) -> list[str]:
    """Return `n` questions of three words with the word frequencies of the memories."""
    return [" ".join(memory.content.split()[2:5]) for memory in memories(n, seed + 1)]


def write_vectors(path: Path, n: int, seed: int) -> Vectors:
    """Write `n` unit vectors, shape (n, 384), and return them memory-mapped."""
    random = np.random.default_rng(seed)
    centres = _centres(seed)
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n, DIMENSIONS))
    for start in range(0, n, _BATCH):
        file[start : start + _BATCH] = _around(centres, min(_BATCH, n - start), random)
    file.flush()
    return np.asarray(np.load(path, mmap_mode="r"))


def query_vectors(n: int, seed: int) -> Vectors:
    """Return `n` unit vectors around the same centres, shape (n, 384)."""
    return _around(_centres(seed), n, np.random.default_rng(seed + 1))


class LookupEmbedder:
    """Embedder of generated vectors by text, in any order, which takes no time."""

    name, typical_similarity, languages = "generated", 0.5, None

    def __init__(self, vectors: Mapping[str, Vectors]) -> None:
        self._vectors = vectors

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (len(texts), 384)."""
        return np.stack([self._vectors[text] for text in texts])

    def query(self, text: str) -> Vectors:
        """Return a vector of shape (384,)."""
        return self._vectors[text]


class SequentialEmbedder(LookupEmbedder):
    """Embedder whose documents are `stored`, one after the other, independent of the texts."""

    def __init__(self, stored: Vectors, queries: Mapping[str, Vectors]) -> None:
        super().__init__(queries)
        self._stored, self._next = stored, 0

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the next len(texts) vectors."""
        self._next += len(texts)
        return self._stored[self._next - len(texts) : self._next]


def _centres(seed: int) -> Vectors:
    drawn = np.random.default_rng([seed, 7]).normal(size=(_CENTRES, DIMENSIONS))
    return unit_rows(drawn.astype(np.float32))


def _around(centres: Vectors, n: int, random: np.random.Generator) -> Vectors:
    noise = random.standard_normal((n, DIMENSIONS), dtype=np.float32) / DIMENSIONS**0.5
    return unit_rows(centres[random.integers(len(centres), size=n)] + _SPREAD * noise)


def _word(number: int) -> str:
    letters = []
    number += len(_SYLLABLES)  # at least two syllables: shorter words are not entities
    while number:
        number, syllable = divmod(number, len(_SYLLABLES))
        letters.append(_SYLLABLES[syllable])
    return "".join(letters)
