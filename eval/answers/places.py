"""The places of documents: where lists of objects are, which of them are one list in parts, and the
fields of a row: nested ones flattened, those of enclosing objects inherited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEY = "@key"  # the key or file name above a row, as a column; @key2 is the one above that
ELEMENT = "[]"  # ends the path of a place in lists
_MANY = 100  # lists and objects under different keys: more are always parts of one list
_SHAPES = 50  # objects whose columns are compared
_ALIKE = 0.5  # share of columns in common, and of texts
_LONG = 500  # characters of a text that is compared
_SHORT = 8
_SMALL = 256  # numbers and texts of a nested list or object that stays in a row
_DEEPEST = 8  # lists and objects around a row
_NESTED = (dict, list)
_LABEL = re.compile(  # of a single conversation or category
    r"(?:conv|conversation|sample|dialog|dialogue|user|group|cat|category|type|q|question)?"
    r"[-_ ]?[0-9]+",
    re.IGNORECASE,
)


def fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `row`.

    A small nested object is there twice: whole under its key, and flattened with dots
    (`metrics.f1`). Small lists stay lists; what is not small is left out.
    """
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, _NESTED):
            flat |= _flat(key, value)
        else:
            flat[key] = value
    return flat


def _flat(name: str, value: Any) -> dict[str, Any]:
    """Return the fields that `value` under `name` becomes."""
    if not isinstance(value, dict):
        return {name: value} if _size(value) <= _SMALL else {}
    parts: dict[str, Any] = {}
    for key, member in value.items():
        parts |= _flat(f"{name}.{key}", member)
    size = sum(_size(part) for part in parts.values() if not isinstance(part, dict))
    if size > _SMALL:
        return {}
    return {name: value, **parts} if size == _size(value) else parts


def _size(value: Any) -> int:
    """Return the number of texts and numbers in `value`."""
    if not isinstance(value, _NESTED):
        return 1
    return sum(map(_size, value.values() if isinstance(value, dict) else value))


