"""Turn ids as data sets write them, resolved to turns that exist.

Hand-made evidence holds several ids in one text ("D8:6; D9:17"), zeros ("D30:05") and stray colons
("D:11:26"). An id is mended only where exactly one turn can be meant; a silent guess, or a silent
loss, would change evidence recall.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from eval.datasets.layout import Place

_SEPARATORS = re.compile(r"[;,、；，\s]+")
_DIALOGUE_ID = re.compile(r"D:?([0-9]{1,9}):([0-9]{1,9})", re.IGNORECASE)


class TurnIds:
    """The ids of known turns, found by exact id or by what a misspelt id can only mean."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._exact = frozenset(ids)
        self._plain: dict[str, list[str]] = defaultdict(list)
        for turn in self._exact:
            self._plain[_plain(turn)].append(turn)

    def find(self, raw: str) -> str | None:
        """The turn that `raw` names, or None where none or several could be meant."""
        if raw in self._exact:
            return raw
        meant = self._plain.get(_plain(raw), [])
        return meant[0] if len(meant) == 1 else None

    def resolve(self, raw: str) -> tuple[list[str], list[str]]:
        """Turns that a text of one or more ids names, and the parts that name none."""
        whole = self.find(raw)
        if whole is not None:
            return [whole], []
        found: list[str] = []
        lost: list[str] = []
        for part in [part for part in _SEPARATORS.split(raw) if part] or [raw]:
            turn = self.find(part)
            if turn is None:
                lost.append(part)
            elif turn not in found:
                found.append(turn)
        return found, lost


def _plain(turn: str) -> str:
    """`D:011:05` and `d11:5` as `D11:5`; an id of another form unchanged."""
    match = _DIALOGUE_ID.fullmatch(turn.strip())
    return f"D{int(match[1])}:{int(match[2])}" if match else turn.strip()


def turn_ids(
    value: Any, known: TurnIds, place: Place, field: str, *, mend: bool
) -> tuple[tuple[str, ...], list[str]]:
    """Ids of existing turns, each once and in order, and a line for each thing mended.

    `value`: an id, a text of several, or a list of these; None means none. A part that names no
    turn raises InputError; where `mend` is set (a published file, whose faults are known and whose
    readers cannot change it) it is dropped instead, and a line says so.
    """
    found: list[str] = []
    repairs: list[str] = []
    for raw in _texts(value, place, field):
        turns, lost = known.resolve(raw)
        if lost and not mend:
            raise place.error(field, f"{lost[0]!r} is no turn's dia_id; correct or remove it")
        again = [turn for turn in turns if turn in found]
        notes = [f"read as {', '.join(turns)}"] if turns and turns != [raw] else []
        notes += [f"{', '.join(lost)} dropped: no such turn"] if turns and lost else []
        notes += ["dropped: no such turn"] if not turns else []
        notes += [f"kept once: {', '.join(again)} stands before"] if again else []
        if notes:
            repairs.append(f"{place.at(field)}: {raw!r} {'; '.join(notes)}")
        found.extend(turn for turn in turns if turn not in found)
    return tuple(found), repairs


def _texts(value: Any, place: Place, field: str) -> list[str]:
    values = [] if value is None else value if isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, str):
            raise place.error(field, f'{item!r} is not a text; write turn ids as in ["D1:3"]')
    return values
