"""A reader that knows the grammar of `dataset=synthetic` and nothing of what is told in it.

It answers whatever the retrieved memories suffice for, so that what it misses, retrieval missed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from eval.datasets.synthetic.language import LANGUAGES
from eval.readers.base import Answer
from memsys.types import Candidate, Retrieval

_UNKNOWN = Answer("I do not know.", abstained=True)


@dataclass(frozen=True)
class ChainReader:
    """Follows a question's chain through the facts of the memories; the latest telling counts."""

    name: str

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """The end of the chain, or that it cannot be told."""
        for language in LANGUAGES.values():
            asked = language.asked(question)
            if asked is not None:
                break
        else:
            return _UNKNOWN
        known = {
            (fact.subject, fact.relation): fact.value
            for candidate in sorted(retrieval.candidates, key=_told_at)
            for fact in language.read(candidate.memory.content, candidate.memory.time.date())
        }
        subject, chain = asked
        for relation in chain:
            if (subject, relation) not in known:
                return _UNKNOWN
            subject = known[subject, relation]
        return Answer(subject, abstained=False)


def _told_at(candidate: Candidate) -> tuple[datetime, list[int]]:
    """Time of the session, then the numbers in the first turn's id: D2:10 comes after D2:9."""
    turns = candidate.memory.turns
    return candidate.memory.time, [int(n) for n in re.findall(r"\d+", turns[0])] if turns else []
