"""Questions of a data set by id, and by words up to case, blanks and quotes, never similar ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from eval.answers.numbering import place_of
from eval.datasets.types import Dataset, Question

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
