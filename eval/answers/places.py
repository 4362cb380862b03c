"""The places of documents: where lists of objects are, which of them are one list in parts, and the
fields of a row: nested ones flattened, those of enclosing objects inherited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

_MANY = 100  # lists and objects under different keys: more are always parts of one list
_SHAPES = 50  # objects whose columns are compared
_ALIKE = 0.5  # share of columns in common, and of texts
_LONG = 500  # characters of a text that is compared
_SHORT = 8
_SMALL = 256  # numbers and texts of a nested list or object that stays in a row
_DEEPEST = 8  # lists and objects around a row
_LABEL = re.compile(  # of a single conversation or category
    r"(?:conv|conversation|sample|dialog|dialogue|user|group|cat|category|type|q|question)?"
    r"[-_ ]?[0-9]+",
    re.IGNORECASE,
)
_KEY = "key "
ELEMENT = "[]"  # ends the path of a place in lists


def fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `row`.

    A small nested object is there twice: whole under its key, and flattened with dots
    (`metrics.f1`). Small lists stay lists.
    """
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict | list):
            for name, one in _flat(key, value)[0]:
                found.setdefault(name, one)
        else:
            found[key] = value
    return found


def _flat(name: str, value: Any) -> tuple[list[tuple[str, Any]], int, bool]:
    """Return the fields that `value` under `name` becomes, the number of its texts and numbers, and
    whether it is whole: what is not small is left out.
    """
    if not isinstance(value, dict):
        found, size, whole = [(name, value)], _size(value), True
    else:
        parts = [_flat(f"{name}.{key}", one) for key, one in value.items()]
        size, whole = sum(part[1] for part in parts), all(part[2] for part in parts)
        found = [(name, value)] * whole + [field for part in parts for field in part[0]]
    return (found, size, whole) if size <= _SMALL else ([], 0, False)


def _size(value: Any) -> int:
    """Return the number of texts and numbers in `value`."""
    if not isinstance(value, dict | list):
        return 1
    return sum(map(_size, value.values() if isinstance(value, dict) else value))


