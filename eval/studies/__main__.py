"""`python -m eval.studies`: the studies behind single tables and figures of the docs."""

from __future__ import annotations

import sys

from eval.cli import dispatch


def main() -> int:
    """Run the study named by the arguments, or list all studies; return the exit code."""
    return dispatch(sys.argv[1:], "eval.studies", "python -m eval.studies")


if __name__ == "__main__":
    sys.exit(main())
