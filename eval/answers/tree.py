"""The lists of objects in documents: where they are, and which of them are one list in parts."""

from __future__ import annotations

import re
import zlib
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from eval.answers.fields import DROPPED, Remembered, is_small
from eval.answers.streaming import LargeList, LargeObject

Path = tuple[str | int, ...]
_MANY = 100  # lists and objects under different keys: more are always parts of one list
_SHAPES = 50  # objects whose columns are compared
_TEXTS = 512  # texts of a list that are compared
_ALIKE = 0.5  # share of columns in common, and of texts
_LONG = 500  # characters of a text that is compared
_SHORT = 8
_CHECKSUMS = 1 << 32
_DEEPEST = 8  # lists and objects around a row
_COLUMNS = 1_000
_LABEL = re.compile(  # of a single conversation or category
    r"(?:conv|conversation|sample|dialog|dialogue|user|group|cat|category|type|q|question)?"
    r"[-_ ]?[0-9]+",
    re.IGNORECASE,
)


class Node:
    """A place in documents, the same in each element of a list.

    `members`: below the keys of its objects. `element`: in its lists. `pooled`: keys under which
    are parts of one list, which is below `pool`. `objects`: number of objects. `columns`: keys
    of the first ones. `has_rows`: whether lists of objects are below, once settled.
    """

    def __init__(self) -> None:
        self.members: dict[str, Node] = {}
        self.element: Node | None = None
        self.pool: Node | None = None
        self.pooled: set[str] = set()
        self.all_pooled = False  # as there are too many keys to compare
        self.objects = 0
        self.has_rows = False
        self.columns: set[str] = set()
        self._texts: list[int] = []

    def child(self, key: str) -> Node | None:
        """Return the place under `key`."""
        return self.pool if self.all_pooled or key in self.pooled else self.members.get(key)

    def open(self, key: str) -> Node:
        """Return the place under `key`, which is new or not."""
        if not self.all_pooled and key not in self.members and len(self.members) >= _MANY:
            self._pool(set(self.members))
            self.all_pooled = True
        if self.all_pooled and self.pool:
            return self.pool
        return self.members.setdefault(key, Node())

    def below(self) -> Iterator[tuple[str | None, Node]]:
        """Yield the places below: None for elements, "*" for the pool."""
        if self.element:
            yield None, self.element
        if self.pool:
            yield "*", self.pool
        yield from self.members.items()

    def rows(self) -> int:
        """Return the number of objects in the lists below this place."""
        listed = sum(node.objects for key, node in self.below() if key in {None, "*"})
        return listed + sum(node.rows() for _, node in self.below())

    def add_column(self, key: str) -> None:
        """Add a key of one of the objects, the last of which is being read."""
        if self.objects <= _SHAPES and len(self.columns) < _COLUMNS:
            self.columns.add(key)

    def add_text(self, row: Mapping[str, Any]) -> None:
        """Sketch the texts of the rows: the smallest checksums of their questions."""
        texts = [one for one in row.values() if isinstance(one, str) and len(one) <= _LONG]
        text = next((one for one in texts if one.rstrip().endswith(("?", "？"))), None)
        text = text or max(texts, key=len, default="")
        if len(text) < _SHORT:
            return
        value = zlib.crc32(text.encode())
        small = len(self._texts) < _TEXTS or value < self._texts[-1]
        if small and value not in self._texts:
            insort(self._texts, value)
            del self._texts[_TEXTS:]

    def texts(self) -> list[int]:
        """Return the checksums of the texts at and below this place, ascending."""
        found = set(self._texts).union(*(node.texts() for _, node in self.below()))
        return sorted(found)[:_TEXTS]

    def merge(self, other: Node) -> None:
        """Add what is at and below another place."""
        self.objects += other.objects
        self.columns |= other.columns
        self._texts = sorted({*self._texts, *other._texts})[:_TEXTS]
        if other.all_pooled and other.pool:
            self._pool(set(self.members))
            self.all_pooled = True
            self.pool = self.pool or Node()
            self.pool.merge(other.pool)
        for key, node in other.members.items():
            self.open(key).merge(node)
        if other.element:
            self.element = self.element or Node()
            self.element.merge(other.element)

    def settle(self) -> None:
        """Pool the members that are parts of one list: of like columns and different texts."""
        if not self.all_pooled:
            lists = {k: n for k, n in self.members.items() if n.element and n.element.objects}
            keyed = {k: n for k, n in self.members.items() if n.objects and n.texts()}
            if self._are_fields(keyed):
                keyed = {}
            self._pool(_parts(lists, lambda n: n.element or n) or _parts(keyed, lambda n: n))
        for _, node in self.below():
            node.settle()
        self.has_rows = self.rows() > 0

    def _are_fields(self, nodes: Mapping[str, Node]) -> bool:
        """Return whether the objects under these keys are fields of rows, such as `expected` and
        `output`: several rows have all of them, and the keys are no labels.
        """
        everywhere = all(node.objects == self.objects for node in nodes.values())
        return self.objects > 1 and everywhere and not all(map(_LABEL.fullmatch, nodes))

    def _pool(self, keys: set[str]) -> None:
        if keys:
            self.pool = self.pool or Node()
            self.pooled |= keys
            for key in [key for key in self.members if key in keys]:
                self.pool.merge(self.members.pop(key))


