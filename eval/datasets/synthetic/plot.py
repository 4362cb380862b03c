"""A conversation into which turns are inserted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from random import Random

from eval.datasets.synthetic.languages import LANGUAGES, Language
from eval.datasets.types import Question
from memsys.core.errors import InputError
from memsys.core.language import language_of
from memsys.core.types import Conversation, Session, Turn


def texts_of(conversation: Conversation) -> list[str]:
    """Return the texts of all turns."""
    return [turn.text for session in conversation.sessions for turn in session.turns]


def language_in(conversation: Conversation) -> Language:
    """Return the grammar of the conversation's language; of one without a grammar, the English."""
    return LANGUAGES.get(language_of(texts_of(conversation)), LANGUAGES["en"])


def holds_plants(conversation: Conversation) -> bool:
    """Return whether facts can be planted: by two speakers, and in a session and a later one."""
    times = [session.time for session in conversation.sessions]
    later = any(one < other for one, other in pairwise(times))
    return later and len(conversation.speakers) >= 2


@dataclass
class Plot:
    """A conversation that turns are inserted into, with the questions about them."""

    conversation: Conversation
    language: Language
    questions: list[Question] = field(default_factory=list)
    added: list[list[tuple[int, Turn]]] = field(init=False)  # by session: place and turn
    forgets: list[list[str]] = field(init=False)  # by session: ids of turns
    later_sessions: list[tuple[int, int]] = field(init=False)  # a session and a later one

    def __post_init__(self) -> None:
        """Raise InputError if the conversation holds no plants."""
        sessions = self.conversation.sessions
        self.added, self.forgets = [[] for _ in sessions], [[] for _ in sessions]
        self.later_sessions = [
            (one, other)
            for one, other in combinations(range(len(sessions)), 2)
            if sessions[one].time < sessions[other].time
        ]
        if not holds_plants(self.conversation):
            raise InputError(
                f"dataset: planted facts need two speakers and sessions of two times; "
                f"{self.conversation.id:.60} has fewer"
            )

    def say(self, session: int, speaker: int, text: str, random: Random) -> str:
        """Insert a turn at a random place of a session; return its id."""
        within, added = self.conversation.sessions[session], self.added[session]
        prefix = within.turns[0].id.rpartition(":")[0] if within.turns else within.id
        id_ = f"{prefix}:p{len(added) + 1}"
        place = random.randint(0, len(within.turns))
        added.append((place, Turn(id_, self.conversation.speakers[speaker], text)))
        return id_

    def written(self) -> Conversation:
        """Return the conversation with the inserted turns."""
        sessions = map(_with_turns, self.conversation.sessions, self.added, self.forgets)
        return replace(self.conversation, sessions=tuple(sessions))


def _with_turns(
    session: Session, added: Sequence[tuple[int, Turn]], forgets: Sequence[str]
) -> Session:
    turns: list[Turn] = []
    for place in range(len(session.turns) + 1):
        turns += [turn for at, turn in added if at == place]
        turns += session.turns[place : place + 1]
    return replace(session, turns=tuple(turns), forgets=(*session.forgets, *forgets))