@dataclass(slots=True, eq=False)
class Spot:
    """A list or object in a document: its `value`, the `name` of its place in the document, and the
    list or object `above`.

    `source`: the name of the file and line, where places need it. `groups`: the file names, keys
    and indices around and at this value that may mean a conversation or category, the nearest
    first. `of_rows`: keys of an object under which there are rows.
    """

    value: Any
    source: str
    groups: tuple[str, ...] = ()
    name: str = ""
    above: Spot | None = None
    of_rows: frozenset[str] = frozenset()
    _handed_on: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """Return the file, the line, and the keys and indices that lead here."""
        return ": ".join(part for part in (self.source, self.name) if part)

    def element(self, number: int) -> Spot:
        """Return the element of this list; that of a list of lists is a group."""
        value = self.value[number]
        is_item = self.name.startswith("key ") and self.above and self.above.above is None
        name = f"{self.name}, item {number}" if is_item else f"{self.name}[{number}]"
        return self._below(value, name, str(number) if isinstance(value, list) else None)

    def member(self, key: str, *, grouped: bool) -> Spot:
        """Return the member of this object; `grouped`: it is a part of one list."""
        if not grouped:
            return self._below(self.value[key], f"{self.name}.{key:.60}".lstrip("."), None)
        name = f"{self.name}[{key!r:.60}]" if self.name else f"key {key!r:.60}"
        return self._below(self.value[key], name, key)

    def _below(self, value: Any, name: str, group: str | None) -> Spot:
        groups = self.groups if group is None else (group, *self.groups)
        return Spot(value, self.source, groups, name, self)

    def inherited(self) -> Mapping[str, Any]:
        """Return the numbers and texts of the enclosing objects; the inner ones go before the outer
        ones.
        """
        return {} if self.above is None else self.above._for_rows()

    def _for_rows(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            return self.inherited()
        if self._handed_on is None:
            own = fields({key: v for key, v in self.value.items() if key not in self.of_rows})
            plain = {key: v for key, v in own.items() if not isinstance(v, dict | list)}
            self._handed_on = {**self.inherited(), **plain}
        return self._handed_on


@dataclass(frozen=True, slots=True)
class Place:
    """The objects at one `path`, in all elements of lists and in all documents, in file order.

    `path`: with "*" for keys that are parts of one list. `within`: the lists whose elements they
    are, if they are elements.
    """

    path: str
    objects: Sequence[Spot]
    within: Sequence[Spot] = ()


def places(
    path: str,
    spots: Sequence[Spot],
    *,
    rows: bool,
    within: Sequence[Spot] = (),
    room: int = _DEEPEST,
) -> tuple[list[Place], bool]:
    """Return the places of rows at and below `path`, and whether any are below.

    `spots`: all values there. `rows`: whether objects here are rows; `within`: as of a Place.
    `room`: number of lists and objects that may be around rows from here on.
    """
    objects = [spot for spot in spots if isinstance(spot.value, dict)]
    row_places = [Place(path, objects, within)] if rows and objects else []
    if room == 1:
        return row_places, False
    below = False
    lists = [spot for spot in spots if isinstance(spot.value, list)]
    elements = [
        spot.element(number)
        for spot in lists
        for number, member in enumerate(spot.value)
        if isinstance(member, dict | list)
    ]
    if elements:
        more, deeper = places(path + ELEMENT, elements, rows=True, within=lists, room=room - 1)
        row_places += more
        below = deeper or any(isinstance(element.value, dict) for element in elements)
    by_key: dict[str, list[Spot]] = {}
    for spot in objects:
        for key, member in spot.value.items():
            if isinstance(member, dict | list):
                by_key.setdefault(key, []).append(spot)
    values = {key: [spot.value[key] for spot in each] for key, each in by_key.items()}
    of_rows = _pooled(values, len(objects), room - 1)
    if of_rows:
        parts = [
            spot.member(key, grouped=True)
            for spot in objects
            for key in spot.value
            if key in of_rows and isinstance(spot.value[key], dict | list)
        ]
        texts = bool(_texts((part.value for part in parts), room - 1))
        more, deeper = places(f"{path}.*".lstrip("."), parts, rows=texts, room=room - 1)
        row_places += more
        below = below or deeper or any(isinstance(part.value, dict) for part in parts)
    for key in [key for key in by_key if key not in of_rows]:
        members = [spot.member(key, grouped=False) for spot in by_key[key]]
        more, deeper = places(f"{path}.{key}".lstrip("."), members, rows=False, room=room - 1)
        row_places += more
        if deeper:
            of_rows.add(key)
            below = True
    for spot in objects:
        spot.of_rows = frozenset(of_rows)
    return row_places, below


def _pooled(values: Mapping[str, Sequence[Any]], objects: int, room: int) -> set[str]:
    """Return the keys under which are parts of one list, which have like columns and different
    texts.

    `values`: the lists and objects under each key; `objects`: the number of objects with these
    members; `room`: as of the places of the members.
    """
    if len(values) > _MANY:
        return set(values)
    lists = {key: _elements(each) for key, each in values.items()} if room > 1 else {}
    parts = _parts({key: rows for key, rows in lists.items() if rows}, values, room)
    if parts:
        return parts
    keyed = {key: [row for row in each if isinstance(row, dict)] for key, each in values.items()}
    keyed = {key: each for key, each in keyed.items() if each and _texts(values[key], room)}
    # Objects that several rows have under the same keys, which are no labels, are fields of the
    # rows, such as `expected` and `output`.
    everywhere = all(len(each) == objects for each in keyed.values())
    if objects > 1 and everywhere and not all(map(_LABEL.fullmatch, keyed)):
        return set()
    return _parts(keyed, values, room)


def _parts(
    rows: Mapping[str, Sequence[Any]], values: Mapping[str, Sequence[Any]], room: int
) -> set[str]:
    """Return the keys whose `rows` are parts of one list, maybe none.

    `values`: all that is under each key; `room`: as of their place.
    """
    columns = {key: {name for row in each[:_SHAPES] for name in row} for key, each in rows.items()}
    for first in sorted(rows, key=lambda key: -_count(values[key], room)):
        own = columns[first]
        like = [key for key in rows if len(columns[key] & own) >= _ALIKE * len(columns[key] | own)]
        if len(like) == 1:
            if _LABEL.fullmatch(first):
                return {first}
            continue
        texts = [_texts(values[key], room) for key in like]
        counts = Counter(text for each in texts for text in each)
        shared = [sum(counts[text] > 1 for text in each) > _ALIKE * len(each) for each in texts]
        if not any(shared):
            return set(like)
    return set()


def _elements(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the objects that are elements of the lists among `values`."""
    lists = (value for value in values if isinstance(value, list))
    return [row for each in lists for row in each if isinstance(row, dict)]


def _count(values: Sequence[Any], room: int) -> int:
    """Return the number of objects among `values`, and of those in lists below."""
    below = _elements(value for value, left in _nested(values, room) if left > 1)
    return sum(isinstance(value, dict) for value in values) + len(below)


def _texts(values: Iterable[Any], room: int) -> set[str]:
    """Return a text of each object at and below `values`: its question, or its longest text."""
    texts = set()
    for value, _ in _nested(values, room):
        if isinstance(value, dict):
            strings = [s for s in value.values() if isinstance(s, str) and len(s) <= _LONG]
            question = next((s for s in strings if s.rstrip().endswith(("?", "？"))), None)
            text = question or max(strings, key=len, default="")
            if len(text) >= _SHORT:
                texts.add(text)
    return texts


def _nested(values: Iterable[Any], room: int) -> Iterator[tuple[Any, int]]:
    """Yield the lists and objects at and below `values`, with the room that is left there."""
    waiting = [(value, room) for value in values]
    while waiting:
        value, left = waiting.pop()
        if left > 0 and isinstance(value, dict | list):
            yield value, left
            below = value.values() if isinstance(value, dict) else value
            waiting.extend((child, left - 1) for child in below)
