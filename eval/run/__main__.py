"""`python -m eval.run`: run one experiment and print its scores; -m runs a sweep."""

import atexit
import gc
import sys


def main() -> int:
    """Run what the arguments say; return the exit code, 130 after Ctrl-C during an import."""
    atexit.register(gc.freeze)  # or Python looks for garbage once more: .1 s
    try:
        from eval.cli import seldom_collected  # noqa: PLC0415 - which Ctrl-C may interrupt

        with seldom_collected():
            from eval.run.composing import main as run  # noqa: PLC0415

            return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
