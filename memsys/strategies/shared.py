"""What the runs of one process have read and made, for later runs that would make it alike."""

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

from memsys.llm.meter import Call, Meter

_MEMORIES = 50_000  # of all values together; LoCoMo has 5,882
T = TypeVar("T")


class Shared:
    """The last data set, and indexes and graphs of its memories with the time that each took.

    A run that takes one over reports that time. Once the values are of `limit` memories, no further
    one is stored: runs ask in one order, so that the value asked for least recently comes next.
    """

    def __init__(self, limit: int = _MEMORIES) -> None:
        self._limit = self._room = limit
        self._data: tuple[Hashable, object] | None = None
        self._values: dict[Hashable, tuple[object, float]] = {}

    def loaded(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return what `load` returned when it was called last with the same `key`, else what it
        returns now; then everything that was made of the last data set is dropped.
        """
        if self._data is None or self._data[0] != key:
            self._data, self._room = None, self._limit
            self._values.clear()
            self._data = key, load()
        return self._data[1]  # type: ignore[return-value]

    def made(self, key: Hashable, memories: int, make: Callable[[], T], meter: Meter) -> T:
        """Return the result of `make`, which depends on `key` alone and holds `memories` of them.
        Where it is there already, the meter adds the milliseconds that making it took.
        """
        started = time.perf_counter()
        if (entry := self._values.get(key)) is not None:
            value, ms = entry
            meter.note(Call((time.perf_counter() - started) * 1000, ms, False, shared=True))
            return value  # type: ignore[return-value]
        result = make()
        if memories <= self._room:
            self._room -= memories
            self._values[key] = result, (time.perf_counter() - started) * 1000
        return result
