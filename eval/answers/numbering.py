"""Whether a file counts the questions of a conversation from 1, where data sets count from 0."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from eval.datasets.types import Question

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
