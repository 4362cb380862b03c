"""`python -m eval COMMAND` and `memsys COMMAND`: run a command, or list all of them."""

import atexit
import gc
import sys
from pathlib import Path


def main() -> int:
    """Run the command named by the arguments; returns the exit code, 130 after Ctrl-C.

    A user's classes are imported from the working folder. It comes last, so that a file eval.py or
    a folder conf/ there replaces nothing.
    """
    program = "python -m eval" if sys.argv[0].endswith("__main__.py") else "memsys"
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    atexit.register(gc.freeze)  # or Python looks for garbage once more: .1 s
    try:
        from eval.cli import dispatch, seldom_collected  # noqa: PLC0415 - Ctrl-C may come before

        with seldom_collected():
            return dispatch(sys.argv[1:], program)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
