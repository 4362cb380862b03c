"""One store for all conversations: a data set whose questions search the memories of everybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate

from eval.datasets.types import Dataset, Plant, Question
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


def pool(dataset: Dataset) -> Dataset:
    """Return `dataset` with one conversation, POOLED, that has the sessions of all, by time.

    Ids of sessions and turns are prefixed by their conversation (`conv-26:D1:3`), and each session
    names it as its owner. Questions still belong to their conversations, which intervals resample.
    """
    # The order within a conversation is the file's, even where its dates are not in order.
    pairs = [
        (time, owned(session, one.id))
        for one in dataset.conversations
        for time, session in timed(one)
    ]
    sessions = tuple(session for _, session in sorted(pairs, key=lambda pair: pair[0]))
    speakers = dict.fromkeys(name for one in dataset.conversations for name in one.speakers)
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
    return replace(
        session,
        id=f"{owner}:{session.id}",
        turns=tuple(replace(turn, id=f"{owner}:{turn.id}") for turn in session.turns),
        observations=tuple(
            replace(fact, turns=_of(owner, fact.turns)) for fact in session.observations
        ),
        owner=owner,
        forgets=_of(owner, session.forgets),
    )


def _asked_of_all(question: Question) -> Question:
    owner, original = question.conversation, question.evidence_original
    sessions = question.evidence_sessions
    return replace(
        question,
        store=POOLED,
        evidence=_of(owner, question.evidence),
        evidence_original=None if original is None else _of(owner, original),
        evidence_sessions=None if sessions is None else _of(owner, sessions),
        plant=None if question.plant is None else _in_pool(owner, question.plant),
    )


def _in_pool(owner: str, plant: Plant) -> Plant:
    """Return `plant` with the ids that its turns have in the pool."""
    if plant.kind == "other_owner":  # has the prefix of the other owner
        return plant
    return replace(plant, turns=_of(owner, plant.turns))


def _of(owner: str, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{owner}:{id_}" for id_ in ids)
