"""The text of a turn in a memory or prompt, and the importance of a text."""

from collections.abc import Iterable

from memsys.core.terms import terms
from memsys.core.types import UNDATED, Session, Turn

# Of chat messages; the speaker where no name is given.
ROLES = ("user", "assistant", "system", "tool")
_RICH = 20  # distinct terms at which a text reaches importance 1


def line(turn: Turn) -> str:
    """Return `Speaker: text [image: caption]`; the speaker's name is part of the indexed text. A
    turn without a speaker is its text alone.
    """
    caption = f" [image: {turn.caption}]" if turn.caption else ""
    speaker = f"{turn.speaker}: " if turn.speaker else ""
    return f"{speaker}{turn.text}{caption}"


def document(id_: str, title: str, text: str) -> Session:
    """Return a document as a turn without a speaker, in a session of its own that has the same id:
    no text beside it becomes part of its memory. Title and text are joined by a blank, as BEIR's
    loaders do.
    """
    return Session(id_, UNDATED, (Turn(id_, "", f"{title} {text}" if title else text),))


def are_documents(sessions: Iterable[Session]) -> bool:
    """Return whether `sessions` are the results of `document`: no sessions that could be ranked."""
    return all(
        len(session.turns) == 1 and session.turns[0].id == session.id for session in sessions
    )


def importance(text: str) -> float:
    """Return the importance of `text`, 0 to 1: its distinct terms divided by 20, at most 1."""
    return min(len(set(terms(text))) / _RICH, 1.0)
