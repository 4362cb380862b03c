"""The signals of each memory for one question, from which `strategy=fusion` ranks."""

from calendar import monthrange
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from memsys.core.chinese_dates import dates_of
from memsys.core.terms import terms
from memsys.core.types import UNDATED, Memory, Vectors
from memsys.index.lexical import SparseLexicalIndex
from memsys.index.rank import Scores, min_max, top
from memsys.index.weights import ends_as_question, has_cue, named_speaker

_LONG = 8  # index terms from which a longer memory is no better
_NEAR = 3  # days around one that a question names
_FEEDBACK_MEMORIES, _FEEDBACK_TERMS = 5, 10  # of RM3
_FEEDBACK_SHARPNESS = 3.0
_EQUAL = 1e-6  # spread of cosines that differ by rounding alone
_BESIDE = 0.5  # weight of a neighbour's vector in a window's


class Signals:
    """Signals over the memories of one store. All are arrays of shape (n,).

    words, window_words, session_words: share of the question's weight in BM25 that the memory with
    its lead, the memory (twice) with its neighbours, and its session have, 0 to 1. feedback: the
    same for the terms of the best memories of a first round (RM3; Abdul-Jaleel et al., 2004),
    scaled to 0..1. window_cosine: of the question and the sum of the memory's vector and half of
    its neighbours', in standard deviations above the store's mean. speaker: 1 if the question names
    its speaker and no other. time, count: 1 if it states a time or a number and the question asks
    for one. question: 1 if it ends as a question. length: logarithm of its index terms over that of
    8, at most 1. date: 1 if its day, or one it mentions, lies in a period that the question names;
    half if only the month fits.

    Neighbours are the memories before and after in its session: consecutive memories of one time
    and owner. A memory without a time is a session of one.
    """

    def __init__(
        self,
        memories: Sequence[Memory],
        owners: Sequence[str],
        vectors: Vectors | None,
        k1: float,
        b: float,
    ) -> None:
        """`memories`: at least one, in order, with the owner and the vector, shape (n, d), of each;
        without vectors, the signals that need them are 0. `k1`, `b`: of BM25.
        """
        contents = [memory.content for memory in memories]
        self._memories = memories
        session = _sessions(memories, owners)
        self._session = session
        before = np.r_[False, session[1:] == session[:-1]]  # whether the row before is a neighbour
        after = np.r_[before[1:], False]
        windows = (
            chain(
                terms(contents[i - 1]) if before[i] else (),
                terms(contents[i]),
                terms(contents[i]),
                terms(contents[i + 1]) if after[i] else (),
            )
            for i in range(len(contents))
        )
        sessions = (
            chain.from_iterable(terms(contents[row]) for row in rows.tolist())
            for rows in np.split(np.arange(len(contents)), np.flatnonzero(~before)[1:])
        )
        # Line by line, since that before a memory is a memory as well, whose terms are known.
        texts = (
            chain.from_iterable(map(terms, memory.index_text.split("\n"))) for memory in memories
        )
        self._words = SparseLexicalIndex(texts, k1, b, smoothed=True)
        self._by_window = SparseLexicalIndex(windows, k1, b, smoothed=True)
        self._by_session = SparseLexicalIndex(sessions, k1, b, smoothed=True)
        self._before, self._after = before, after
        self._norms: Scores | None
        self._norms = None if vectors is None else self._window_norms(vectors)
        speakers = np.array([memory.speaker for memory in memories])
        self._spoken = cache(lambda name: (speakers == name).astype(float))
        self._names = [name for name in dict.fromkeys(speakers.tolist()) if name]
        name_terms = {term for name in self._names for term in terms(name)}
        self._counted = cache(
            lambda row: [
                (term, count)
                for term, count in Counter(terms(contents[row])).items()
                if term not in name_terms
            ]
        )
        self._times = np.array([has_cue("states_time", text) for text in contents], dtype=float)
        self._counts = np.array([has_cue("states_count", text) for text in contents], dtype=float)
        self._questions = np.array([ends_as_question(text) for text in contents], dtype=float)
        self._spans = _spans(memories)
        times = (memory.time for memory in reversed(memories) if memory.time != UNDATED)
        self._last = next(times, None)  # of the last memory that has one
        self._term_counts = [len(terms(text)) for text in contents]
        lengths = np.array(self._term_counts, dtype=float)
        self._lengths = np.minimum(np.log1p(lengths) / np.log1p(_LONG), 1.0)

    def of(self, question: str, cosines: Scores | None) -> dict[str, Scores]:
        """Return the signals by name. `cosines`: of every memory, shape (n,). Relative dates in the
        question are resolved from the day of the last memory that has one.
        """
        query = dict.fromkeys(terms(question), 1.0)
        nothing = np.zeros(len(self._memories))
        speaker = named_speaker(question, self._names)
        signals = {
            "words": self._words.shares(query),
            "window_words": self._by_window.shares(query),
            "session_words": self._by_session.shares(query)[self._session],
            "window_cosine": nothing if cosines is None else self._window_cosines(cosines),
            "speaker": nothing if speaker is None else self._spoken(speaker),
            "time": self._times if has_cue("asks_time", question) else nothing,
            "count": self._counts if has_cue("asks_count", question) else nothing,
            "question": self._questions,
            "length": self._lengths,
            "date": self._dates(question),
        }
        signals["feedback"] = self._feedback(signals)
        return signals

    def _window_norms(self, vectors: Vectors) -> Scores:
        """Return the length of each window's vector, shape (n,), without copying `vectors`."""
        n = len(vectors)

        def products(step: int) -> Scores:  # of each row with the one `step` after it, 0 at the end
            dots = np.zeros(n)
            dots[: n - step] = np.einsum("ij,ij->i", vectors[: n - step], vectors[step:])
            return dots

        own, next_, second = products(0), products(1), products(2)
        before, after = self._before.astype(float), self._after.astype(float)
        squares = (
            own
            + _BESIDE**2 * (before * np.roll(own, 1) + after * np.roll(own, -1))
            + 2 * _BESIDE * (before * np.roll(next_, 1) + after * next_)
            + 2 * _BESIDE**2 * before * after * np.roll(second, 1)
        )
        return np.asarray(np.sqrt(np.maximum(squares, _EQUAL)), dtype=np.float64)

    def _window_cosines(self, cosines: Scores) -> Scores:
        """Return the cosines of question and windows, standardised, from those of memories."""
        assert self._norms is not None  # noqa: S101 - cosines come from vectors
        summed = cosines.astype(np.float64)
        summed[self._before] += _BESIDE * cosines[:-1][self._before[1:]]
        summed[self._after] += _BESIDE * cosines[1:][self._after[:-1]]
        return standardised(summed / self._norms)

    def _feedback(self, signals: Mapping[str, Scores]) -> Scores:
        first = (
            min_max(signals["window_words"])
            + min_max(signals["window_cosine"])
            + 0.5 * signals["speaker"]
        )
        best = top(first, _FEEDBACK_MEMORIES)
        weights = np.exp(_FEEDBACK_SHARPNESS * (first[best] - first[best[0]]))
        weights /= weights.sum()
        summed: defaultdict[str, float] = defaultdict(float)
        for row, weight in zip(best, weights.tolist(), strict=True):
            length = self._term_counts[row]
            for term, count in self._counted(row):
                summed[term] += weight * count / length
        rarity = self._words.rarity
        rare = sorted([(-weight * rarity(term), term) for term, weight in summed.items()])
        heaviest = rare[:_FEEDBACK_TERMS]
        return min_max(self._words.shares({term: -weight for weight, term in heaviest}))

    def _dates(self, question: str) -> Scores:
        """Return the date signal."""
        matched = np.zeros(len(self._memories))
        periods = [] if self._last is None else _periods(question, self._last)
        if not periods:
            return matched
        spans, rows = self._spans
        for first, last in periods:
            one_day = first == last
            near = _NEAR if one_day else 0
            low, high = first.toordinal() - near, last.toordinal() + near
            fits = (spans[:, 0] <= high) & (spans[:, 1] >= low)
            np.maximum.at(matched, rows[fits], 1.0)
            if one_day:
                month = first.toordinal() - first.day + 1
                days = monthrange(first.year, first.month)[1]
                same = (spans[:, 0] >= month) & (spans[:, 0] < month + days)
                np.maximum.at(matched, rows[same], 0.5)
        return matched


