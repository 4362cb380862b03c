"""The conversations of LoCoMo on which parameters are chosen, and those on which they are reported.

This is the only list of either: fitting reads DEV, and data sets are filtered by `in_split`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memsys.core.errors import InputError

DEV = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43")
HELD_OUT = ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50")
SPLITS: Mapping[str, tuple[str, ...]] = {"dev": DEV, "held_out": HELD_OUT}


def in_split(name: str | None, conversations: Sequence[str]) -> Sequence[str]:
    """Return those of the data's `conversations` that are in the split `name`, one of SPLITS; None:
    all.

    Raises InputError if the data lacks a conversation of the split.
    """
    if name is None:
        return conversations
    known = set(conversations)
    if absent := [one for one in SPLITS[name] if one not in known]:
        raise InputError(
            f"dataset.split={name}: the data has no {absent[0]}; splits are of LoCoMo's ten "
            "conversations: use its file, or dataset.split=null"
        )
    return [one for one in conversations if one in SPLITS[name]]
