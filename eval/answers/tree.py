"""The lists of objects in documents: where they are, and which of them are one list in parts."""

from __future__ import annotations

import re
import zlib
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from eval.answers.fields import Remembered
from eval.answers.streaming import LargeList, LargeObject

Path = tuple[str | int, ...]
_MANY = 100  # lists and objects under different keys: more are always parts of one list
_SHAPES = 50  # objects whose columns are compared
_TEXTS = 512  # texts of a list that are compared
_ALIKE = 0.5  # share of columns in common, and of texts
_LONG = 500
_DEEPEST = 8
_MOST_COLUMNS = 1000
_LABEL = re.compile(  # of a single conversation or category
    r"(?:conv|conversation|sample|dialog|dialogue|user|group|cat|category|type|q|question)?"
    r"[-_ ]?[0-9]+",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\S\s+\S+\s+\S")


class Node:
    """A place in documents, the same in each element of a list.

    `members`: below the keys of its objects. `element`: in its lists. `pooled`: keys under which
    are parts of one list, which is below `pool`. `objects`, `others`: numbers of objects and of
    other values. `columns`: keys of the first objects.
    """

    def __init__(self) -> None:
        self.members: dict[str, Node] = {}
        self.element: Node | None = None
        self.pool: Node | None = None
        self.pooled: set[str] = set()
        self.all_pooled = False
        self.objects = self.others = 0
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
        """Return the number of objects in lists at and below this place."""
        return self.objects + sum(node.rows() for _, node in self.below())

    def add_text(self, row: Mapping[str, Any]) -> None:
        """Sketch the texts of the rows: the smallest checksums of their questions."""
        texts = [one for one in row.values() if isinstance(one, str) and len(one) <= _LONG]
        text = next((one for one in texts if one.rstrip().endswith(("?", "？"))), None)
        text = text or max(texts, key=len, default="")
        if len(text) < 8:
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
        self.others += other.others
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
            self._pool(_parts(lists, lambda n: n.element or n) or _parts(keyed, lambda n: n))
        for _, node in self.below():
            node.settle()

    def _pool(self, keys: set[str]) -> None:
        if keys:
            self.pool = self.pool or Node()
            self.pooled |= keys
            for key in [key for key in self.members if key in keys]:
                self.pool.merge(self.members.pop(key))


def _parts(nodes: dict[str, Node], row: Callable[[Node], Node]) -> set[str]:
    """Return the keys of the nodes that are parts of one list, maybe none."""
    if not nodes:
        return set()
    largest = max(nodes.values(), key=lambda node: node.rows())
    like = {key: node for key, node in nodes.items() if _alike(row(node), row(largest))}
    if len(like) == 1:
        return {key for key in like if _LABEL.fullmatch(key)}
    texts = [node.texts() for node in like.values()]
    least = min((each[-1] for each in texts if len(each) == _TEXTS), default=1 << 32)
    compared = [[one for one in each if one <= least] for each in texts]
    counts = Counter(one for each in compared for one in each)
    for each in compared:
        if each and sum(counts[one] > 1 for one in each) > _ALIKE * len(each):
            return set()
    return set(like)


def _alike(one: Node, other: Node) -> bool:
    return len(one.columns & other.columns) >= _ALIKE * len(one.columns | other.columns)


def note(
    node: Node, value: Any, path: Path, kept: dict[Path, Remembered], room: int = _DEEPEST
) -> None:
    """Add `value`, a list or object at `node`, to the tree.

    `path`: keys and indices of a large value. `kept` receives the small members of large objects.
    """
    if room == 0:
        return
    if isinstance(value, dict | LargeObject):
        node.objects += 1
        own: dict[str, Any] | Remembered = value if isinstance(value, dict) else Remembered()
        if isinstance(own, Remembered):
            kept[path] = own
        for key, member in value.items():
            if node.objects <= _SHAPES and len(node.columns) < _MOST_COLUMNS:
                node.columns.add(key)
            below = (*path, key) if isinstance(own, Remembered) else ()
            if _nested(member):
                note(node.open(key), member, below, kept, room - 1)
            if isinstance(own, Remembered) and not isinstance(member, LargeList):
                own.add(key, kept.get(below) if isinstance(member, LargeObject) else member)
        node.add_text(own)
    elif isinstance(value, LargeList) or any(_nested(one) for one in value):
        for index, member in enumerate(value):
            if _nested(member):
                node.element = node.element or Node()
                note(node.element, member, (*path, index), kept, room - 1)
            else:
                node.others += 1


def lists(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Yield path and place of the lists of objects at and below `node`, whose path is `path`."""
    for key, below in node.below():
        place = f"{path}[]" if key is None else f"{path}.{key}".lstrip(".")
        if below.objects and (key is None or (key == "*" and below.texts())):
            yield place.removesuffix("[]"), below
        yield from lists(below, place)


def _nested(value: Any) -> bool:
    return isinstance(value, LargeList | LargeObject) or (
        isinstance(value, dict | list) and bool(value)
    )
