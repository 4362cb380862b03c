"""The history of a LongMemEval instance: dated chats of a user with an assistant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eval.datasets.layout import Place, as_list, as_object, text
from memsys.types import Conversation, Session, Turn

_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \([A-Za-z]{3}\))? (\d{2}):(\d{2})")
ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Chats:
    """A history: `sessions` are the ids of its chats that have turns, `evidence` the ids of the
    turns that hold the answer; both in the file's order. `repairs`: a line for each thing mended.
    """

    conversation: Conversation
    sessions: tuple[str, ...]
    evidence: tuple[str, ...]
    repairs: tuple[str, ...]


def read_chats(id_: str, item: dict[str, Any], place: Place) -> Chats:
    """The chats of an instance in order of their times, equal ones as in the file.

    A turn's id is `<session id>:<n>`, n from 0 as in the file, blank turns counted though they are
    left out. A session id that comes again gets `#2`, so that no two turns share an id.
    Raises InputError for a missing or unreadable field, lists of unequal length, or no turn at all.
    """
    lists = {
        key: as_list(item.get(key), place, key)
        for key in ("haystack_sessions", "haystack_session_ids", "haystack_dates")
    }
    if len({len(one) for one in lists.values()}) > 1:
        counts = ", ".join(f"{len(one)} {key}" for key, one in lists.items())
        raise place.error("haystack_sessions", f"{counts}; there must be as many of each")
    sessions: list[Session] = []
    evidence: list[str] = []
    repairs: list[str] = []
    for index, rows in enumerate(lists["haystack_sessions"]):
        name = _session_id(lists["haystack_session_ids"], index, place)
        time = parse_date(lists["haystack_dates"][index], place, f"haystack_dates[{index}]")
        field = f"haystack_sessions[{index}]"
        if earlier := sum(one.id.partition("#")[0] == name for one in sessions):
            repairs.append(f"{place.at(field)}: session id {name} again; #{earlier + 1} added")
            name = f"{name}#{earlier + 1}"
        turns, marked, blank = _turns(as_list(rows, place, field), place, field, name)
        evidence += marked
        if blank:
            repairs.append(f"{place.at(field)}: {blank} blank turns left out")
        if turns:
            sessions.append(Session(name, time, turns))
    if not sessions:
        raise place.error("haystack_sessions", "no turns; add a session with turns")
    ordered = tuple(sorted(sessions, key=lambda session: session.time))
    names = tuple(session.id for session in sessions)
    return Chats(Conversation(id_, ROLES, ordered), names, tuple(evidence), tuple(repairs))


def parse_date(value: Any, place: Place, field: str) -> datetime:
    """Naive time of "2023/05/20 (Sat) 02:21". Raises InputError at `place` and `field`."""
    if value is None:
        raise place.error(field, 'missing; add it, as in "2023/05/20 (Sat) 02:21"')
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute = map(int, match.groups())
        return datetime(year, month, day, hour, minute)
    except ValueError:
        remedy = 'write it as "2023/05/20 (Sat) 02:21"'
        raise place.error(field, f"{value!r} is no time; {remedy}") from None


def _session_id(ids: list[Any], index: int, place: Place) -> str:
    return text({"id": ids[index]}, "id", place, f"haystack_session_ids[{index}]")


def _turns(
    rows: list[Any], place: Place, field: str, session: str
) -> tuple[tuple[Turn, ...], list[str], int]:
    """Turns, the ids of those that hold the answer, and how many were blank."""
    turns: list[Turn] = []
    marked: list[str] = []
    for index, row in enumerate(rows):
        where = f"{field}[{index}]"
        item = as_object(row, place, where)
        role, words = item.get("role"), item.get("content")
        if role not in ROLES:
            raise place.error(f"{where}.role", f"{role!r}; use {' or '.join(ROLES)}")
        if not isinstance(words, str):
            raise place.error(f"{where}.content", "missing or no text; must be a text")
        holds = item.get("has_answer")
        if holds not in (None, True, False):
            raise place.error(f"{where}.has_answer", f"{holds!r}; must be true or false")
        if not words.strip():
            if holds:
                raise place.error(f"{where}.content", "empty, but has_answer; add its words")
            continue
        turns.append(Turn(id=f"{session}:{index}", speaker=role, text=words))
        if holds:
            marked.append(f"{session}:{index}")
    return tuple(turns), marked, len(rows) - len(turns)
