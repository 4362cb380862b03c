"""Texts of memories and turns, which records leave out: read again from the data set."""

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
    """Text and session time of memories and turns, by conversation and id."""

    def __init__(self, dataset: Dataset, builder: MemoryBuilder | None) -> None:
        """Without a `builder`, only turns have texts."""
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
        """Return text and time of the memory made of `turns`; None if there is no such memory."""
        found = self._memories.get((conversation, id_))
        if found is None or set(found[2]) != set(turns):
            return None
        return found[0], found[1]

    def turn(self, conversation: str, id_: str) -> tuple[str, str] | None:
        """Return text and time of a turn; None if there is no such turn."""
        return self._turns.get((conversation, id_))


def load_texts(manifest: Mapping[str, Any]) -> Texts:
    """Return the texts of the run's data set; raises InputError as load_dataset does."""
    return Texts(load_dataset(manifest), _builder(manifest["config"].get("memory")))


def load_dataset(manifest: Mapping[str, Any]) -> Dataset:
    """Load the run's data set under the original answer key.

    Raises InputError if its files are missing or changed, or the manifest does not describe it.
    """
    settings = manifest["config"].get("dataset")
    if not isinstance(settings, Mapping) or "_target_" not in settings:
        raise InputError("the manifest does not say how the data set was loaded")
    # Turns do not depend on the answer key, whose file may be missing. Manifests name a key for
    # every data set, also for those that do not take one.
    arguments = {name: value for name, value in settings.items() if name != "key"}
    if "key_file" in arguments:
        arguments |= {"key": "original", "key_file": None}
    try:
        dataset: Dataset = _build(arguments, _DATASETS).load()
    except TypeError as error:
        raise InputError(f"the manifest's data set cannot be loaded ({error})") from error
    expected = {file["sha256"] for file in manifest["data"]}
    if {file.sha256 for file in dataset.files} != expected:
        raise InputError("the data set's files are not those that the run read (sha256 differs)")
    return dataset


def _builder(settings: object) -> MemoryBuilder | None:
    """The memory builder of a run; None where memories cannot be rebuilt without a model."""
    if not isinstance(settings, Mapping):
        return None
    try:
        built = _build(settings, _MEMORIES)
    except (InputError, TypeError):
        return None
    return built if isinstance(built, MemoryBuilder) else None


def _build(settings: Mapping[str, Any], package: str) -> Any:
    """The object that `settings` describe. A run folder may come from anybody, so nothing is called
    but a class that a module of `package` defines, with plain values.

    Raises InputError on any other target, TypeError on arguments that do not fit.
    """
    target = str(settings.get("_target_", ""))
    module, _, name = target.rpartition(".")
    arguments = {key: value for key, value in settings.items() if not key.startswith("_")}
    if not module.startswith(package) or any(isinstance(v, Mapping) for v in arguments.values()):
        raise InputError(f"the manifest's {target or 'settings'} cannot be loaded again")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError:
        found = None
    if not isinstance(found, type) or found.__module__ != module:
        raise InputError(f"the manifest's {target} is not a class of this project")
    return found(**arguments)
