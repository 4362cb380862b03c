"""The words of memories and turns, which records leave out: from the data set, loaded again."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from eval.datasets.types import Dataset
from memsys.context.base import stamp
from memsys.errors import InputError
from memsys.memory.base import MemoryBuilder
from memsys.text.turns import line

_DATASETS, _MEMORIES = "eval.datasets.", "memsys.memory."


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
    """The texts of the run's data set. Raises InputError as load_dataset does."""
    return Texts(load_dataset(manifest), _builder(manifest["config"].get("memory")))


def load_dataset(manifest: Mapping[str, Any]) -> Dataset:
    """The run's data set under the original answer key, if the very same files are found again.

    Raises InputError where they are not, or the manifest does not say what was loaded.
    """
    told = manifest["config"].get("dataset")
    if not isinstance(told, Mapping) or "_target_" not in told:
        raise InputError("the manifest does not tell how the data set was loaded")
    # The answer key says nothing of turns, and its own file may be gone. Manifests name the key of
    # every data set, also of those that have no choice of it.
    own = {name: value for name, value in told.items() if name != "key"}
    if "key_file" in own:
        own |= {"key": "original", "key_file": None}
    try:
        dataset: Dataset = _build(own, _DATASETS).load()
    except TypeError as error:
        raise InputError(f"the manifest's data set cannot be loaded ({error})") from error
    wanted = {file["sha256"] for file in manifest["data"]}
    if {file.sha256 for file in dataset.files} != wanted:
        raise InputError("the data set's files are not those that the run read (sha256 differs)")
    return dataset


def _builder(told: object) -> MemoryBuilder | None:
    """What cut turns into memories; None for what only a model could cut again."""
    if not isinstance(told, Mapping):
        return None
    try:
        built: MemoryBuilder = _build(told, _MEMORIES)
    except (InputError, TypeError):
        return None
    return built if hasattr(built, "build") else None


def _build(told: Mapping[str, Any], package: str) -> Any:
    """The object that `told` describes. A run folder may come from anybody, so nothing is called
    but a class that a module of `package` defines, with plain values.

    Raises InputError on any other target, TypeError on arguments that do not fit.
    """
    target = str(told.get("_target_", ""))
    module, _, name = target.rpartition(".")
    given = {key: value for key, value in told.items() if not key.startswith("_")}
    if not module.startswith(package) or any(isinstance(v, Mapping) for v in given.values()):
        raise InputError(f"the manifest's {target or 'settings'} cannot be loaded again")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError:
        found = None
    if not isinstance(found, type) or found.__module__ != module:
        raise InputError(f"the manifest's {target} is not known here")
    return found(**given)
