"""Questions of a data set by id, and by words up to case, blanks and quotes, never similar ones.

A file may count the questions of a conversation from 1, where data sets count from 0.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from eval.datasets.types import Dataset, Question

UNCLEAR = (
    "no row has the qa_index 0, but each conversation has 1: do they count from 1? subtract 1, or "
    "add the text of each question"
)

_ID = re.compile(r"(.+)/([0-9]{1,9})", re.DOTALL)
_MOST = 0.5  # share of conversations, or of questions
Place = tuple[str, int]  # conversation and index


def place_of(id_: str | None) -> Place | None:
    """Return conversation and index of an id `<conversation>/<index>`; None of another."""
    found = None if id_ is None else _ID.fullmatch(id_)
    return None if found is None else (found[1], int(found[2]))


def first_index(places: Iterable[Place], questions: Sequence[Question]) -> int | None:
    """Return the index of a conversation's first question in a file with `places`: 1 if none is 0
    and in most conversations one is just beyond the last question; None if 1 is possible, else 0.
    """
    asked = {place for question in questions if (place := place_of(question.id)) is not None}
    last: dict[str, int] = {}
    for conversation, index in asked:
        last[conversation] = max(index, last.get(conversation, 0))
    given: dict[str, set[int]] = defaultdict(set)
    for conversation, index in places:
        if conversation in last:
            given[conversation].add(index)
    beyond = [max(indices) - last[name] for name, indices in given.items()]
    if not given or max(beyond) > 1 or any(0 in indices for indices in given.values()):
        return 0
    if beyond.count(1) >= _MOST * len(beyond):
        return 1
    known = sum(conversation in given for conversation, _ in asked)
    many = sum(map(len, given.values())) >= _MOST * known
    begin = all(1 in indices and (name, 0) in asked for name, indices in given.items())
    return None if many and begin else 0


LONGEST = 2_000  # characters of a question or a gold answer, unless the data set has longer ones
_QUOTES = str.maketrans("’‘‛`´“”„«»", "'''''" + '"""""')


@lru_cache(maxsize=65_536)
def normalise(text: str) -> str:
    """Return `text` in lower case with straight quotes and single blanks between words."""
    return " ".join(text.translate(_QUOTES).casefold().split())


def golds(questions: Iterable[Question]) -> set[str]:
    """Return the texts that files give as gold; for type 5 that is the wrong answer which the
    question suggests.
    """
    texts = (text for one in questions for text in (one.original_gold, one.adversarial))
    return {normalise(text) for text in texts if text}


class QuestionIndex:
    """Questions of a data set by their words, by their ids, and by conversation."""

    def __init__(self, dataset: Dataset) -> None:
        self.conversations = {one.id: n for n, one in enumerate(dataset.conversations)}
        self.by_id = {question.id: question for question in dataset.questions}
        self.by_words: dict[str, list[Question]] = defaultdict(list)
        self.asked: dict[str, list[Question]] = defaultdict(list)
        for question in dataset.questions:
            self.by_words[normalise(question.text)].append(question)
            self.asked[question.conversation].append(question)
        self._longest = max((LONGEST, *(2 * len(words) for words in self.by_words)))
        # In some data sets, such as LongMemEval, the id of a question is that of its history.
        self.only = {name: one[0] for name, one in self.asked.items() if len(one) == 1}

    def of_words(self, value: Any) -> list[Question]:
        """Return the questions with the words of `value`, none if it is no text."""
        if not isinstance(value, str) or len(value) > self._longest:
            return []
        return self.by_words.get(normalise(value), [])

    def of_id(self, value: Any, first: int = 0) -> Question | None:
        """Return the question with the id `value` in a file that counts from `first`, if any."""
        text = str(value).strip()
        place = place_of(text) if first else None
        if place is not None:
            text = f"{place[0]}/{place[1] - first}"
        return self.by_id.get(text) or self.only.get(text)
