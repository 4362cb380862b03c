"""The chat of a BEAM conversation: batches of turns, each turn a list of messages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from eval.datasets.checks import Location, as_list, as_object
from memsys.core.dates import MONTH_NUMBERS
from memsys.core.types import Session, Turn

_ANCHOR = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
_PLAN = re.compile(r"plan-\d+")
# The generator's note of the point of its plan, at the end of a user's message: `->-> 3,12`.
_MARK = re.compile(r"\s*->-?>\s*\d+\s*,\s*(?:\d+|N/A)\s*$")
ROLES = ("user", "assistant")


def read_chat(
    value: Any, where: Location
) -> tuple[tuple[Session, ...], Mapping[int, Sequence[str]]]:
    """Return a session for each batch of the chat, in file order, and the ids of the turns by the
    `id` of the messages, which some published files use twice.

    A message is a turn here, with the id `<session>:<n>`, n counted from 0. A session's time is
    the first `time_anchor` in it, at midnight, or else the time of the session before. Raises
    InputError naming the field of anything that the published files do not have.
    """
    sessions: list[Session] = []
    turns: dict[int, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for field, batch in _batches(value, where):
        name = f"s{len(sessions) + 1}"
        own: list[Turn] = []
        time: datetime | None = None
        for at, message in _messages(batch, where, field):
            if time is None and message.get("time_anchor") is not None:
                time = _date(message["time_anchor"], where, f"{at}.time_anchor")
            number, role, content = _message(message, where, at, counts)
            if content.strip():
                turns[number].append(f"{name}:{len(own)}")
                own.append(Turn(turns[number][-1], role, content))
            else:
                counts["blank messages dropped"] += 1
        if not own:
            raise where.error(field, "no messages; add them or remove the batch")
        if time is None:
            if not sessions:
                raise where.error(field, "no time_anchor in the first batch; add one")
            time = sessions[-1].time
            where.repaired(field, "no time_anchor; the time of the session before is used")
        sessions.append(Session(name, time, tuple(own)))
    if not sessions:
        raise where.error("chat", "no batch; add the chat")
    for repair, number in (+counts).items():
        where.repaired("content", f"{number} {repair}")
    return tuple(sessions), turns


def _message(
    message: dict[str, Any], where: Location, at: str, counts: Counter[str]
) -> tuple[int, str, str]:
    """Return id, role and content of a message, and count what was removed from it."""
    number, role, content = message.get("id"), message.get("role"), message.get("content")
    if not isinstance(number, int) or isinstance(number, bool):
        raise where.error(f"{at}.id", f"{number!r:.60}; must be a whole number")
    if role not in ROLES:
        raise where.error(f"{at}.role", f"{role!r:.60}; use {' or '.join(ROLES)}")
    if not isinstance(content, str):
        raise where.error(f"{at}.content", "missing or no text; must be a text")
    content, removed = _MARK.subn("", content)
    counts["notes of the generator's plan removed"] += removed
    return number, role, content


def _batches(value: Any, where: Location) -> Iterator[tuple[str, list[Any]]]:
    """Yield place and turns of each batch: of a chat, or of the chats of several plans, as the
    chats of 10M tokens are.
    """
    for index, raw in enumerate(as_list(value, where, "chat")):
        if isinstance(raw, list):  # of messages, as in the table of the data set
            yield f"[{index}]", [raw]
            continue
        item = as_object(raw, where, f"[{index}]")
        plans = {name: batches for name, batches in item.items() if batches is not None}
        if "turns" in item:
            yield f"[{index}].turns", as_list(item["turns"], where, f"[{index}].turns")
        elif plans and all(map(_PLAN.fullmatch, plans)):
            for name, batches in plans.items():
                field = f"[{index}].{name}"
                for number, batch in enumerate(as_list(batches, where, field)):
                    at = f"{field}[{number}]"
                    turns = as_object(batch, where, at).get("turns")
                    yield f"{at}.turns", as_list(turns, where, f"{at}.turns")
        else:
            raise where.error(
                f"[{index}]",
                "neither a batch with turns nor an object of plan-N; use the "
                "repository's chat.json",
            )


def _messages(
    turns: list[Any], where: Location, field: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and fields of each message of a batch."""
    for n, turn in enumerate(turns):
        for m, message in enumerate(as_list(turn, where, f"{field}[{n}]")):
            at = f"{field}[{n}][{m}]"
            yield at, as_object(message, where, at)


def _date(value: Any, where: Location, field: str) -> datetime:
    """Return the naive time of "March-15-2024"; raise InputError for another form."""
    match = _ANCHOR.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match is None:
            raise ValueError
        month = MONTH_NUMBERS[match[1].lower()]
        return datetime(int(match[3]), month, int(match[2]))
    except (KeyError, ValueError):
        raise where.error(field, f'{value!r:.60} is no date; write "March-15-2024"') from None
