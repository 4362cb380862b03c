"""Evidence on what a column means: its values against the questions of the data set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from eval.answers import values
from eval.answers.column_names import KEY, named
from eval.answers.containers import Item
from eval.answers.questions import LONGEST, QuestionIndex, golds, normalise
from eval.datasets.types import Question

_ROWS = 600  # of a sample that are looked at
_RARE = 20
_COMPARED = 300  # rows whose words are compared with gold answers
_RUNS = 10  # runs of a judge, at most, of which a fraction may be the mean


def keys(item: Item) -> dict[str, str]:
    """Return the keys above a row as columns: `@key` the nearest, `@key2` the one above."""
    above = [*([] if item.group is None else [item.group]), *reversed(item.around)]
    return {f"{KEY}{n}" if n > 1 else KEY: key for n, key in enumerate(above, 1)}


def cell(item: Item, column: str) -> Any:
    """Return the value of a column, which may be a key above the row."""
    return keys(item).get(column) if column.startswith(KEY) else item.fields.get(column)


def _columns(sample: Sequence[Item]) -> list[str]:
    """Return the names of fields but for those that are objects, whose parts have names."""
    names = dict.fromkeys(name for item in sample for name in item.fields)
    others = {
        name
        for item in sample
        for name, value in item.fields.items()
        if not isinstance(value, dict) and not values.blank(value)
    }
    objects = {
        name for item in sample for name, value in item.fields.items() if isinstance(value, dict)
    }
    return [name for name in names if name not in objects - others or named("error", [name])]


def _thinned(sample: Sequence[Item], names: Sequence[str]) -> list[Item]:
    """Return some rows, spread over the sample, and the first ones of rarely filled columns."""
    chosen = set(range(0, len(sample), -(-len(sample) // _ROWS) or 1))
    if len(chosen) < len(sample):
        spread = [sample[n] for n in sorted(chosen)]
        for name in names:
            if all(values.blank(cell(item, name)) for item in spread):
                filled = (n for n, one in enumerate(sample) if not values.blank(cell(one, name)))
                chosen.update(islice(filled, _RARE))
    return [sample[n] for n in sorted(chosen)]


@dataclass(frozen=True)
class Contents:
    """The sampled rows of a list, by column. A share is None where there is nothing to compare.

    `known`: the questions that each row may answer, none of which is known before `identified`.
    `inherited`: columns of enclosing objects, which describe a conversation or the whole file.
    """

    columns: Mapping[str, list[Any]]
    known: Sequence[Sequence[Question]]
    inherited: frozenset[str]
    index: QuestionIndex | None
    _filled: Mapping[str, list[Any]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.known)

    def filled(self, column: str) -> list[Any]:
        """Return the values that are not blank."""
        return self._filled[column]

    def share(self, column: str, fits: Callable[[Any], bool]) -> float:
        """Return the share of the filled values that fit; 0 if none is filled."""
        filled = self.filled(column)
        return sum(map(fits, filled)) / len(filled) if filled else 0.0

    def fullness(self, column: str) -> float:
        """Return the share of rows with a value."""
        return len(self.filled(column)) / self.rows if self.rows else 0.0

    def questions(self, column: str) -> float | None:
        """Return the share of values that are questions of the data set."""
        index = self.index
        return None if index is None else self.share(column, lambda one: bool(index.of_words(one)))

    def ids(self, column: str, question: str | None) -> float | None:
        """Return the share of values that are ids of questions of the data set, and of the question
        in the column `question`, if there is one.
        """
        index = self.index
        if index is None:
            return None
        texts = self.columns[question] if question else [None] * self.rows
        fits = [
            (one := index.of_id(value)) is not None and one in (index.of_words(text) or [one])
            for value, text in zip(self.columns[column], texts, strict=True)
            if not values.blank(value)
        ]
        return sum(fits) / len(fits) if fits else 0.0

    def identified(self, question: str | None, id_: str | None) -> Contents:
        """Return the contents with the questions that the columns of questions and ids name."""
        index = self.index
        if index is None:
            return self
        texts, ids = (self.columns.get(name or "", [None] * self.rows) for name in (question, id_))
        known = []
        for text, identity in zip(texts, ids, strict=True):
            found = index.of_words(text)
            one = None if identity is None else index.of_id(identity)
            known.append([one] if one is not None and one in (found or [one]) else found)
        return replace(self, known=known)

    @cached_property
    def _golds(self) -> Sequence[set[str]]:
        return [golds(questions) for questions in self.known]

    @cached_property
    def _gold_words(self) -> Sequence[frozenset[str] | None]:
        """The words of the first gold answer of each row; None of a row without any."""
        return [
            _words(next((one.original_gold for one in questions if one.original_gold), ""))
            if accepted
            else None
            for questions, accepted in zip(self.known, self._golds, strict=True)
        ]

    def gold(self, column: str) -> float | None:
        """Return the share of values that are the gold answer of the row's question."""
        same = [
            isinstance(value, str | int | float) and _plain(value) in accepted
            for value, accepted in zip(self.columns[column], self._golds, strict=True)
            if accepted and not values.blank(value)
        ]
        return sum(same) / len(same) if same else None

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
        repeated = [one for one in seen.values() if one.total() > 1]
        total = sum(map(Counter.total, repeated))
        return sum(max(one.values()) for one in repeated) / total if total else None

    def distinct(self, column: str) -> int:
        """Return the number of different filled values."""
        return len({str(value) for value in self.filled(column)})

    def positions(self, column: str, conversation: str) -> float | None:
        """Return the share of rows whose value is the position of their question in the
        conversation, among rows with a known question and conversation.
        """
        same = [
            any(one.id == f"{one.conversation}/{_integer(value)}" for one in questions)
            for value, label, questions in zip(
                self.columns[column], self.columns[conversation], self.known, strict=True
            )
            if questions and not values.blank(label) and not values.blank(value)
        ]
        return sum(same) / len(same) if same else None

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

    def verdicts(self, column: str, *, fractions: bool) -> float:
        """Return the share of values that are verdicts; `fractions`: also means of several runs."""

        def fits(value: Any) -> bool:
            if values.is_verdict(value):
                return True
            mean = values.mean_verdict(value) if fractions else None
            return mean is not None and any(
                abs(mean * runs - round(mean * runs)) < 5e-3 * runs for runs in range(2, _RUNS + 1)
            )

        filled = [one for one in self.filled(column) if not values.unjudged(one)]
        return sum(map(fits, filled)) / len(filled) if filled else 0.0

    def amounts(self, column: str) -> float:
        """Return the share of values that are numbers of 0 or more."""
        return self.share(column, values.is_amount)

    def texts(self, column: str) -> float:
        """Return the share of values that are texts or numbers."""
        return self.share(
            column, lambda one: isinstance(one, str | int | float) and not isinstance(one, bool)
        )

    def example(self, column: str) -> str:
        """Return the first value that is not blank, on one line."""
        return " ".join(str(next(iter(self.filled(column)), "")).split())

    def length(self, column: str) -> float:
        """Return the mean number of characters of the filled values."""
        filled = self.filled(column)
        return sum(len(str(one)) for one in filled) / len(filled) if filled else 0.0


def contents_of(sample: Sequence[Item], index: QuestionIndex | None) -> Contents:
    """Return some rows of the sample by column; `index`: None without a data set."""
    names = [*_columns(sample), *dict.fromkeys(key for one in sample for key in keys(one))]
    sample = _thinned(sample, names)
    columns = {name: [cell(item, name) for item in sample] for name in names}
    return Contents(
        columns=columns,
        known=[[]] * len(sample),
        inherited=frozenset(name for item in sample for name in item.inherited),
        index=index,
        _filled={name: [v for v in all_ if not values.blank(v)] for name, all_ in columns.items()},
    )


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
    return frozenset("".join(c if c.isalnum() else " " for c in text.lower()).split())


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return 2 * common / (len(one) + len(other)) if common else 0.0
