"""Sessions that concern none of a conversation's questions: of others, or generated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import count
from random import Random

from eval.datasets.pooled import owned, timed
from eval.datasets.synthetic.parameters import Parameters
from eval.datasets.synthetic.world import dialogue
from eval.datasets.types import SourceFile
from memsys.core.types import Conversation, Session, Turn

Timed = tuple[datetime, Session]
_SESSIONS, _TURNS = 5, 22  # of a generated conversation and session; a session of LoCoMo has 21.6
_JOINED = 3  # generated turns in one, of 26 words on average; LoCoMo's have 25
_WORLD = {"hops": 1, "updates": 0, "distractors": 0.8, "relative_dates": 0.5, "language": "en"}


class Unrelated:
    """The unrelated sessions for each of some `conversations`, always in the same order."""

    def __init__(self, conversations: Sequence[Conversation], seed: int) -> None:
        """`seed`: of the order of the sessions, and of the generated ones."""
        self._seed = seed
        self._lent: Mapping[str, Sequence[Timed]] = {
            one.id: [(time, owned(session, one.id)) for time, session in timed(one)]
            for one in conversations
        }
        days = [time for lent in self._lent.values() for time, _ in lent]
        self._span = min(days), max(days)

    def sessions(self, conversation: str) -> Iterator[Timed]:
        """Yield, with their times, the sessions of all other conversations in a random order, then
        generated ones without end. Each has an owner that is not `conversation`.
        """
        lent = [pair for id_, of in self._lent.items() if id_ != conversation for pair in of]
        Random(f"{self._seed}/{conversation}").shuffle(lent)  # noqa: S311 - an order, not a secret
        yield from lent
        for number in count():
            yield from _generated(self._seed, number, *self._span)

    def file(self) -> SourceFile:
        """Return the entry, among the files of a data set, that stands for the generator."""
        said = [
            (session.id, time.isoformat(), turn.id, turn.speaker, turn.text)
            for time, session in _generated(self._seed, 0, *self._span)
            for turn in session.turns
        ]
        text = repr(said).encode()
        return SourceFile("generated dialogue", len(text), hashlib.sha256(text).hexdigest())


@cache  # a sweep loads the same ones for every run
def _generated(seed: int, number: int, first: datetime, last: datetime) -> Sequence[Timed]:
    """Return the sessions of generated conversation `number`, somewhere between two times."""
    settings = {"conversations": 1, "sessions": _SESSIONS, "turns": _TURNS * _JOINED, "seed": seed}
    conversation, _ = dialogue(Parameters(**_WORLD, **settings), number)  # type: ignore[arg-type]
    sessions = conversation.sessions
    room = (last - first) - (sessions[-1].time - sessions[0].time)
    days = Random(f"{seed}/{number}").randint(0, max(room.days, 0))  # noqa: S311
    shift = timedelta(days=(first.date() - sessions[0].time.date()).days + days)
    return [
        (session.time + shift, owned(_joined(session, shift), f"generated-{number}"))
        for session in sessions
    ]


def _joined(session: Session, shift: timedelta) -> Session:
    """Return `session`, later by `shift`, in which a turn has the words of _JOINED turns of its
    speaker; two speakers take turns.
    """
    turns = []
    for place, turn in enumerate(session.turns[: len(session.turns) // _JOINED]):
        start = place // 2 * 2 * _JOINED + place % 2
        parts = session.turns[start : start + 2 * _JOINED : 2]
        speaker, text = parts[0].speaker, " ".join(one.text for one in parts)
        turns.append(Turn(turn.id, speaker, text))
    return replace(session, time=session.time + shift, turns=tuple(turns))
