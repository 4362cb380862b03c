"""The memory operations for asyncio: each runs in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager
from functools import update_wrapper
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from memsys.service.configuration_source import Source
from memsys.service.memory import FOLDER, Memory
from memsys.service.setup import Setup, load_setup

P = ParamSpec("P")
T = TypeVar("T")


def _as_coroutine(
    operation: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Awaitable[T]]:
    """Return `operation` as a coroutine of an AsyncMemory."""

    async def run(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(operation, self.memory, *args, **kwargs)

    update_wrapper(run, operation)
    return run


class AsyncMemory(AbstractAsyncContextManager["AsyncMemory"]):
    """A Memory whose operations are awaited, with the arguments, results and errors of Memory: each
    runs in a thread, and several at once. `memory` is that Memory, whose `enable_graph` is no
    operation. Opening one reads files, as Memory does.
    """

    def __init__(self, folder: str | Path = FOLDER, setup: Setup | None = None) -> None:
        """See Memory."""
        self.memory = Memory(folder, setup)

    @classmethod
    def from_config(cls, source: Source, folder: str | Path = FOLDER) -> Self:
        """See Memory.from_config. The result may be awaited, as that of some versions of mem0."""
        return cls(folder, load_setup(source))

    def __await__(self) -> Generator[None, None, Self]:
        """Return the memory itself."""
        yield from ()
        return self

    add = _as_coroutine(Memory.add)
    search = _as_coroutine(Memory.search)
    context = _as_coroutine(Memory.context)
    get = _as_coroutine(Memory.get)
    get_all = _as_coroutine(Memory.get_all)
    update = _as_coroutine(Memory.update)
    delete = _as_coroutine(Memory.delete)
    delete_all = _as_coroutine(Memory.delete_all)
    history = _as_coroutine(Memory.history)
    reset = _as_coroutine(Memory.reset)
    compact = _as_coroutine(Memory.compact)
    close = _as_coroutine(Memory.close)

    async def __aexit__(self, *error: object) -> None:
        """Close the memory at the end of an `async with` block."""
        await self.close()
