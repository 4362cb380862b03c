"""Texts as they are compared: equal up to case, blanks and the kind of quotes, never similar."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from eval.datasets.types import Question

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
