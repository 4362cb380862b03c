"""The settings by which a data set is cut down, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memsys.errors import InputError


def check_limit(limit: Any) -> None:
    """Raises InputError unless `dataset.limit` is a number of questions, or None for all."""
    if limit is None:
        return
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InputError(f"dataset.limit={limit}: must be 1 or more, or null for all")


def check_names(option: str, given: Any, valid: Iterable[str]) -> None:
    """Raises InputError unless `dataset.<option>` is None or a list of `valid` names."""
    names = list(valid)
    if given is None:
        return
    if isinstance(given, str) or not isinstance(given, Sequence):  # a text: letter by letter
        raise InputError(f"dataset.{option}={given}: must be a list, as in [{names[0]}]")
    unknown = [name for name in given if name not in names]
    if unknown:
        shown = ", ".join(names[:10]) + (" ..." if len(names) > 10 else "")
        raise InputError(f"dataset.{option}: {unknown[0]!r} is not one of {shown}")