def _outer(value: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """Return the numbers and texts of an enclosing object, but for the members `without`."""
    own = fields({key: one for key, one in value.items() if key not in without})
    return {key: one for key, one in own.items() if not isinstance(one, dict | list)}


class Spot:
    """A list or object in a document.

    `key`: its key or index in the list or object `above`; of a whole document, how the file and
    line are named. `group`: the key, index or file name if it may mean a conversation or category.
    `place`: where it is, in any document.
    """

    __slots__ = ("_handed_on", "above", "group", "key", "place", "value")
    place: Place

    def __init__(
        self, value: Any, key: str | int, group: str | None = None, above: Spot | None = None
    ) -> None:
        self.value, self.key, self.group, self.above = value, key, group, above
        self._handed_on: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """Return the file, the line, and the keys and indices that lead here."""
        top = self
        while top.above is not None:
            top = top.above
        return ": ".join(part for part in (str(top.key), self._name()) if part)

    def groups(self) -> tuple[str, ...]:
        """Return the groups around and at this value, the outermost first."""
        above = () if self.above is None else self.above.groups()
        return above if self.group is None else (*above, self.group)

    def inherited(self) -> Mapping[str, Any]:
        """Return the fields of the enclosing objects; the inner ones go before the outer ones."""
        return {} if self.above is None else self.above._for_rows()

    def _for_rows(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            return self.inherited()
        if self._handed_on is None:
            own = _outer(self.value, self.place.keys_of_rows)
            self._handed_on = {**self.inherited(), **own}
        return self._handed_on

    def _name(self) -> str:
        if self.above is None:
            return ""
        before = self.above._name()
        if isinstance(self.key, int):
            above = self.above.above
            is_item = before.startswith(_KEY) and above is not None and above.above is None
            return f"{before}, item {self.key}" if is_item else f"{before}[{self.key}]"
        if self.group is not None:
            return f"{before}[{self.key!r:.60}]" if before else f"{_KEY}{self.key!r:.60}"
        return f"{before}.{self.key:.60}".lstrip(".")


class Place:
    """The lists and objects under the same keys, in all elements of lists and in all documents.

    `objects`: the objects, in file order. `is_list`: whether they are the rows of a list.
    `keys_of_rows`: keys of the objects under which there are rows.
    """

    def __init__(
        self,
        path: str,
        spots: Sequence[Spot],
        room: int = _DEEPEST,
        *,
        rows: bool = False,
        within: Sequence[Spot] = (),
    ) -> None:
        """`path`: with "*" for keys that are parts of one list. `room`: number of further lists and
        objects that may be around rows. `rows`: whether objects here are rows. `within`: the lists
        whose elements are here.
        """
        self.path = path
        self.objects = [spot for spot in spots if isinstance(spot.value, dict)]
        self.is_list = rows and bool(self.objects)
        self._within = within
        self._members: dict[str, Place] = {}
        self._pooled: set[str] = set()
        grouped: list[Place] = []
        if room > 1:
            lists = [one for one in spots if isinstance(one.value, list)]
            grouped = [*self._elements(lists, room - 1), *self._add_members(room - 1)]
        self._below = [*grouped, *self._members.values()]
        self.has_rows: bool = any(place.objects for place in grouped) or any(
            place.has_rows for place in self._below
        )
        self.keys_of_rows = self._pooled.union(
            key for key, place in self._members.items() if place.has_rows
        )
        for spot in spots:
            spot.place = self

    def lists(self) -> Iterator[Place]:
        """Yield the places of rows at and below this one."""
        if self.is_list:
            yield self
        for place in self._below:
            yield from place.lists()

    def other_element(self) -> Spot | None:
        """Return the first element of the lists that is no object, None if there is none."""
        for spot in self._within:
            for number, member in enumerate(spot.value):
                if not isinstance(member, dict):
                    return Spot(member, number, above=spot)
        return None

    def _add_members(self, room: int) -> list[Place]:
        """Find the places under keys; return that of the keys that are parts of one list."""
        inside = [
            Spot(member, key, above=spot)
            for spot in self.objects
            for key, member in spot.value.items()
            if isinstance(member, dict | list)
        ]
        by_key: dict[str, list[Spot]] = {}
        for spot in inside:
            by_key.setdefault(str(spot.key), []).append(spot)
        self._pooled = _pooled(by_key, len(self.objects), room)
        self._members = {
            key: Place(f"{self.path}.{key}".lstrip("."), spots, room)
            for key, spots in by_key.items()
            if key not in self._pooled
        }
        parts = [spot for spot in inside if spot.key in self._pooled]
        if not parts:
            return []
        for part in parts:
            part.group = str(part.key)
        rows = bool(_texts((part.value for part in parts), room))
        return [Place(f"{self.path}.*".lstrip("."), parts, room, rows=rows)]

    def _elements(self, lists: Sequence[Spot], room: int) -> list[Place]:
        """Return the place of the elements of `lists`, none if they are texts and numbers."""
        elements = [
            Spot(member, number, str(number) if isinstance(member, list) else None, spot)
            for spot in lists
            for number, member in enumerate(spot.value)
            if isinstance(member, dict | list)
        ]
        if not elements:
            return []
        return [Place(self.path + ELEMENT, elements, room, rows=True, within=lists)]


def _pooled(members: Mapping[str, Sequence[Spot]], objects: int, room: int) -> set[str]:
    """Return the keys under which are parts of one list, which have like columns and different
    texts; `objects`: the number of objects with these members.
    """
    if len(members) > _MANY:
        return set(members)
    values = {key: [spot.value for spot in spots] for key, spots in members.items()}
    lists = {key: _elements(each) for key, each in values.items()} if room > 1 else {}
    found = _parts({key: rows for key, rows in lists.items() if rows}, values, room)
    if found:
        return found
    keyed = {key: [one for one in each if isinstance(one, dict)] for key, each in values.items()}
    keyed = {key: each for key, each in keyed.items() if each and _texts(values[key], room)}
    return set() if _are_fields(keyed, objects) else _parts(keyed, values, room)


def _are_fields(keyed: Mapping[str, Sequence[Any]], objects: int) -> bool:
    """Return whether the objects under these keys are fields of rows, such as `expected` and
    `output`: several rows have all of them, and the keys are no labels.
    """
    everywhere = all(len(each) == objects for each in keyed.values())
    return objects > 1 and everywhere and not all(map(_LABEL.fullmatch, keyed))


def _parts(
    rows: Mapping[str, Sequence[Any]], values: Mapping[str, Sequence[Any]], room: int
) -> set[str]:
    """Return the keys whose `rows` are parts of one list, maybe none.

    `values`: all that is under each key; `room`: as of their place.
    """
    columns = {key: {name for one in each[:_SHAPES] for name in one} for key, each in rows.items()}
    for first in sorted(rows, key=lambda key: -_count(values[key], room)):
        own = columns[first]
        like = [key for key, one in columns.items() if len(one & own) >= _ALIKE * len(one | own)]
        if len(like) == 1:
            if _LABEL.fullmatch(first):
                return {first}
        elif _differ([_texts(values[key], room) for key in like]):
            return set(like)
    return set()


def _differ(texts: Sequence[set[str]]) -> bool:
    """Return whether no set has half of its texts in another."""
    counts = Counter(one for each in texts for one in each)
    return not any(sum(counts[one] > 1 for one in each) > _ALIKE * len(each) for each in texts)


def _elements(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the objects that are elements of the lists among `values`."""
    lists = (one for one in values if isinstance(one, list))
    return [one for each in lists for one in each if isinstance(one, dict)]


def _count(values: Sequence[Any], room: int) -> int:
    """Return the number of objects among `values`, and of those in lists below."""
    below = _elements(value for value, left in _nested(values, room) if left > 1)
    return sum(isinstance(one, dict) for one in values) + len(below)


def _texts(values: Iterable[Any], room: int) -> set[str]:
    """Return a text of each object at and below `values`: its question, or its longest text."""
    found = set()
    for value, _ in _nested(values, room):
        if isinstance(value, dict):
            texts = [one for one in value.values() if isinstance(one, str) and len(one) <= _LONG]
            question = next((one for one in texts if one.rstrip().endswith(("?", "？"))), None)
            text = question or max(texts, key=len, default="")
            if len(text) >= _SHORT:
                found.add(text)
    return found


def _nested(values: Iterable[Any], room: int) -> Iterator[tuple[Any, int]]:
    """Yield the lists and objects at and below `values`, with the room that is left there."""
    waiting = [(value, room) for value in values]
    while waiting:
        value, left = waiting.pop()
        if left > 0 and isinstance(value, dict | list):
            yield value, left
            below = value.values() if isinstance(value, dict) else value
            waiting.extend((one, left - 1) for one in below)
