"""Results that can be read both as objects and like those of mem0, which are dictionaries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, TypeVar, overload


class Row(Mapping[str, Any]):
    """A result whose plain JSON values can be read by name: `row["memory"]`, `dict(row)`."""

    __slots__ = ()

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values; times in RFC 3339, UTC."""

    def __getitem__(self, name: str) -> Any:
        """Return one value. Raises KeyError if there is none of this name."""
        return self.as_json()[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.as_json())

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self.as_json())


R = TypeVar("R", bound=Row)


class Rows(list[R]):
    """A list of results, of which `rows["results"]` are the plain JSON values and
    `rows["relations"]` the relations found with them; `dict(rows)` has both.
    """

    def __init__(self, rows: Iterable[R] = (), relations: Sequence[Row] = ()) -> None:
        super().__init__(rows)
        self.relations = relations

    def keys(self) -> tuple[str, ...]:
        """Return the names that can be read."""
        return "results", "relations"

    @overload
    def __getitem__(self, key: SupportsIndex) -> R: ...
    @overload
    def __getitem__(self, key: slice) -> list[R]: ...
    @overload
    def __getitem__(self, key: str) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Any:
        """Return a result, some results, or the values under a name (KeyError if unknown)."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.keys():
            raise KeyError(key)
        return [one.as_json() for one in (self if key == "results" else self.relations)]

    def __contains__(self, one: object) -> bool:
        """Return whether `one` is a name that can be read, or a result of the list."""
        return one in self.keys() if isinstance(one, str) else super().__contains__(one)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the values under `name`, or `default`."""
        return self[name] if name in self.keys() else default
