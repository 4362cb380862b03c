"""Neutral ids of sessions, where the published ones reveal which sessions contain the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eval.datasets.types import Question
from memsys.core.types import Conversation


def neutral(
    conversation: Conversation, question: Question
) -> tuple[Conversation, Question, Mapping[str, str]]:
    """Return both with the sessions' ids replaced by s1, s2, ... in their order, and the new ids by
    the former ones. A turn's id is `<session id>:<n>` before and after, with the same n.
    """
    names = {session.id: f"s{n}" for n, session in enumerate(conversation.sessions, 1)}
    sessions = tuple(
        replace(
            session,
            id=names[session.id],
            turns=tuple(replace(turn, id=_turn(turn.id, names)) for turn in session.turns),
        )
        for session in conversation.sessions
    )
    cited = question.evidence_sessions
    question = replace(
        question,
        evidence=tuple(_turn(id_, names) for id_ in question.evidence),
        evidence_sessions=None if cited is None else tuple(names[id_] for id_ in cited),
    )
    return replace(conversation, sessions=sessions), question, names


def _turn(id_: str, names: Mapping[str, str]) -> str:
    session, _, number = id_.rpartition(":")
    return f"{names[session]}:{number}"
