"""The sampled rows of a list by column: evidence on what each column means, its values against the
questions of the data set.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from eval.answers import values
from eval.answers.containers import Item
from eval.answers.layout import is_key, named, rank_of
from eval.answers.match import LONGEST, QuestionIndex, golds, normalise
from eval.datasets.types import Question

_WORD = re.compile(r"[^\W_]+")
_ROWS = 600  # of a sample that are looked at
_RARE = 20
_COMPARED = 300  # rows whose words are compared with gold answers
_RUNS = 10  # runs of a judge, at most, of which a fraction may be the mean
MOST = 0.5  # share of values from which contents give a column its meaning


class Sheet:
    """Some rows of a list by column, and the columns of each field, as far as they are assigned.

    `columns`: the values of each column, one a row. `filled`: those that are not blank.
    `inherited`: columns of enclosing objects, which describe a conversation or the whole file.
    `index`: None without a data set. `fields`: columns by field. A share is 0 to 1, None where
    there is nothing to compare.
    """

    def __init__(self, sample: Sequence[Item], index: QuestionIndex | None) -> None:
        names = sorted(_names(sample), key=is_key)
        rows = _thinned(sample, names)
        self.columns = {name: [row.fields.get(name) for row in rows] for name in names}
        self.filled = {
            name: [cell for cell in each if not values.blank(cell)]
            for name, each in self.columns.items()
        }
        self.rows = len(rows)
        self.inherited = {name for row in rows for name in row.inherited}
        self.index = index
        self.fields: dict[str, tuple[str, ...]] = {}

    def first(self, field: str) -> str | None:
        """Return the first column of a field, None if it has none."""
        return next(iter(self.fields.get(field, ())), None)

    @property
    def free(self) -> list[str]:
        """Columns without a meaning."""
        used = {column for several in self.fields.values() for column in several}
        return [column for column in self.columns if column not in used]

    @property
    def own(self) -> list[str]:
        """Those of the rows, not of what encloses them, such as the mean of a file."""
        return [column for column in self.free if column not in self.inherited]

    @cached_property
    def known(self) -> Sequence[Sequence[Question]]:
        """The questions that each row may answer, by the columns of questions and ids, which are
        assigned first.
        """
        index, nothing = self.index, [None] * self.rows
        if index is None:
            return [[]] * self.rows
        texts, ids = (
            self.columns.get(self.first(field) or "", nothing) for field in ("question", "id")
        )
        questions = []
        for text, identity in zip(texts, ids, strict=True):
            by_words = index.of_words(text)
            q = None if identity is None else index.of_id(identity)
            questions.append([q] if q is not None and q in (by_words or [q]) else by_words)
        return questions

    @cached_property
    def _golds(self) -> Sequence[set[str]]:
        return [golds(questions) for questions in self.known]

    @cached_property
    def _gold_words(self) -> Sequence[frozenset[str] | None]:
        """The words of the first gold answer of each row; None of a row without any."""
        return [
            _words(next((q.original_gold for q in questions if q.original_gold), ""))
            if accepted
            else None
            for questions, accepted in zip(self.known, self._golds, strict=True)
        ]

    def best(self, field: str, shares: Mapping[str, float | None]) -> str | None:
        """Return the column with the highest share, at least MOST; of equal ones, the first that
        `field` may be read from by name.
        """
        fitting = {column: share for column, share in shares.items() if share and share >= MOST}

        def key(column: str) -> tuple[float, int]:
            filled = round(self.fullness(column), 2)
            return round(fitting[column], 2) * filled, -rank_of(field, column)

        return max(fitting, key=key, default=None)

    def share(self, column: str, fits: Callable[[Any], bool]) -> float:
        """Return the share of the filled values that fit; 0 if none is filled."""
        return _share(map(fits, self.filled[column])) or 0.0

    def fullness(self, column: str) -> float:
        """Return the share of rows with a value."""
        return len(self.filled[column]) / self.rows

    def sparse(self, column: str) -> bool:
        """Return whether fewer than half of the rows have a value."""
        return len(self.filled[column]) * 2 < self.rows

    def questions(self, column: str) -> float | None:
        """Return the share of values that are questions of the data set."""
        index = self.index
        return None if index is None else self.share(column, lambda v: bool(index.of_words(v)))

    def ids(self, column: str) -> float | None:
        """Return the share of values that are ids of questions of the data set, and of the question
        in the row, if there is one.
        """
        index, question = self.index, self.first("question")
        if index is None:
            return None
        texts = self.columns[question] if question else [None] * self.rows
        fits = (
            (q := index.of_id(value)) is not None and q in (index.of_words(text) or [q])
            for value, text in zip(self.columns[column], texts, strict=True)
            if not values.blank(value)
        )
        return _share(fits) or 0.0

    def gold(self, column: str) -> float | None:
        """Return the share of values that are the gold answer of the row's question."""
        return _share(
            isinstance(value, str | int | float) and _plain(value) in accepted
            for value, accepted in zip(self.columns[column], self._golds, strict=True)
            if accepted and not values.blank(value)
        )

    def agreement(self, column: str, of: Callable[[Question], Any]) -> float | None:
        """Return the share of rows whose value goes with the property `of` their question.

        Each value goes with the property that most of its rows have. Only rows whose question is
        certain count, and values that occur twice among them.
        """
        seen: dict[str, Counter[Any]] = defaultdict(Counter)
        for value, questions in zip(self.columns[column], self.known, strict=True):
            properties = {of(question) for question in questions}
            if len(properties) == 1 and not values.blank(value):
                seen[str(value)][properties.pop()] += 1
        repeated = [counts for counts in seen.values() if counts.total() > 1]
        total = sum(map(Counter.total, repeated))
        return sum(max(counts.values()) for counts in repeated) / total if total else None

    def positions(self, column: str) -> float | None:
        """Return the share of rows whose value is the position of their question in the
        conversation, among rows with a known question and conversation.
        """
        conversation = self.first("conversation")
        if conversation is None:
            return None
        return _share(
            any(q.id == f"{q.conversation}/{_integer(value)}" for q in questions)
            for value, label, questions in zip(
                self.columns[column], self.columns[conversation], self.known, strict=True
            )
            if questions and not values.blank(label) and not values.blank(value)
        )

    def distinct(self, column: str) -> int:
        """Return the number of different filled values."""
        return len({str(value) for value in self.filled[column]})

    def closeness(self, column: str) -> float:
        """Return the mean overlap of the words with the gold answer, less that with the gold answer
        of another row: about 0 for a text that does not answer the questions.
        """
        pairs = [
            (_words(str(value)), gold)
            for value, gold in zip(self.columns[column], self._gold_words, strict=True)
            if isinstance(value, str | int | float) and gold is not None
        ]
        pairs = pairs[:: max(1, len(pairs) // _COMPARED)]
        if len(pairs) < 2:
            return 0.0
        own = [_overlap(words, gold) for words, gold in pairs]
        other = [_overlap(words, pairs[n - 1][1]) for n, (words, _) in enumerate(pairs)]
        return (sum(own) - sum(other)) / len(pairs)

    def close(self, column: str) -> list[float | None]:
        """Return the overlap of each row's words with its gold answer; None if there is no gold."""
        return [
            None if gold is None else _overlap(_words(str(text)), gold)
            for text, gold in zip(self.columns[column], self._gold_words, strict=True)
        ]

    def verdicts(self, column: str, *, fractions: bool = True) -> float:
        """Return the share of values that are verdicts; `fractions`: also means of several runs."""

        def fits(value: Any) -> bool:
            if values.is_verdict(value):
                return True
            mean = values.mean_verdict(value) if fractions else None
            return mean is not None and any(
                abs(mean * runs - round(mean * runs)) < 5e-3 * runs for runs in range(2, _RUNS + 1)
            )

        judged = (value for value in self.filled[column] if not values.unjudged(value))
        return _share(map(fits, judged)) or 0.0

    def amounts(self, column: str) -> float:
        """Return the share of values that are numbers of 0 or more."""
        return self.share(column, values.is_amount)

    def texts(self, column: str) -> float:
        """Return the share of values that are texts or numbers."""
        return self.share(
            column, lambda cell: isinstance(cell, str | int | float) and not isinstance(cell, bool)
        )

    def example(self, column: str) -> str:
        """Return the first value that is not blank, on one line."""
        return " ".join(str(next(iter(self.filled[column]), "")).split())

    def length(self, column: str) -> float:
        """Return the mean number of characters of the filled values."""
        filled = self.filled[column]
        return sum(len(str(value)) for value in filled) / len(filled) if filled else 0.0


def _names(sample: Sequence[Item]) -> list[str]:
    """Return the names of fields but for those that are objects, whose parts have names."""
    plain: dict[str, bool] = {}
    objects = set()
    for item in sample:
        for name, value in item.fields.items():
            is_object = isinstance(value, dict)
            plain[name] = plain.get(name, False) or not (is_object or values.blank(value))
            if is_object:
                objects.add(name)
    return [name for name in plain if plain[name] or name not in objects or named("error", [name])]


def _thinned(sample: Sequence[Item], names: Sequence[str]) -> list[Item]:
    """Return some rows, spread over the sample, and the first ones of rarely filled columns."""
    numbers = set(range(0, len(sample), -(-len(sample) // _ROWS)))
    spread = [sample[n] for n in sorted(numbers)]
    for name in names:
        if all(values.blank(item.fields.get(name)) for item in spread):
            filled = (n for n, row in enumerate(sample) if not values.blank(row.fields.get(name)))
            numbers.update(islice(filled, _RARE))
    return [sample[n] for n in sorted(numbers)]


def _share(fits: Iterable[bool]) -> float | None:
    flags = list(fits)
    return sum(flags) / len(flags) if flags else None


def _plain(value: Any) -> str:
    text = str(value)
    return normalise(text) if len(text) <= LONGEST else text


def _integer(value: Any) -> Any:
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return value


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _overlap(words: frozenset[str], other: frozenset[str]) -> float:
    common = len(words & other)
    return 2 * common / (len(words) + len(other)) if common else 0.0
