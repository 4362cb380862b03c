"""The `conversation` of a LoCoMo-style sample: dated sessions of turns."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from eval.datasets.layout import Place, as_list, as_object, text
from eval.datasets.observations import read_observations
from memsys.types import Conversation, Session, Turn

_KEY = re.compile(r"session_([0-9]+)(_\w+)?")
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_TIME = re.compile(
    r"([0-9]{1,2}):([0-9]{2})\s*([ap])m\s+on\s+([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})",
    re.IGNORECASE,
)


def read_conversation(
    sample_id: str, raw: dict[str, Any], place: Place, *, captions: bool, mend: bool
) -> tuple[Conversation, list[str]]:
    """The conversation of a sample, and a line for each thing mended in its observations.

    `raw` is the whole sample. `captions` keeps image captions. `mend` as in `turn_ids`.
    Raises InputError for a missing or unreadable field, an id used twice, or no turn at all.
    """
    talk = as_object(raw.get("conversation"), place, "conversation")
    sessions: list[Session] = []
    seen: set[str] = set()
    for key in _session_keys(talk, place):
        turns = _turns(as_list(talk[key], place, key), place, key, seen, captions=captions)
        if turns:
            sessions.append(Session(key, _time(talk, f"{key}_date_time", place), turns))
    if not sessions:
        raise place.error("conversation", "no turns; add session_1 and session_1_date_time")
    observed, repairs = read_observations(raw.get("observation"), sessions, place, mend=mend)
    return Conversation(sample_id, _speakers(talk, observed), tuple(observed)), repairs


def _session_keys(talk: dict[str, Any], place: Place) -> list[str]:
    """Keys of sessions by number: session_10 follows session_9.

    Dates of sessions that are not there are passed over: the published file has them.
    """
    numbers: dict[int, str] = {}
    for key in talk:
        match = _KEY.fullmatch(key)
        if match is None:
            if key.lower().startswith("session"):
                raise place.error(key, "unknown field; sessions are named session_1, session_2 ...")
        elif match[2] is None:
            number = int(match[1])
            if number in numbers:
                raise place.error(key, f"the same session as {numbers[number]}; number it anew")
            numbers[number] = key
    return [numbers[number] for number in sorted(numbers)]


def _turns(
    rows: list[Any], place: Place, session: str, seen: set[str], *, captions: bool
) -> tuple[Turn, ...]:
    """Turns of one session; `seen` collects the ids of the conversation.

    `query` is never read: it is the words by which an image was searched for, said by nobody.
    """
    turns: list[Turn] = []
    for index, row in enumerate(rows):
        field = f"{session}[{index}]"
        item = as_object(row, place, field)
        turn = text(item, "dia_id", place, f"{field}.dia_id")
        if turn in seen:
            raise place.error(f"{field}.dia_id", f"{turn!r} is used twice; give each turn its own")
        seen.add(turn)
        caption = None
        if item.get("blip_caption") is not None:
            caption = text(item, "blip_caption", place, f"{field}.blip_caption")
        turns.append(
            Turn(
                id=turn,
                speaker=text(item, "speaker", place, f"{field}.speaker"),
                text=text(item, "text", place, f"{field}.text"),
                caption=caption if captions else None,
                image=_image(item.get("img_url"), place, f"{field}.img_url"),
            )
        )
    return tuple(turns)


def _image(value: Any, place: Place, field: str) -> str | None:
    """The address of a turn's image, or of its first one."""
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str):
        return first.strip() or None
    if first in (None, []):
        return None
    raise place.error(field, "must be an address, or a list of addresses")


def _time(talk: dict[str, Any], field: str, place: Place) -> datetime:
    if talk.get(field) is None:
        raise place.error(field, 'missing; add it, as in "1:56 pm on 8 May, 2023"')
    raw = text(talk, field, place, field)
    try:
        return parse_time(raw)
    except ValueError:
        remedy = 'write it as "1:56 pm on 8 May, 2023" or "2023-05-08 13:56"'
        raise place.error(field, f"{raw!r} is no time; {remedy}") from None


def parse_time(raw: str) -> datetime:
    """Naive time of "1:56 pm on 8 May, 2023" or ISO 8601 (an offset is left out: time as written).

    Months are read in English whatever the locale. Raises ValueError.
    """
    match = _TIME.fullmatch(raw.strip())
    if match is None:
        return datetime.fromisoformat(raw.strip()).replace(tzinfo=None)
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12:
        raise ValueError(raw)
    names = [name for name in _MONTHS if month.lower() in (name, name[:3])]
    if not names:
        raise ValueError(raw)
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
    return datetime(int(year), _MONTHS.index(names[0]) + 1, int(day), hours, int(minute))


def _speakers(talk: dict[str, Any], sessions: list[Session]) -> tuple[str, ...]:
    """speaker_a and speaker_b where they are given, then whoever else speaks."""
    named = [talk.get(key) for key in ("speaker_a", "speaker_b")]
    heard = [turn.speaker for session in sessions for turn in session.turns]
    return tuple(dict.fromkeys([n for n in named if isinstance(n, str) and n.strip()] + heard))
