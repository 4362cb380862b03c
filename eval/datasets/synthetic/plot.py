"""A conversation that turns are inserted into, and where in it facts can be planted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random

from eval.datasets.synthetic.languages import Language
from eval.datasets.types import Question
from memsys.core.types import Conversation, Turn


def later_sessions(conversation: Conversation) -> list[tuple[int, int]]:
    """Return the pairs of a session and a later one, by index, in which facts can be planted; none
    without two speakers.
    """
    pairs = combinations(enumerate(conversation.sessions), 2)
    later = [(at, after) for (at, one), (after, other) in pairs if one.time < other.time]
    return later if len(conversation.speakers) >= 2 else []


@dataclass
class Plot:
    """A conversation that turns are inserted into, with the questions about them. `added`: place
    and turn, `forgets`: ids of turns, each by session.
    """

    conversation: Conversation
    language: Language
    later_sessions: Sequence[tuple[int, int]]
    questions: list[Question] = field(default_factory=list)
    added: dict[int, list[tuple[int, Turn]]] = field(default_factory=lambda: defaultdict(list))
    forgets: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def say(self, session: int, speaker: int, text: str, random: Random) -> str:
        """Insert a turn at a random place of a session; return its id."""
        within, added = self.conversation.sessions[session], self.added[session]
        prefix = within.turns[0].id.rpartition(":")[0] if within.turns else within.id
        id_ = f"{prefix}:p{len(added) + 1}"
        place = random.randint(0, len(within.turns))
        added.append((place, Turn(id_, self.conversation.speakers[speaker], text)))
        return id_

    def written(self) -> Conversation:
        """Return the conversation with the inserted turns, each before the turn at its place."""
        sessions = []
        for number, session in enumerate(self.conversation.sessions):
            rows = [((place, 0), turn) for place, turn in self.added[number]]
            rows += [((place, 1), turn) for place, turn in enumerate(session.turns)]
            turns = tuple(turn for _, turn in sorted(rows, key=lambda row: row[0]))
            forgets = (*session.forgets, *self.forgets[number])
            sessions.append(replace(session, turns=turns, forgets=forgets))
        return replace(self.conversation, sessions=tuple(sessions))
