"""The `conversation` and `observation` of a LoCoMo-style sample: dated sessions of turns."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from eval.datasets.checks import Ids, Line, Location, Row, Text, TurnIds, is_visible, parse, time_by
from memsys.core.dates import MONTH_NUMBERS
from memsys.core.types import Conversation, Observation, Session, Turn

_SESSION_KEY = re.compile(r"session_([0-9]{1,9})(_\w+)?")
_OBSERVATION = "_observation"
_MISSPELT = re.compile("s+e(s+i?on|ss)", re.IGNORECASE)  # but not season
_TIME = re.compile(
    r"([0-9]{1,2}):([0-9]{2})\s*([ap])m\s+on\s+([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})",
    re.IGNORECASE,
)


def _address(value: Any) -> str | None:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str):
        return first.strip() or None
    if first in (None, []):
        return None
    raise ValueError("must be an address, or a list of addresses")


ImageAddress = Annotated[str | None, BeforeValidator(_address)]  # of a list, the first


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


_FORM = '"1:56 pm on 8 May, 2023" or "2023-05-08 13:56"'
_Time = Annotated[datetime, time_by(parse_time, _FORM)]  # naive


class TurnRow(Row):
    """A turn. `query` is not read: it has the search words for an image, which nobody said."""

    dia_id: Text
    speaker: Line
    text: Text
    blip_caption: Text | None = None
    img_url: ImageAddress = None

    def turn(self, captions: bool) -> Turn:
        """Return the turn, with its image's caption or without."""
        caption = self.blip_caption if captions else None
        return Turn(self.dia_id, self.speaker, self.text, caption, self.img_url)


class _Fact(NamedTuple):
    """An observation as the file has it: a text and the ids of its turns."""

    text: str
    turns: Ids


def _fact(value: Any) -> Any:
    match value:
        case [str(fact), str() | list()] if fact.strip():
            return value
    raise ValueError('must be a text and its turns, as in ["...", "D1:3"]')


def _name(value: Any) -> Any:
    return value if isinstance(value, str) and is_visible(value) else None


class _Speakers(Row):
    speaker_a: Annotated[Line | None, BeforeValidator(_name)] = None
    speaker_b: Annotated[Line | None, BeforeValidator(_name)] = None


class _Conversation(Row):
    conversation: dict[str, Any]
    observation: dict[str, dict[str, list[Annotated[_Fact, BeforeValidator(_fact)]]]] | None = None


def read_conversation(raw: dict[str, Any], where: Location, *, captions: bool) -> Conversation:
    """Return the conversation of the sample `raw`.

    `captions`: include image captions. Raises InputError for a missing or unreadable field, an id
    used twice, or no turn at all.
    """
    row = parse(_Conversation, raw, where)
    sessions = read_sessions(row.conversation, where, list[TurnRow], _Time, captions=captions)
    late = [(session, next_) for session, next_ in pairwise(sessions) if next_.time < session.time]
    if late:
        others = f", and {len(late) - 1:,} more" if len(late) > 1 else ""
        where.repaired(
            f"{late[0][1].id}_date_time",
            f"earlier than that of {late[0][0].id}{others}; the order is that of the numbers",
        )
    named = parse(_Speakers, row.conversation, where)
    observed = list(_observed(row.observation or {}, sessions, where))
    return conversation_of(where.sample, (named.speaker_a, named.speaker_b), observed)


def read_sessions(
    fields: dict[str, Any],
    where: Location,
    rows: type[Sequence[TurnRow]],
    time: Any,
    *,
    captions: bool,
) -> list[Session]:
    """Return the sessions with turns: the lists session_N of `fields`, of the type `rows`, and
    their times, of the type `time`. Raises InputError as read_conversation does.
    """
    sessions: list[Session] = []
    seen: set[str] = set()
    for key in _session_keys(fields, where):
        turns = [row.turn(captions) for row in parse(rows, fields[key], where, key)]
        for index, turn in enumerate(turns):
            if turn.id in seen:
                problem = f"{turn.id!r:.60} is used twice; give each turn its own"
                raise where.error(f"{key}[{index}].dia_id", problem)
            seen.add(turn.id)
        if turns:
            at = f"{key}_date_time"
            sessions.append(Session(key, parse(time, fields.get(at), where, at), tuple(turns)))
    if not sessions:
        raise where.error("session_1", "no turns; add session_1 and session_1_date_time")
    return sessions


def conversation_of(
    id_: str, named: Iterable[str | None], sessions: Sequence[Session]
) -> Conversation:
    """Return the conversation of the `named` speakers and any other who speaks in `sessions`."""
    spoke = (turn.speaker for session in sessions for turn in session.turns)
    speakers = dict.fromkeys(name for name in (*named, *spoke) if name)
    return Conversation(id_, tuple(speakers), tuple(sessions))


def _session_keys(fields: dict[str, Any], where: Location) -> list[str]:
    """Return the keys of sessions in numeric order: session_10 follows session_9.

    Dates without a session are ignored: the published file has some.
    """
    by_number: dict[int, str] = {}
    for key, value in fields.items():
        match = _SESSION_KEY.fullmatch(key)
        if match is None:
            has_turns = isinstance(value, list) and any(isinstance(turn, dict) for turn in value)
            if has_turns or _MISSPELT.match(key):
                raise where.error(key, "unknown field; sessions are named session_1, session_2 ...")
        elif match[2] is None:
            number = int(match[1])
            if number in by_number:
                raise where.error(key, f"the same session as {by_number[number]}; renumber it")
            by_number[number] = key
    return [by_number[number] for number in sorted(by_number)]


def _observed(
    by_key: dict[str, dict[str, list[_Fact]]], sessions: list[Session], where: Location
) -> Iterator[Session]:
    """Yield `sessions` with their observations.

    `by_key`: {"session_1_observation": {"Speaker": [("text", ids), ...]}}. A fact may cite turns of
    its session and of earlier ones, never of later ones, which would leak the future.
    """
    ids = {session.id for session in sessions}
    for key in by_key:
        if not key.endswith(_OBSERVATION) or key.removesuffix(_OBSERVATION) not in ids:
            raise where.error(
                f"observation.{key}",
                "belongs to no session; name it session_N_observation, for an existing session",
            )
    past = TurnIds()
    for session in sessions:
        past.add(turn.id for turn in session.turns)
        key = f"{session.id}{_OBSERVATION}"
        observations: list[Observation] = []
        for speaker, facts in by_key.get(key, {}).items():
            for index, fact in enumerate(facts):
                field = f"observation.{key}.{speaker}[{index}]"
                turns = past.cited(fact.turns, where, field)
                if not turns and not where.lenient:
                    raise where.error(field, "names no turn; add the dia_id it is taken from")
                observations.append(Observation(speaker, fact.text, turns))
        yield dataclasses.replace(session, observations=tuple(observations))
