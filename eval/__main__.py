"""`python -m eval COMMAND` and `memsys COMMAND`: run a command, or list all of them."""

from __future__ import annotations

import sys

from eval.cli import dispatch


def main() -> int:
    """Run the command named by the arguments; returns the exit code."""
    program = "python -m eval" if sys.argv[0].endswith("__main__.py") else "memsys"
    return dispatch(sys.argv[1:], "eval", program)


if __name__ == "__main__":
    sys.exit(main())
