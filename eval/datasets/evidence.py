"""Turn ids as data sets write them, resolved to existing turns.

Hand-written evidence contains several ids in one text ("D8:6; D9:17"), zeros ("D30:05") and stray
colons ("D:11:26"). An id is repaired only if it can mean exactly one turn: a silent guess or a
silent loss would change evidence recall.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from eval.datasets.checks import Location

_SEPARATORS = re.compile(r"[;,、；，\s]+")
_DIALOGUE_ID = re.compile(r"D:?([0-9]{1,9}):([0-9]{1,9})", re.IGNORECASE)


class TurnIds:
    """The ids of a conversation's turns, found by exact id or by an unambiguous misspelling."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._exact = frozenset(ids)
        self._by_canonical: dict[str, list[str]] = defaultdict(list)
        for turn in self._exact:
            self._by_canonical[_canonical(turn)].append(turn)

    def find(self, raw: str) -> str | None:
        """Return the turn that `raw` names, or None if it could mean none or several."""
        if raw in self._exact:
            return raw
        candidates = self._by_canonical.get(_canonical(raw), [])
        return candidates[0] if len(candidates) == 1 else None

    def resolve(self, raw: str) -> tuple[list[str], list[str]]:
        """Return the turns that a text of one or more ids names, and the parts that name none."""
        whole = self.find(raw)
        if whole is not None:
            return [whole], []
        turns: list[str] = []
        unknown: list[str] = []
        for part in [part for part in _SEPARATORS.split(raw) if part] or [raw]:
            turn = self.find(part)
            if turn is None:
                unknown.append(part)
            elif turn not in turns:
                turns.append(turn)
        return turns, unknown


def _canonical(turn: str) -> str:
    """Return `D11:5` for `D:011:05` and `d11:5`; an id of another form unchanged."""
    match = _DIALOGUE_ID.fullmatch(turn.strip())
    return f"D{int(match[1])}:{int(match[2])}" if match else turn.strip()


def turn_ids(value: Any, known: TurnIds, where: Location, field: str) -> tuple[str, ...]:
    """Return ids of existing turns, in order and without repetition; add repairs to `where`.

    `value`: an id, a text of several ids, a list of these, or None. A part that names no turn
    raises InputError, unless `where` is lenient.
    """
    ids: list[str] = []
    for raw in [] if value is None else value if isinstance(value, list) else [value]:
        if not isinstance(raw, str):
            raise where.error(field, f'{raw!r} is not a text; write turn ids as in ["D1:3"]')
        turns, unknown = known.resolve(raw)
        if unknown and not where.lenient:
            raise where.error(field, f"{unknown[0]!r} is no turn's dia_id; correct or remove it")
        repeated = [turn for turn in turns if turn in ids]
        notes = [f"read as {', '.join(turns)}"] if turns and turns != [raw] else []
        notes += [f"{', '.join(unknown)} dropped: no such turn"] if turns and unknown else []
        notes += ["dropped: no such turn"] if not turns else []
        notes += [f"repeated, counted once: {', '.join(repeated)}"] if repeated else []
        if notes:
            where.repaired(field, f"{raw!r} {'; '.join(notes)}")
        ids.extend(turn for turn in turns if turn not in ids)
    return tuple(ids)