def _parts(nodes: dict[str, Node], row: Callable[[Node], Node]) -> set[str]:
    """Return the keys of the nodes that are parts of one list, maybe none."""
    for first in sorted(nodes.values(), key=lambda node: -node.objects - node.rows()):
        like = {key: node for key, node in nodes.items() if _alike(row(node), row(first))}
        if all(map(_LABEL.fullmatch, like)) if len(like) == 1 else _differ(like.values()):
            return set(like)
    return set()


def _differ(nodes: Iterable[Node]) -> bool:
    """Return whether no node has half of its texts in another."""
    texts = [node.texts() for node in nodes]
    least = min((each[-1] for each in texts if len(each) == _TEXTS), default=_CHECKSUMS)
    compared = [[one for one in each if one <= least] for each in texts]
    counts = Counter(one for each in compared for one in each)
    twice = (sum(counts[one] > 1 for one in each) > _ALIKE * len(each) for each in compared)
    return not any(twice)


def _alike(one: Node, other: Node) -> bool:
    return len(one.columns & other.columns) >= _ALIKE * len(one.columns | other.columns)


def note(
    node: Node, value: Any, path: Path, kept: dict[Path, Remembered], room: int = _DEEPEST
) -> Any:
    """Add `value`, a list or object at `node`, to the tree, and return it.

    `path`: keys and indices of a large value, of which only the small parts are returned. `kept`
    receives those of each large object.
    """
    if room <= 0:
        if isinstance(value, dict | list):
            return value
        node = Node()  # of lists too deep for rows
    if isinstance(value, LargeObject):
        own = kept[path] = Remembered()
        node.objects += 1
        for key, member in value.items():
            node.add_column(key)
            nested = _is_nested(member)
            below = (*path, key)
            own.add(key, note(node.open(key), member, below, kept, room - 1) if nested else member)
        node.add_text(own)
        return own
    if isinstance(value, LargeList):
        parts: list[Any] = []
        small = True
        for index, member in enumerate(value):
            part = _note_element(node, member, (*path, index), kept, room)
            if small:
                parts.append(part)
                small = is_small(parts)
        return parts if small else DROPPED
    if isinstance(value, dict):
        node.objects += 1
        for key, member in value.items():
            node.add_column(key)
            if _is_nested(member):
                note(node.open(key), member, (), kept, room - 1)
        node.add_text(value)
    elif any(_is_nested(member) for member in value):
        for member in value:
            _note_element(node, member, (), kept, room)
    return value


def _note_element(
    node: Node, member: Any, path: Path, kept: dict[Path, Remembered], room: int
) -> Any:
    if not _is_nested(member):
        return member
    node.element = node.element or Node()
    return note(node.element, member, path, kept, room - 1)


def lists(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Yield path and place of the lists of objects at and below `node`, whose path is `path`."""
    for key, below in node.below():
        place = f"{path}[]" if key is None else f"{path}.{key}".lstrip(".")
        if below.objects and (key is None or (key == "*" and below.texts())):
            yield place.removesuffix("[]"), below
        yield from lists(below, place)


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list | LargeList | LargeObject)
