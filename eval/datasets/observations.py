"""The `observation` of a LoCoMo-style sample: facts about a speaker with the turns they rest on."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from eval.datasets.evidence import TurnIds, turn_ids
from eval.datasets.layout import Place, as_list, as_object
from memsys.types import Observation, Session

_KEY = re.compile(r"(session_[0-9]+)_observation")


def read_observations(
    value: Any, sessions: list[Session], place: Place, *, mend: bool
) -> tuple[list[Session], list[str]]:
    """`sessions` with their observations, and a line for each turn id mended.

    `value`: {"session_1_observation": {"Speaker": [["text", "D1:3"], ...]}}, or None. The ids may
    be one, several in a text, or a list. A fact may rest on turns of its own session and of those
    before, never on later ones: it would let the future leak. Raises InputError.
    """
    if value is None:
        return sessions, []
    by_session = _by_session(as_object(value, place, "observation"), sessions, place)
    observed: list[Session] = []
    repairs: list[str] = []
    so_far: list[str] = []
    for session in sessions:
        so_far.extend(turn.id for turn in session.turns)
        found: list[Observation] = []
        known = TurnIds(so_far)
        key = f"observation.{session.id}_observation"
        for speaker, rows in by_session.get(session.id, {}).items():
            for index, row in enumerate(as_list(rows, place, f"{key}.{speaker}")):
                field = f"{key}.{speaker}[{index}]"
                fact, mended = _observation(speaker, row, known, place, field, mend=mend)
                found.append(fact)
                repairs.extend(mended)
        observed.append(dataclasses.replace(session, observations=tuple(found)))
    return observed, repairs


def _by_session(
    raw: dict[str, Any], sessions: list[Session], place: Place
) -> dict[str, dict[str, Any]]:
    ids = {session.id for session in sessions}
    found: dict[str, dict[str, Any]] = {}
    for key, speakers in raw.items():
        match = _KEY.fullmatch(key)
        if match is None or match[1] not in ids:
            raise place.error(
                f"observation.{key}",
                "belongs to no session; name it session_N_observation, for a session that is there",
            )
        found[match[1]] = as_object(speakers, place, f"observation.{key}")
    return found


def _observation(
    speaker: str, row: Any, known: TurnIds, place: Place, field: str, *, mend: bool
) -> tuple[Observation, list[str]]:
    match row:
        case [str(fact), (str() | list()) as ids] if fact.strip():
            turns, repairs = turn_ids(ids, known, place, field, mend=mend)
        case _:
            raise place.error(field, 'must be a text and its turns, as in ["...", "D1:3"]')
    if not turns and not mend:
        raise place.error(field, "names no turn; add the dia_id it rests on")
    return Observation(speaker, fact, turns), repairs
