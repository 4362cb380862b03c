"""`python -m eval COMMAND` and `memsys COMMAND`: run a command, or list all of them."""

from __future__ import annotations

import sys
from pathlib import Path

from eval.cli import dispatch


def main() -> int:
    """Run the command named by the arguments; returns the exit code."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # `recent.Recent` of a user is found, and hides no module of ours
    program = "python -m eval" if sys.argv[0].endswith("__main__.py") else "memsys"
    return dispatch(sys.argv[1:], "eval", program)


if __name__ == "__main__":
    sys.exit(main())
