"""Arguments of the operations: checked, and those under mem0's names converted to ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from memsys.core.errors import InputError, check_choice
from memsys.core.relative_dates import iso_date
from memsys.core.turns import importance
from memsys.service.owners import (
    MemoryKind,
    NoModelError,
    Owner,
    check_owner_id,
    check_text,
    naive,
)

MemoryType = Literal["procedural_memory"]
METADATA_DEPTH = 20  # nested lists and objects
METADATA_BYTES = 65_536  # as JSON in UTF-8
TITLE_MOST = 256  # characters
NOT_EMPTY = "use text that is not empty"
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


def narrowed(owner: Owner, filters: Mapping[str, Any] | None) -> tuple[Owner, dict[str, Any]]:
    """Return the owner and the metadata that results must have. Ids may be among the `filters`, as
    in mem0. Raises InputError on an invalid value, without an id, or if one is given twice.
    """
    rest = check_metadata(filters, "filters")
    ids = {name: rest.pop(name) for name in asdict(owner) if name in rest}
    for name, value in ids.items():
        if value is None:  # would widen what is found
            raise InputError(f"filters.{name}: null; use text, or leave it out")
        if name in owner.named:
            raise InputError(f"filters.{name}: give it here or as {name}, not both")
        check_owner_id(value, f"filters.{name}")
    return replace(owner, **ids).check(), rest


def check_version(version: Version | None) -> None:
    """Raises InputError on another version of the results than the present one."""
    if version is not None:
        check_choice("version", version, get_args(Version))


def check_prompt(prompt: str | None, writes: bool) -> None:
    """Raises InputError if `prompt` is no text, NoModelError if no model `writes`."""
    if prompt is None:
        return
    check_text(prompt.strip() if isinstance(prompt, str) else prompt, "prompt", NOT_EMPTY, 1)
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
    """Return the id of a memory; raises InputError unless it is a text of valid Unicode."""
    return check_text(memory_id, "memory_id", f"{memory_id!r:.60}; use the id of a memory, a text")


def check_metadata(metadata: Mapping[str, Any] | None, name: str = "metadata") -> dict[str, Any]:
    """Return a copy of `metadata`. Raises InputError unless it is a JSON object that is nested at
    most 20 deep and has at most 65,536 bytes.
    """
    value = metadata if metadata is not None else {}
    try:
        if not isinstance(value, Mapping) or any(not isinstance(key, str) for key in value):
            raise TypeError("use an object whose names are text")
        text = check_text(json.dumps(dict(value), ensure_ascii=False, allow_nan=False), name)
        copy: dict[str, Any] = json.loads(text)
        too_deep = _nested_deeper(copy, METADATA_DEPTH)
    except RecursionError:
        too_deep = True
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: not a JSON object ({error})") from error
    if too_deep:
        raise InputError(f"{name}: nested more than {METADATA_DEPTH} deep")
    if len(text.encode()) > METADATA_BYTES:
        raise InputError(f"{name}: over {METADATA_BYTES:,} bytes; store less")
    return copy


def check_fields(
    text: str | None,
    metadata: Mapping[str, Any] | None,
    time: datetime | None,
    title: str | None,
    event_time: str | None,
) -> dict[str, Any]:
    """Return the fields of a record that an update replaces (None: unchanged). Raises InputError on
    an invalid value, or if none is given.
    """
    fields: dict[str, Any] = {}
    if text is not None:
        fields["memory"] = check_text(text, "text", NOT_EMPTY, 1)
        fields["importance"] = importance(text)
    if title is not None:
        remedy = f"use text of at most {TITLE_MOST} characters"
        fields["title"] = check_text(title, "title", remedy, most=TITLE_MOST)
    if metadata is not None:
        fields["metadata"] = check_metadata(metadata)
    if time is not None:
        fields["time"] = naive(time)
    if event_time is not None:
        date = iso_date(event_time) if isinstance(event_time, str) else None
        if date is None and event_time != "":
            raise InputError(
                f"event_time: {event_time!r:.40}; use ISO 8601 (2031, 2031-05, 2031-05-02 or "
                "2031-05-02/2031-05-08), or an empty text for no date"
            )
        fields["event_time"] = date
    if not fields:
        raise InputError("update: give text, metadata, time, title or event_time")
    return fields


def _nested_deeper(value: Any, most: int) -> bool:
    """Return whether `value` has more than `most` dicts and lists within each other."""
    level = [value]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return False
        level = [x for one in level for x in (one.values() if isinstance(one, dict) else one)]
    return True
