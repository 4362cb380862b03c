"""Turns as a service takes them, and what it found as a strategy wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memsys.text.turns import line
from memsys.types import Candidate, Memory, Turn


def as_post(turns: Sequence[Turn], time: datetime) -> dict[str, Any]:
    """`turns` said at `time` as the body of an add, without its owner. Each message is the user's
    and named after the speaker; the metadata tell turns, speakers and time once more, for services
    that keep nothing else.
    """
    at = f"{time.isoformat()}Z"
    told = {"turns": [one.id for one in turns], "speakers": [one.speaker for one in turns]}
    said = [
        {"role": "user", "name": one.speaker, "id": one.id, "content": _words(one) or " "}
        for one in turns
    ]
    return {"messages": said, "metadata": {**told, "time": at}, "time": at}


def as_candidate(row: Mapping[str, Any], asked: datetime) -> Candidate:
    """One of the `results` of a search: what it lacks is looked for in its metadata. A memory
    without a time is of the time at which was `asked`. Raises KeyError, ValueError or TypeError on
    what is none.
    """
    known = {**(row.get("metadata") or {}), **row}
    time = known.get("time")
    said = datetime.fromisoformat(time).replace(tzinfo=None) if time else asked
    text, turns = str(row["memory"]), tuple(map(str, known.get("turns") or ()))
    memory = Memory(str(row["id"]), text, text, said, str(known.get("speaker") or ""), turns)
    return Candidate(memory, float(row.get("score") or 0.0))


def _words(turn: Turn) -> str:
    return line(turn).removeprefix(f"{turn.speaker}: ")  # its caption is part of it
