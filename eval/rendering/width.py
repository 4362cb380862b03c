"""The width of a line on the terminal.

It is that of the variable COLUMNS, else of the terminal that stdout is. Where stdout is a pipe or a
file, and with --wide, it is unlimited: tables have one block, and no line is broken.
"""

from __future__ import annotations

import os
import shutil
from textwrap import fill

from memsys.core.program import as_started

_UNLIMITED = 100_000  # characters


def terminal_width() -> int | None:
    """Return the characters of a line; None if there is no limit."""
    width = shutil.get_terminal_size((_UNLIMITED, 0)).columns
    return None if width >= _UNLIMITED else width


def widen() -> None:
    """Print without a limit from here on, in this process and in those that it starts."""
    os.environ["COLUMNS"] = str(_UNLIMITED)


def sentence(text: str, most: int | None = None) -> str:
    """Return `text` with lines of the terminal's width, and of at most `most` characters, and with
    commands as the user enters them.
    """
    text = as_started(text)
    limits = [limit for limit in (terminal_width(), most) if limit is not None]
    return (
        fill(text, min(limits), break_long_words=False, break_on_hyphens=False) if limits else text
    )
