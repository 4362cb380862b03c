"""The words of memories and turns, which records leave out: from the data set, loaded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.datasets.reload import build_trusted, load_original
from eval.datasets.types import Dataset
from memsys.context.writers import stamp
from memsys.errors import InputError
from memsys.memory.base import MemoryBuilder
from memsys.text.turns import line

_MEMORIES = "memsys.memory."


class Texts:
    """Words and session time of a memory, or of a turn, by conversation and id."""

    def __init__(self, dataset: Dataset, builder: MemoryBuilder | None) -> None:
        """`builder` None: no memories are known, only turns."""
        self._turns: dict[tuple[str, str], tuple[str, str]] = {}
        self._memories: dict[tuple[str, str], tuple[str, str, tuple[str, ...]]] = {}
        for conversation in dataset.conversations:
            for session in conversation.sessions:
                time = stamp(session.time)
                for turn in session.turns:
                    self._turns[conversation.id, turn.id] = (line(turn), time)
                for memory in builder.build(session) if builder else ():
                    key = (conversation.id, memory.id)
                    self._memories[key] = (memory.content, time, memory.turns)

    def memory(self, conversation: str, id_: str, turns: Sequence[str]) -> tuple[str, str] | None:
        """Words and time of a memory that holds `turns`; None where it cannot be told."""
        found = self._memories.get((conversation, id_))
        if found is None or set(found[2]) != set(turns):
            return None
        return found[0], found[1]

    def turn(self, conversation: str, id_: str) -> tuple[str, str] | None:
        """Words and time of a turn; None if there is no such."""
        return self._turns.get((conversation, id_))


def load_texts(manifest: Mapping[str, Any]) -> Texts:
    """Return the texts of the run's data set. Raises InputError as load_original does."""
    return Texts(load_original(manifest), _builder(manifest["config"].get("memory")))


def _builder(told: object) -> MemoryBuilder | None:
    """What cut turns into memories; None for what only a model could cut again."""
    if not isinstance(told, Mapping):
        return None
    try:
        built: MemoryBuilder = build_trusted(told, _MEMORIES, [])
    except InputError:
        return None
    return built if hasattr(built, "build") else None
