"""Checks of the values in conversation files and of the settings that filter a data set.

Each failed check is one InputError that names file, sample and field (or the setting), so that a
hand-made file can be corrected without reading this code. Hand-written evidence contains several
ids in one text ("D8:6; D9:17"), zeros ("D30:05") and stray colons ("D:11:26"): an id is repaired
only if it can mean exactly one turn, as a silent guess or loss would change evidence recall.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memsys.core.errors import InputError
from memsys.core.files import shown

_SEPARATORS = re.compile(r"[;,、；，\s]+")
_SHOWN = 80  # characters of a name in a message
_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp"}
_DIALOGUE_ID = re.compile(r"D:?([0-9]{1,9}):([0-9]{1,9})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Location:
    """A sample of an input file, as messages name it, with a line per repair.

    `lenient`: evidence that names no turn is dropped and reported instead of refused: for a
    published file, whose faults are known and whose readers cannot change it.
    """

    file: str
    sample: str
    lenient: bool = False
    repairs: list[str] = field(default_factory=list)

    def at(self, field: str) -> str:
        """Return `file: sample X: field`, the prefix of errors and repairs."""
        return f"{self.file}: sample {shown(self.sample, _SHOWN)}: {shown(field, _SHOWN)}"

    def repaired(self, field: str, repair: str) -> None:
        """Add a repair of `field`."""
        self.repairs.append(f"{self.at(field)}: {repair}")

    def error(self, field: str, problem: str) -> InputError:
        """Return the InputError for `field`; `problem` states the fault and the remedy."""
        return InputError(f"{self.at(field)}: {problem}")


def as_object(value: Any, where: Location, field: str) -> dict[str, Any]:
    """Return `value` if it is a JSON object; raise InputError otherwise."""
    if isinstance(value, dict):
        return value
    raise where.error(field, f"{_state(value)}; must be an object {{...}}")


def as_list(value: Any, where: Location, field: str) -> list[Any]:
    """Return `value` if it is a JSON list; raise InputError otherwise."""
    if isinstance(value, list):
        return value
    raise where.error(field, f"{_state(value)}; must be a list [...]")


def text(record: dict[str, Any], key: str, where: Location, field: str) -> str:
    """Return `record[key]` unchanged if it is a text with a visible character; else InputError."""
    value = record.get(key)
    if isinstance(value, str) and is_visible(value):
        return value
    raise where.error(field, f"{_state(value)}; must be a text")


def name(record: dict[str, Any], key: str, where: Location, field: str) -> str:
    """Return `record[key]` as `text` does; raise InputError if it has several lines."""
    value = text(record, key, where, field)
    if len(value.splitlines()) > 1:
        raise where.error(field, f"{value!r:.60} has a line break; write it on one line")
    return value


def is_visible(value: str) -> bool:
    """Return whether a character of the text is neither a blank nor of zero width."""
    return any(unicodedata.category(char) not in _INVISIBLE for char in value)


def same_name(value: str) -> str:
    """Return what names that look alike share: in one case, with single blanks, in NFC."""
    return unicodedata.normalize("NFC", " ".join(value.casefold().split()))


def check_distinct(names: dict[str, Location], where: Location, field: str) -> None:
    """Add the sample of `where` to `names`; raise InputError if it has one that looks the same."""
    other = names.setdefault(same_name(where.sample), where)
    if other is not where:
        raise where.error(
            field,
            f"used twice (before in {other.file}, as {other.sample!r:.60}); give each sample its "
            "own",
        )


def _state(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, str):
        return "is a text" if is_visible(value) else "empty"
    names = {dict: "an object", list: "a list", bool: "true or false"}
    return f"is {names.get(type(value), 'a number')}"


def check_names(option: str, given: Any, valid: Iterable[str]) -> None:
    """Raise InputError unless `given` is None or a list of `valid` names, one at least."""
    if given is None:
        return
    names = dict.fromkeys(valid)
    if isinstance(given, str) or not given:  # a str is a sequence of letters
        raise InputError(
            f"dataset.{option}: {given!r:.60}; use a list, such as [{next(iter(names))}], or null"
        )
    unknown = [name for name in given if not isinstance(name, str) or name not in names]
    if unknown:
        shown = ", ".join(list(names)[:10]) + (" ..." if len(names) > 10 else "")
        raise InputError(f"dataset.{option}: {unknown[0]!r:.60} is not one of {shown}")


class TurnIds:
    """The ids of a conversation's turns, found by exact id or by an unambiguous misspelling."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._exact: set[str] = set()
        self._by_canonical: dict[str, list[str]] = defaultdict(list)
        self.add(ids)

    def add(self, ids: Iterable[str]) -> None:
        """Add turns with new ids."""
        for turn in ids:
            self._exact.add(turn)
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
        turns: dict[str, None] = {}
        unknown: list[str] = []
        for part in [part for part in _SEPARATORS.split(raw) if part] or [raw]:
            turn = self.find(part)
            if turn is None:
                unknown.append(part)
            else:
                turns[turn] = None
        return list(turns), unknown


def _canonical(turn: str) -> str:
    """Return `D11:5` for `D:011:05` and `d11:5`; an id of another form unchanged."""
    match = _DIALOGUE_ID.fullmatch(turn.strip())
    return f"D{int(match[1])}:{int(match[2])}" if match else turn.strip()


def turn_ids(value: Any, known: TurnIds, where: Location, field: str) -> tuple[str, ...]:
    """Return ids of existing turns, in order and without repetition; add repairs to `where`.

    `value`: an id, a text of several ids, a list of these, or None. A part that names no turn
    raises InputError, unless `where` is lenient.
    """
    ids: dict[str, None] = {}
    for raw in [] if value is None else value if isinstance(value, list) else [value]:
        if not isinstance(raw, str):
            raise where.error(field, f'{raw!r:.60} is not a text; write turn ids as in ["D1:3"]')
        turns, unknown = known.resolve(raw)
        if unknown and not where.lenient:
            problem = f"{unknown[0]!r:.60} is no turn's dia_id; correct or remove it"
            raise where.error(field, problem)
        repeated = [turn for turn in turns if turn in ids]
        notes = [f"read as {', '.join(turns)}"] if turns and turns != [raw] else []
        notes += [f"{', '.join(unknown)} dropped: no such turn"] if turns and unknown else []
        notes += ["dropped: no such turn"] if not turns else []
        notes += [f"repeated, counted once: {', '.join(repeated)}"] if repeated else []
        if notes:
            where.repaired(field, f"{raw!r} {'; '.join(notes)}")
        ids |= dict.fromkeys(turns)
    return tuple(ids)
