"""`python -m eval.run`: run one experiment and print its scores; -m runs a sweep."""

from __future__ import annotations

import sys

from eval.run.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
