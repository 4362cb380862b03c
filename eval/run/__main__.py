"""`python -m eval.run`: run one experiment and print its scores; -m runs a sweep."""

from __future__ import annotations

import atexit
import gc
import sys

if __name__ == "__main__":
    atexit.register(gc.freeze)  # or Python looks for garbage once more: .1 s
    try:
        from eval.run.garbage import seldom_collected

        with seldom_collected():
            from eval.run.composing import main

            sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # before it was imported
        sys.exit(130)
