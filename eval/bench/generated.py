"""Generated data in any number: data sets in LoCoMo's format, and memories with their vectors.

No data set has a million memories, and embedding them takes hours. Words of memories follow Zipf's
law, as in natural language; vectors cluster around centres, as texts around topics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from memsys.core.types import Memory, Vectors
from memsys.embed.base import unit_rows

_THINGS = "lamp kite boat clock chair drum ladder basket violin tent bottle saddle".split()
_PLACES = "harbour market garden station library mill bridge orchard".split()
_SESSIONS, _TURNS = 3, 3  # of a conversation; turns of each session
DIMENSIONS: Final = 384  # as MiniLM
_WORDS = 60_000
_ZIPF = 1.05
_LENGTH = 11  # words per memory; LoCoMo's turns have twice that, half of them function words
_CENTRES = 4_000
_SPREAD = 0.9  # of vectors around their centre; the mean cosine to it is .74
_BATCH = 20_000
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()


def write_dataset(path: Path, conversations: int, questions: int = 1, seed: int = 0) -> Path:
    """Write `conversations` of nine turns, each with `questions` of types 1 to 4, to `path`, and
    return it. The text of every question contains its number, as (q17): no two are the same.
    """
    random = Random(seed)  # noqa: S311 - no secret
    made = [_conversation(random, number, questions) for number in range(conversations)]
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def _conversation(random: Random, number: int, questions: int) -> dict[str, Any]:
    content: dict[str, Any] = {"speaker_a": "Ana", "speaker_b": "Ben"}
    said: list[tuple[str, str, str]] = []
    for session in range(1, _SESSIONS + 1):
        content[f"session_{session}_date_time"] = f"{session}:15 pm on {session + 2} May, 2023"
        turns = content[f"session_{session}"] = []
        for turn in range(1, _TURNS + 1):
            said.append((f"D{session}:{turn}", random.choice(_THINGS), random.choice(_PLACES)))
            id_, thing, place = said[-1]
            text = f"Last week I bought a {thing} at the {place}, and told my family about it."
            turns.append({"speaker": ("Ana", "Ben")[turn % 2], "dia_id": id_, "text": text})
    qa = []
    for index in range(questions):
        id_, thing, place = random.choice(said)
        text = f"Where did they buy the {thing}? (q{number * questions + index})"
        one = {"question": text, "answer": place, "evidence": [id_], "category": index % 4 + 1}
        qa.append(one)
    return {"sample_id": f"made-{number}", "conversation": content, "qa": qa}


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


class GeneratedEmbedder:
    """Embedder that takes no time: documents are `stored`, one after the other, independent of the
    texts; `queries` has the vectors of questions by text.
    """

    name, typical_similarity, languages = "generated", 0.5, None

    def __init__(self, stored: Vectors, queries: Mapping[str, Vectors]) -> None:
        self._stored, self._queries, self._next = stored, queries, 0

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the next vectors, shape (len(texts), 384)."""
        self._next += len(texts)
        return self._stored[self._next - len(texts) : self._next]

    def query(self, text: str) -> Vectors:
        """Return a vector of shape (384,)."""
        return self._queries[text]


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
