"""The chat of a BEAM conversation: batches of turns, each turn a list of messages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, StrictInt

from eval.datasets.checks import Location, Row, parse
from memsys.core.dates import MONTH_NUMBERS
from memsys.core.types import Session, Turn

_ANCHOR = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
_PLAN = re.compile(r"plan-\d+")
# The generator's note of the point of its plan, at the end of a user's message: `->-> 3,12`.
_MARK = re.compile(r"\s*->-?>\s*\d+\s*,\s*(?:\d+|N/A)\s*$")
ROLES = ("user", "assistant")


def _date(value: Any) -> datetime | None:
    if value is None:
        return None
    match = _ANCHOR.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match is not None:
            return datetime(int(match[3]), MONTH_NUMBERS[match[1].lower()], int(match[2]))
    except (KeyError, ValueError):
        pass
    raise ValueError(f'{value!r:.60} is no date; write "March-15-2024"')


class _Message(Row):
    id: StrictInt
    role: Literal["user", "assistant"]
    content: str
    time_anchor: Annotated[datetime | None, BeforeValidator(_date)]


_Turns = list[list[_Message]]


class _Batch(Row):
    turns: _Turns


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
        messages = [message for turn in batch for message in turn]
        for message in messages:
            content, removed = _MARK.subn("", message.content)
            counts["notes of the generator's plan removed"] += removed
            if content.strip():
                turns[message.id].append(f"{name}:{len(own)}")
                own.append(Turn(turns[message.id][-1], message.role, content))
            else:
                counts["blank messages dropped"] += 1
        if not own:
            raise where.error(field, "no messages; add them or remove the batch")
        time = next((one.time_anchor for one in messages if one.time_anchor), None)
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


def _batches(value: Any, where: Location) -> Iterator[tuple[str, _Turns]]:
    """Yield place and turns of each batch: of a chat, or of the chats of several plans, as the
    chats of 10M tokens are.
    """
    for index, raw in enumerate(parse(list, value, where, "chat")):
        field = f"[{index}]"
        if isinstance(raw, list):  # of messages, as in the table of the data set
            yield field, parse(_Turns, [raw], where, field)
            continue
        item = parse(dict, raw, where, field)
        plans = {name: batches for name, batches in item.items() if batches is not None}
        if "turns" in item:
            yield f"{field}.turns", parse(_Batch, item, where, field).turns
        elif plans and all(map(_PLAN.fullmatch, plans)):
            for name, batches in parse(dict[str, list[_Batch]], plans, where, field).items():
                for number, batch in enumerate(batches):
                    yield f"{field}.{name}[{number}].turns", batch.turns
        else:
            raise where.error(
                field,
                "neither a batch with turns nor an object of plan-N; use the "
                "repository's chat.json",
            )
