"""Which conversation a file's label means: its id, or a position that its questions confirm."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from eval.answers.answers import Row
from eval.answers.words import normal
from eval.datasets.types import Dataset


@dataclass(frozen=True, slots=True)
class Place:
    """The conversation that a label means, None if none; `expected` is what its position says."""

    label: str
    conversation: str | None
    expected: str | None

    @property
    def moved(self) -> bool:
        """True if the questions are of another conversation than the position says."""
        return self.expected is not None and self.conversation not in (None, self.expected)


def place_conversations(rows: Sequence[Row], dataset: Dataset) -> dict[str, Place]:
    """The place of every label in `rows`.

    A label that is a conversation's id is that. Any other, such as a number, is the conversation
    that most of its rows' questions are asked in; where several are equal, the one at that
    position in the data set. A label none of whose questions is known means no conversation.
    """
    ids = [conversation.id for conversation in dataset.conversations]
    where: dict[str, set[str]] = defaultdict(set)
    for question in dataset.questions:
        where[normal(question.text)].add(question.conversation)
    by_label: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_label[row.conversation].append(row)
    places = {}
    for label, group in by_label.items():
        if label in ids:
            places[label] = Place(label, label, None)
            continue
        position = int(label) if label.isdecimal() else len(ids)
        expected = ids[position] if position < len(ids) else None
        asked_in = Counter(
            name for row in group if row.question for name in where.get(normal(row.question), ())
        )
        # Of equals, the expected one, then the first of the data set.
        best = max(ids, key=lambda name: (asked_in[name], name == expected), default=None)
        places[label] = Place(label, best if best and asked_in[best] else None, expected)
    return places
