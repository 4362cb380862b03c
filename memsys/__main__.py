"""`python -m memsys`: say how the commands are started."""

from __future__ import annotations

import sys

from memsys import __version__
from memsys.core.errors import complain

_BAD_INPUT = 2


def main() -> int:
    """Print the version and where the commands are; return 2 if a command was given."""
    hint = "the commands are started by `memsys COMMAND` or `python -m eval COMMAND`"
    if len(sys.argv) > 1:
        complain(f"python -m memsys takes no arguments; {hint}")
        return _BAD_INPUT
    print(f"memsys {__version__}: {hint}; `memsys` alone lists them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
