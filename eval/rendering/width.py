"""The width of a line on the terminal.

It is that of the variable COLUMNS, else of the terminal that stdout is. Where stdout is a pipe or a
file, and with --wide, it is unlimited: tables have one block, and no line is broken.
"""

from __future__ import annotations

import os
import shlex
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


def command_lines(text: str) -> str:
    """Return a command as the user enters it, indented. One that is wider than the terminal goes on
    after a backslash, by which a shell joins lines; not on Windows, whose shells do not.
    """
    text, width = as_started(text), terminal_width()
    lines = [" "]
    for word in map(shlex.quote, shlex.split(text)):
        if len(lines[-1]) + len(word) + 3 > (width or _UNLIMITED) and lines != [" "]:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return f"  {text}" if len(lines) == 1 or os.name == "nt" else "\n".join(lines)
