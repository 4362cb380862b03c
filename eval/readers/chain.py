"""A reader that knows the grammar of `dataset=synthetic` and nothing of what is told in it.

It answers whatever the retrieved memories suffice for, so that what it misses, retrieval missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from eval.datasets.synthetic.language import Fact, Language
from eval.datasets.synthetic.languages import LANGUAGES, asked
from eval.readers.base import Answer, Reader
from memsys.types import Candidate, Retrieval

_UNKNOWN = Answer("I do not know.", abstained=True)
_UNTIL = re.compile(r"\(until (.+)\)$")  # of a relation that does not hold any more


class _Told(NamedTuple):
    fact: Fact
    day: date
    until: date | None


@dataclass(frozen=True)
class ChainReader(Reader):
    """Follows a question's chain through the facts of the memories; the latest telling counts, up
    to the day that is asked for if one is. What has ended by then does not.
    """

    name: str

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """The end of the chain, or that it cannot be told."""
        found = asked(question)
        if found is None:
            return _UNKNOWN
        language, (subject, chain, day) = found
        at = day or date.max
        told = [one for one in _facts(language, retrieval.candidates) if one.day <= at]
        over = {one.fact for one in told if one.until and one.until <= at}
        known = {(f.subject, f.relation): f.value for f, _, _ in told if f not in over}
        for relation in chain:
            if (subject, relation) not in known:
                return _UNKNOWN
            subject = known[subject, relation]
        return Answer(subject, abstained=False)


def _facts(language: Language, candidates: Iterable[Candidate]) -> Iterator[_Told]:
    """What the memories tell, in the order in which it was told."""
    for candidate in sorted(candidates, key=_told_at):
        memory = candidate.memory
        ended = _UNTIL.search(memory.content)
        until = LANGUAGES["en"].parse(ended[1]) if ended else None
        for fact in language.read(memory.content, memory.time.date()):
            yield _Told(fact, memory.time.date(), until)


def _told_at(candidate: Candidate) -> tuple[datetime, list[int]]:
    """Time of the session, then the numbers in the first turn's id: D2:10 comes after D2:9."""
    turns = candidate.memory.turns
    return candidate.memory.time, [int(n) for n in re.findall(r"\d+", turns[0])] if turns else []
