"""A folder with the pages of the site: only pages of score cards are replaced or removed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from eval.cards.site.board import board
from eval.cards.site.cards import Entry, protocols_of
from eval.cards.site.pages import INDEX, board_name, board_page, index_json, system_page
from eval.datasets.answer_key import KEYS
from memsys.core.errors import InputError
from memsys.core.files import shown

_CARDS = "cards"
_PAGE = re.compile(r"[a-z0-9-]+-[0-9a-f]{12}\.(html|json)")  # of eval.cards.site.cards


def build(entries: Sequence[Entry], out: Path, key: str, protocol: str) -> int:
    """Write the site to the folder `out` and return its number of files.

    index.html is the table under `key` and `protocol`. Equal cards give equal bytes. Raises
    InputError if there is no score under them, or if `out` is a folder of something else.
    """
    if all(one.score(key, protocol) is None for one in entries):
        raise InputError(f"--key {key} --protocol {protocol}: no card has an F1 there")
    if out.is_dir() and any(out.iterdir()) and not (out / "index.json").is_file():
        raise InputError(f"--out {shown(out)}: is a folder of something else; name a new one")
    names = {
        (a, b): board_name(a, b)
        for a, b in product(KEYS, protocols_of(entries))
        if any(one.score(a, b) for one in entries)
    }
    names[key, protocol] = INDEX
    files = {
        name: board_page(board(entries, *place), names).encode() for place, name in names.items()
    }
    files["index.json"] = index_json(entries).encode()
    for one in entries:
        files[f"{_CARDS}/{one.page}.html"] = system_page(one).encode()
        files[f"{_CARDS}/{one.page}.json"] = one.content
    (out / _CARDS).mkdir(parents=True, exist_ok=True)
    for old in (out / _CARDS).iterdir():
        if _PAGE.fullmatch(old.name) and f"{_CARDS}/{old.name}" not in files:
            old.unlink()
    for name, content in files.items():
        (out / name).write_bytes(content)
    return len(files)
