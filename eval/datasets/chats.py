"""The history of a LongMemEval instance: dated chats of a user with an assistant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eval.datasets.checks import Location, as_list, as_object, text
from memsys.types import Conversation, Session, Turn

_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \([A-Za-z]{3}\))? (\d{2}):(\d{2})")
ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Chats:
    """A history of chats.

    `sessions`: ids of the chats with turns; `evidence`: ids of the turns that contain the answer;
    both in file order. `repairs`: a line per repair.
    """

    conversation: Conversation
    sessions: tuple[str, ...]
    evidence: tuple[str, ...]
    repairs: tuple[str, ...]


def read_chats(id_: str, item: dict[str, Any], where: Location) -> Chats:
    """Return the chats of an instance in order of time, equal times in file order.

    A turn's id is `<session id>:<n>`, n being its index in the file; blank turns are dropped but
    counted. A repeated session id gets the suffix `#2`, so that no two turns share an id.
    Raises InputError for a missing or unreadable field, lists of unequal length, or no turn at all.
    """
    lists = {
        key: as_list(item.get(key), where, key)
        for key in ("haystack_sessions", "haystack_session_ids", "haystack_dates")
    }
    if len({len(one) for one in lists.values()}) > 1:
        counts = ", ".join(f"{len(one)} {key}" for key, one in lists.items())
        raise where.error("haystack_sessions", f"{counts}; the three lists must have equal lengths")
    sessions: list[Session] = []
    evidence: list[str] = []
    repairs: list[str] = []
    for index, rows in enumerate(lists["haystack_sessions"]):
        id_field = f"haystack_session_ids[{index}]"
        name = text({"id": lists["haystack_session_ids"][index]}, "id", where, id_field)
        time = parse_date(lists["haystack_dates"][index], where, f"haystack_dates[{index}]")
        field = f"haystack_sessions[{index}]"
        if earlier := sum(one.id.partition("#")[0] == name for one in sessions):
            repairs.append(f"{where.at(field)}: session id {name} repeated; #{earlier + 1} added")
            name = f"{name}#{earlier + 1}"
        turns, marked, blank = _turns(as_list(rows, where, field), where, field, name)
        evidence += marked
        if blank:
            repairs.append(f"{where.at(field)}: {blank} blank turns dropped")
        if turns:
            sessions.append(Session(name, time, turns))
    if not sessions:
        raise where.error("haystack_sessions", "no turns; add a session with turns")
    ordered = tuple(sorted(sessions, key=lambda session: session.time))
    names = tuple(session.id for session in sessions)
    return Chats(Conversation(id_, ROLES, ordered), names, tuple(evidence), tuple(repairs))


def parse_date(value: Any, where: Location, field: str) -> datetime:
    """Return the naive time of "2023/05/20 (Sat) 02:21"; raise InputError for another form."""
    if value is None:
        raise where.error(field, 'missing; add it, as in "2023/05/20 (Sat) 02:21"')
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute = map(int, match.groups())
        return datetime(year, month, day, hour, minute)
    except ValueError:
        remedy = 'write it as "2023/05/20 (Sat) 02:21"'
        raise where.error(field, f"{value!r} is no time; {remedy}") from None


def _turns(
    rows: list[Any], where: Location, field: str, session: str
) -> tuple[tuple[Turn, ...], list[str], int]:
    """Return the turns, the ids of those that contain the answer, and the number of blank ones."""
    turns: list[Turn] = []
    marked: list[str] = []
    for index, row in enumerate(rows):
        at = f"{field}[{index}]"
        item = as_object(row, where, at)
        role, content = item.get("role"), item.get("content")
        if role not in ROLES:
            raise where.error(f"{at}.role", f"{role!r}; use {' or '.join(ROLES)}")
        if not isinstance(content, str):
            raise where.error(f"{at}.content", "missing or no text; must be a text")
        has_answer = item.get("has_answer")
        if has_answer not in (None, True, False):
            raise where.error(f"{at}.has_answer", f"{has_answer!r}; must be true or false")
        if not content.strip():
            if has_answer:
                raise where.error(f"{at}.content", "empty, but has_answer; add its text")
            continue
        turns.append(Turn(id=f"{session}:{index}", speaker=role, text=content))
        if has_answer:
            marked.append(f"{session}:{index}")
    return tuple(turns), marked, len(rows) - len(turns)
