"""One store for all conversations: a data set whose questions search the memories of everybody."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

from eval.datasets.types import Dataset, Question
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session

POOLED = "pooled"


@dataclass(frozen=True, kw_only=True)
class Poolable:
    """A data set that may have one store: `pooled` puts all conversations into it; `owner_filter`
    searches only the asking conversation's memories in it.
    """

    pooled: bool = False
    owner_filter: bool = False

    def check_pool(self) -> None:
        """Raise InputError unless a filter has a pool to filter."""
        if self.owner_filter and not self.pooled:
            raise InputError(
                "dataset.owner_filter=true: filters a pooled store; add dataset.pooled=true"
            )


class Renaming(NamedTuple):
    """New ids of sessions and of turns, by the former ones."""

    of_session: Callable[[str], str]
    of_turn: Callable[[str], str]

    def session(self, session: Session) -> Session:
        """Return `session` with new ids, also where it refers to turns."""
        return replace(
            session,
            id=self.of_session(session.id),
            turns=tuple(replace(turn, id=self.of_turn(turn.id)) for turn in session.turns),
            observations=tuple(
                replace(fact, turns=tuple(map(self.of_turn, fact.turns)))
                for fact in session.observations
            ),
            forgets=tuple(map(self.of_turn, session.forgets)),
        )

    def question(self, question: Question) -> Question:
        """Return `question` with the new ids of its evidence."""
        original, sessions = question.evidence_original, question.evidence_sessions
        return replace(
            question,
            evidence=tuple(map(self.of_turn, question.evidence)),
            evidence_original=None if original is None else tuple(map(self.of_turn, original)),
            evidence_sessions=None if sessions is None else tuple(map(self.of_session, sessions)),
        )


def pool(dataset: Dataset) -> Dataset:
    """Return `dataset` with one conversation, POOLED, that has the sessions of all, by time.

    Ids of sessions and turns are prefixed by their conversation (`conv-26:D1:3`), and each session
    names it as its owner. Questions still belong to their conversations, which intervals resample.
    """
    # The order within a conversation is the file's, even where its dates are not in order.
    pairs = [
        (time, owned(session, conversation.id))
        for conversation in dataset.conversations
        for time, session in timed(conversation)
    ]
    sessions = tuple(session for _, session in sorted(pairs, key=lambda pair: pair[0]))
    speakers = dict.fromkeys(
        name for conversation in dataset.conversations for name in conversation.speakers
    )
    return replace(
        dataset,
        conversations=(Conversation(POOLED, tuple(speakers), sessions),),
        questions=tuple(map(_asked_of_all, dataset.questions)),
    )


def timed(conversation: Conversation) -> Iterator[tuple[datetime, Session]]:
    """Yield the sessions of `conversation`, each with the latest time until then."""
    latest = accumulate((session.time for session in conversation.sessions), max)
    yield from zip(latest, conversation.sessions, strict=True)


def owned(session: Session, owner: str) -> Session:
    """Return `session` with `owner`, which prefixes its id and those of its turns."""
    return replace(_prefixing(owner).session(session), owner=owner)


def _asked_of_all(question: Question) -> Question:
    renaming, plant = _prefixing(question.conversation), question.plant
    if plant is not None and plant.kind != "other_owner":  # has the prefix of the other owner
        plant = replace(plant, turns=tuple(map(renaming.of_turn, plant.turns)))
    return replace(renaming.question(question), store=POOLED, plant=plant)


def _prefixing(owner: str) -> Renaming:
    def prefixed(id_: str) -> str:
        return f"{owner}:{id_}"

    return Renaming(prefixed, prefixed)
