"""The `conversation` and `observation` of a LoCoMo-style sample: dated sessions of turns."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from eval.datasets.checks import (
    Location,
    TurnIds,
    as_list,
    as_object,
    is_visible,
    name,
    text,
    turn_ids,
)
from memsys.core.dates import MONTH_NUMBERS
from memsys.core.types import Conversation, Observation, Session, Turn

_SESSION_KEY = re.compile(r"session_([0-9]{1,9})(_\w+)?")
_OBSERVATION_KEY = re.compile(r"(session_[0-9]+)_observation")
_ALIKE = 0.8  # similarity to "session", as of sesion and ssession, but not of season
_TIME = re.compile(
    r"([0-9]{1,2}):([0-9]{2})\s*([ap])m\s+on\s+([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})",
    re.IGNORECASE,
)


def read_conversation(raw: dict[str, Any], where: Location, *, captions: bool) -> Conversation:
    """Return the conversation of the sample `raw`.

    `captions`: include image captions. Raises InputError for a missing or unreadable field, an id
    used twice, or no turn at all.
    """
    fields = as_object(raw.get("conversation"), where, "conversation")
    sessions: list[Session] = []
    seen: set[str] = set()
    for key in _session_keys(fields, where):
        turns = _turns(as_list(fields[key], where, key), where, key, seen, captions=captions)
        if turns:
            sessions.append(Session(key, _time(fields, f"{key}_date_time", where), turns))
    if not sessions:
        raise where.error("conversation", "no turns; add session_1 and session_1_date_time")
    _note_order(sessions, where)
    observed = _observed(raw.get("observation"), sessions, where)
    named = [
        name(fields, key, where, key)
        for key in ("speaker_a", "speaker_b")
        if isinstance(given := fields.get(key), str) and is_visible(given)
    ]
    speaking = [turn.speaker for session in sessions for turn in session.turns]
    speakers = dict.fromkeys([*named, *speaking])
    return Conversation(where.sample, tuple(speakers), tuple(observed))


def _session_keys(fields: dict[str, Any], where: Location) -> list[str]:
    """Return the keys of sessions in numeric order: session_10 follows session_9.

    Dates without a session are ignored: the published file has some.
    """
    by_number: dict[int, str] = {}
    for key, value in fields.items():
        match = _SESSION_KEY.fullmatch(key)
        if match is None:
            if _resembles_session(key, value):
                raise where.error(key, "unknown field; sessions are named session_1, session_2 ...")
        elif match[2] is None:
            number = int(match[1])
            if number in by_number:
                raise where.error(key, f"the same session as {by_number[number]}; renumber it")
            by_number[number] = key
    return [by_number[number] for number in sorted(by_number)]


def _resembles_session(key: str, value: Any) -> bool:
    """Return whether an unknown field is a misspelt session, or holds turns."""
    word = re.split("[^a-z]", key.lower())[0]
    alike = SequenceMatcher(None, word, "session").ratio() >= _ALIKE
    turns = isinstance(value, list) and any(isinstance(one, dict) for one in value)
    return alike or turns or word.startswith("session")


def _note_order(sessions: list[Session], where: Location) -> None:
    """Report sessions that are dated before the one of the number below."""
    late = [(one, next_) for one, next_ in pairwise(sessions) if next_.time < one.time]
    if late:
        others = f", and {len(late) - 1:,} more" if len(late) > 1 else ""
        where.repaired(
            f"{late[0][1].id}_date_time",
            f"earlier than that of {late[0][0].id}{others}; the order is that of the numbers",
        )


def _turns(
    rows: list[Any], where: Location, session: str, seen: set[str], *, captions: bool
) -> tuple[Turn, ...]:
    """Return the turns of one session and add their ids to `seen`, the conversation's ids.

    `query` is never read: it contains the search words for an image, which nobody said.
    """
    turns: list[Turn] = []
    for index, row in enumerate(rows):
        field = f"{session}[{index}]"
        item = as_object(row, where, field)
        turn = text(item, "dia_id", where, f"{field}.dia_id")
        if turn in seen:
            raise where.error(
                f"{field}.dia_id", f"{turn!r:.60} is used twice; give each turn its own"
            )
        seen.add(turn)
        caption = None
        if item.get("blip_caption") is not None:
            caption = text(item, "blip_caption", where, f"{field}.blip_caption")
        turns.append(
            Turn(
                id=turn,
                speaker=name(item, "speaker", where, f"{field}.speaker"),
                text=text(item, "text", where, f"{field}.text"),
                caption=caption if captions else None,
                image=_image(item.get("img_url"), where, f"{field}.img_url"),
            )
        )
    return tuple(turns)


def _image(value: Any, where: Location, field: str) -> str | None:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str):
        return first.strip() or None
    if first in (None, []):
        return None
    raise where.error(field, "must be an address, or a list of addresses")


def _time(fields: dict[str, Any], field: str, where: Location) -> datetime:
    if fields.get(field) is None:
        raise where.error(field, 'missing; add it, as in "1:56 pm on 8 May, 2023"')
    raw = text(fields, field, where, field)
    try:
        return parse_time(raw)
    except ValueError:
        remedy = 'write it as "1:56 pm on 8 May, 2023" or "2023-05-08 13:56"'
        raise where.error(field, f"{raw!r:.60} is no time; {remedy}") from None


def parse_time(raw: str) -> datetime:
    """Return the naive time of "1:56 pm on 8 May, 2023" or of ISO 8601, whose offset is ignored.

    Month names are English in any locale. Raises ValueError for another form.
    """
    match = _TIME.fullmatch(raw.strip())
    if match is None:
        return datetime.fromisoformat(raw.strip()).replace(tzinfo=None)
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12 or month.lower() not in MONTH_NUMBERS:
        raise ValueError(raw)
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
    return datetime(int(year), MONTH_NUMBERS[month.lower()], int(day), hours, int(minute))


def _observed(value: Any, sessions: list[Session], where: Location) -> list[Session]:
    """Return `sessions` with their observations.

    `value`: {"session_1_observation": {"Speaker": [["text", "D1:3"], ...]}}, or None. The ids may
    be one, several in a text, or a list. A fact may cite turns of its session and of earlier ones,
    never of later ones, which would leak the future.
    """
    if value is None:
        return sessions
    by_session: dict[str, dict[str, Any]] = {}
    ids = {session.id for session in sessions}
    for key, speakers in as_object(value, where, "observation").items():
        match = _OBSERVATION_KEY.fullmatch(key)
        if match is None or match[1] not in ids:
            raise where.error(
                f"observation.{key}",
                "belongs to no session; name it session_N_observation, for an existing session",
            )
        by_session[match[1]] = as_object(speakers, where, f"observation.{key}")
    observed: list[Session] = []
    past = TurnIds()
    for session in sessions:
        past.add(turn.id for turn in session.turns)
        key = f"observation.{session.id}_observation"
        observations = tuple(
            _observation(speaker, row, past, where, f"{key}.{speaker}[{index}]")
            for speaker, rows in by_session.get(session.id, {}).items()
            for index, row in enumerate(as_list(rows, where, f"{key}.{speaker}"))
        )
        observed.append(dataclasses.replace(session, observations=observations))
    return observed


def _observation(speaker: str, row: Any, past: TurnIds, where: Location, field: str) -> Observation:
    match row:
        case [str(fact), (str() | list()) as ids] if fact.strip():
            turns = turn_ids(ids, past, where, field)
        case _:
            raise where.error(field, 'must be a text and its turns, as in ["...", "D1:3"]')
    if not turns and not where.lenient:
        raise where.error(field, "names no turn; add the dia_id it is taken from")
    return Observation(speaker, fact, turns)
