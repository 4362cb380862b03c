"""The rows of a document, place by place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eval.answers.fields import Columns, Cut, Remembered, fields, outer
from eval.answers.streaming import LargeList, LargeObject
from eval.answers.tree import Node, Path
from memsys.core.errors import InputError

_KEY = "key "


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a file, unparsed.

    `place`: position in the file. `group`: key of the enclosing object of lists, or the file's stem
    in a folder; None if neither. `around`: such keys around the group, the outermost first.
    `inherited`: names of the fields that are those of an enclosing object.
    """

    place: str
    fields: Mapping[str, Any]
    group: str | None = None
    around: tuple[str, ...] = ()
    inherited: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class Here:
    """A place in a file: its name, keys and indices, groups and the fields of enclosing objects."""

    prefix: str = ""
    name: str = ""
    path: Path = ()
    groups: tuple[str, ...] = ()
    fields: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """Return the place as it is shown."""
        return ": ".join(part for part in (self.prefix, self.name) if part)

    def at(self, key: str, pooled: bool) -> Here:
        """Return the place under `key`, which is a group if it is `pooled`."""
        if pooled:
            name = f"{self.name}[{key!r:.60}]" if self.name else f"{_KEY}{key!r:.60}"
        else:
            name = f"{self.name}.{key:.60}".lstrip(".")
        groups = (*self.groups, key) if pooled else self.groups
        return Here(self.prefix, name, (*self.path, key), groups, self.fields)

    def element(self, index: int, group: bool) -> Here:
        """Return the place of an element; `group`: if it is a list itself."""
        item = len(self.path) == 1 and self.name.startswith(_KEY)
        name = f"{self.name}, item {index}" if item else f"{self.name}[{index}]"
        groups = (*self.groups, str(index)) if group else self.groups
        return Here(self.prefix, name, (*self.path, index), groups, self.fields)


class Walk:
    """A way through documents that yields the rows of some lists.

    `targets`: the lists. `kept`: small members of large objects. `columns`: the fields of a row,
    None for all. `wanted`: whether the next row of a list is to be yielded, None for all of them.
    `name`: the file's, for messages.
    """

    def __init__(
        self,
        root: Node,
        targets: Collection[Node],
        kept: Mapping[Path, Remembered],
        columns: Collection[str] | None,
        wanted: Callable[[Node], bool] | None,
        name: str,
    ) -> None:
        self._targets, self._kept = set(targets), kept
        self._columns = None if columns is None else Columns(columns)
        self._wanted, self._name, self._live = wanted, name, set[Node]()
        self._find_live(root)

    def rows(self, node: Node, value: Any, here: Here) -> Iterator[tuple[Node, Item]]:
        """Yield list and row for each wanted row in `value`, in file order.

        Raises InputError if all rows are wanted and a list contains something else.
        """
        if isinstance(value, list | LargeList):
            yield from self._elements(node, value, here)
        elif isinstance(value, dict | LargeObject):
            own = value if isinstance(value, dict) else self._remembered(here)
            if node in self._targets and (self._wanted is None or self._wanted(node)):
                yield node, self._item(own, here)
            if any(below in self._live for _, below in node.below()):
                inner = replace(here, fields=self._inherited(node, own, here))
                for key, member in value.items():
                    child = node.child(key)
                    if child in self._live and child is not None:
                        yield from self.rows(child, member, inner.at(key, child is node.pool))

    def _elements(self, node: Node, value: Any, here: Here) -> Iterator[tuple[Node, Item]]:
        child = node.element
        if child is None or child not in self._live:
            return
        for index, member in enumerate(value):
            group = isinstance(member, list | LargeList)
            mixed = group and child in self._targets  # an empty list would be no row either
            if isinstance(member, dict | LargeObject) or (group and not mixed):
                yield from self.rows(child, member, here.element(index, group))
            elif child in self._targets and self._wanted is None:
                raise self._wrong(
                    here.element(index, False), "must be an object {...} with question and answer"
                )

    def _inherited(self, node: Node, own: Mapping[str, Any], here: Here) -> Mapping[str, Any]:
        nodes = ((key, node.child(key)) for key in own)
        rows = {key for key, child in nodes if child and (child.has_rows or child is node.pool)}
        return {**(here.fields or {}), **outer(own, rows)}

    def _item(self, own: Mapping[str, Any], here: Here) -> Item:
        inner, outside = fields(own, self._columns), here.fields or {}
        inherited = frozenset(outside.keys() - inner.keys()) if outside else frozenset()
        found = {**outside, **inner}
        if self._columns is not None:
            found = self._columns.of(found)
            for key, value in found.items():
                if isinstance(value, Cut):
                    raise self._wrong(
                        here, f"{key} is too long a text in a large object; shorten it"
                    )
        group = here.groups[-1] if here.groups else None
        return Item(str(here), found, group, here.groups[:-1], inherited)

    def _remembered(self, here: Here) -> Remembered:
        if here.path not in self._kept:
            raise self._wrong(here, "the file has changed while it was read; try again")
        return self._kept[here.path]

    def _wrong(self, here: Here, reason: str) -> InputError:
        place = ": ".join(part for part in (self._name, str(here)) if part)
        return InputError(f"{place}: {reason}")

    def _find_live(self, node: Node) -> bool:
        below = [self._find_live(child) for _, child in node.below()]
        if any(below) or node in self._targets:
            self._live.add(node)
            return True
        return False
