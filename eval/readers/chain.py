"""A reader that knows the grammar of `dataset=synthetic`, but not its facts.

It answers every question that the retrieved memories suffice for: its errors are errors of
retrieval.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from eval.datasets.synthetic.languages import LANGUAGES, Language, WorldFact, parse_question
from eval.readers import Answer, Reader
from memsys.core.declared import Name
from memsys.core.types import Candidate, Retrieval

_UNKNOWN = Answer("I do not know.", abstained=True)
_UNTIL = re.compile(r"\(until (.+)\)$")  # of a relation that has ended


class _DatedFact(NamedTuple):
    fact: WorldFact
    day: date
    until: date | None


@dataclass(frozen=True)
class ChainReader(Reader):
    """Follows a question's chain of relations through the facts of the memories.

    Of several values the latest counts, up to the day asked for, unless it has ended by then.
    """

    name: Name

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """Return the end of the chain; abstain where a link is missing."""
        parsed = parse_question(question)
        if parsed is None:
            return _UNKNOWN
        language, (subject, chain, day) = parsed
        at = day or date.max
        facts = [fact for fact in _facts(language, retrieval.candidates) if fact.day <= at]
        ended = {fact.fact for fact in facts if fact.until and fact.until <= at}
        values = {(f.subject, f.relation): f.value for f, _, _ in facts if f not in ended}
        for relation in chain:
            if (subject, relation) not in values:
                return _UNKNOWN
            subject = values[subject, relation]
        return Answer(subject, abstained=False)


def _facts(language: Language, candidates: Iterable[Candidate]) -> Iterator[_DatedFact]:
    """Yield the facts of the memories in the order of the dialogue."""
    for candidate in sorted(candidates, key=_said_at):
        memory = candidate.memory
        ended = _UNTIL.search(memory.content)
        until = LANGUAGES["en"].parse(ended[1]) if ended else None
        for fact in language.read(memory.content, memory.time.date()):
            yield _DatedFact(fact, memory.time.date(), until)


def _said_at(candidate: Candidate) -> tuple[datetime, list[int]]:
    """Return a sort key: the session's time and the numbers of the first turn's id (D2:10)."""
    turns = candidate.memory.turns
    return candidate.memory.time, [int(n) for n in re.findall(r"\d+", turns[0])] if turns else []
