"""Arguments under mem0's names: checked, and converted to ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from memsys.core.errors import InputError, check_choice
from memsys.service.records import MemoryKind, NoModelError, check_text

MemoryType = Literal["procedural_memory"]
Version = Literal["v1.1"]  # of the results: a dictionary with `results` and `relations`


def either(name: str, value: Any, other_name: str, other: Any) -> Any:
    """Return the one of two arguments of the same meaning that is given, None without any. Raises
    InputError if both are.
    """
    if value is not None and other is not None:
        raise InputError(f"{name}: give it or {other_name}, not both")
    return other if value is None else value


def check_kind(kind: MemoryKind, memory_type: MemoryType | None) -> MemoryKind:
    """Return the kind of memory, which `memory_type` names as mem0 does. Raises InputError on an
    unknown one.
    """
    check_choice("kind", kind, get_args(MemoryKind))
    if memory_type is None:
        return kind
    check_choice("memory_type", memory_type, get_args(MemoryType))
    return "procedural"


def check_version(version: Version | None) -> None:
    """Raises InputError on another version of the results than the present one."""
    if version is not None:
        check_choice("version", version, get_args(Version))


def check_query(query: str) -> None:
    """Raises InputError if `query` is no text."""
    if not isinstance(query, str):
        raise InputError("query: use text")
    check_text(query, "query")


def check_prompt(prompt: str | None, writes: bool) -> None:
    """Raises InputError if `prompt` is no text, NoModelError if no model `writes`."""
    if prompt is None:
        return
    if not isinstance(prompt, str) or not prompt.strip():
        raise InputError("prompt: use text that is not empty")
    check_text(prompt, "prompt")
    if not writes:
        raise NoModelError("prompt: no model writes these messages; add with infer=True")


def path_of(value: object, name: str) -> Path:
    """Return a path of the user, with ~ replaced. Raises InputError naming `name` unless it is a
    text or a path, of a user of this machine.
    """
    try:
        return Path(value).expanduser()  # type: ignore[arg-type]
    except (TypeError, RuntimeError) as error:
        raise InputError(f"{name}: {value!r:.60}; use a path ({error})") from error


def check_id(memory_id: object) -> str:
    """Return the id of a memory; raises InputError unless it is a text."""
    if not isinstance(memory_id, str):
        raise InputError(f"memory_id: {memory_id!r:.60}; use the id of a memory, a text")
    return memory_id