def _spans(memories: Sequence[Memory]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the days, shape (m, 2), that memories were said on or mention, and their rows, (m,).

    They are an index, built before a question needs them: for long memories it takes a while.
    """
    spans: list[tuple[int, int]] = []
    rows: list[int] = []
    for row, memory in enumerate(memories):
        if memory.time != UNDATED:
            day = memory.time.date()
            for first, last in ((day, day), *_periods(memory.content, memory.time)):
                spans.append((first.toordinal(), last.toordinal()))
                rows.append(row)
    return np.array(spans, dtype=np.int64).reshape(-1, 2), np.array(rows, dtype=np.int64)


def _sessions(memories: Sequence[Memory], owners: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each memory's session, shape (n,), from 0."""
    keys = [(owner, memory.session_time) for memory, owner in zip(memories, owners, strict=True)]
    changes = [0, *(int(key != other or other[1] == UNDATED) for key, other in pairwise(keys))]
    return np.cumsum(np.array(changes, dtype=np.int64))


def standardised(scores: Scores) -> Scores:
    """Return (scores - mean) / standard deviation, shape (n,); all 0 if they are equal."""
    away = scores - scores.mean()
    spread = float(np.sqrt((away * away).mean()))  # as std, which would take the mean once more
    return away / spread if spread > _EQUAL else np.zeros(len(scores))


def _periods(text: str, time: datetime) -> list[tuple[date, date]]:
    """Return first and last day of the periods that `text` names, said at `time`."""
    return [(mention.period.first, mention.period.last) for mention in dates_of(text, time.date())]
