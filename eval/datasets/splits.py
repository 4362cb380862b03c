"""The conversations of LoCoMo and REALTALK on which parameters are chosen, and those on which they
are reported.

This is the only list of either: fitting reads `dev`, and data sets are filtered by `in_split`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from memsys.core.errors import InputError

SplitName = Literal["dev", "held_out"]
Splits = Mapping[SplitName, tuple[str, ...]]
LOCOMO: Splits = {
    "dev": ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43"),
    "held_out": ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50"),
}
REALTALK: Splits = {
    "dev": tuple(f"Chat_{number}" for number in range(1, 6)),
    "held_out": tuple(f"Chat_{number}" for number in range(6, 11)),
}


def in_split(
    name: SplitName | None, conversations: Sequence[str], splits: Splits, whole: str
) -> Sequence[str]:
    """Return those of the data's `conversations` that are in the split `name`, one of `splits`;
    None: all.

    Raises InputError if the data lacks a conversation of the split; `whole` says what it splits.
    """
    if name is None:
        return conversations
    present = set(conversations)
    if absent := [id_ for id_ in splits[name] if id_ not in present]:
        raise InputError(
            f"dataset.split={name}: the data has no {absent[0]}; splits are of {whole}, or "
            "dataset.split=null"
        )
    return [id_ for id_ in conversations if id_ in splits[name]]
