"""AsyncMemory awaits the operations of Memory: same arguments, results and errors."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

from memsys import AsyncMemory, Memory
from memsys.core.errors import InputError
from tests.memsys.service.made import setup, texts

OTHERS = {"from_config", "enable_graph"}  # no operations


def test_every_operation_of_a_memory_can_be_awaited():
    operations = {name for name in vars(Memory) if not name.startswith("_")} - OTHERS
    assert operations == {name for name in vars(AsyncMemory) if not name.startswith("_")} - OTHERS
    for name in operations:
        one, other = getattr(Memory, name), getattr(AsyncMemory, name)
        assert inspect.signature(one) == inspect.signature(other)
        assert inspect.iscoroutinefunction(inspect.unwrap(other, stop=asyncio.iscoroutinefunction))


def test_operations_of_several_tasks_run_at_once_and_end_with_the_block(tmp_path, monkeypatch):
    both = threading.Barrier(2, timeout=60)

    async def run() -> list[Any]:
        async with AsyncMemory(tmp_path, setup()) as store:
            await store.add("the kiln", user_id="mara")
            search = store.memory._searcher._find

            def meeting(asked: Any) -> Any:
                if asked.owner.user_id == "mara":
                    both.wait()
                return search(asked)

            monkeypatch.setattr(store.memory._searcher, "_find", meeting)
            found = await asyncio.gather(*(store.search("kiln", user_id="mara") for _ in range(2)))
            written = await store.context("kiln", user_id="nobody")
            assert written.text == ""
            with pytest.raises(InputError, match="owner: give"):
                await store.search("kiln")
        with pytest.raises(InputError, match="this memory is closed"):
            await store.get("id")
        return found

    assert [texts(one) for one in asyncio.run(run())] == [["the kiln"]] * 2


def test_one_from_a_configuration_may_be_awaited_or_not(tmp_path: Path):
    async def run() -> None:
        first = AsyncMemory.from_config({"strategy": "bm25"}, tmp_path)
        assert await first is first
        await first.close()

    asyncio.run(run())
