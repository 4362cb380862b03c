"""`python -m eval.studies.reference`: docs/options.md and docs/python-api.md from conf and code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of, parser
from eval.studies.reference import options, python_api

DOCS = Path(__file__).parents[3] / "docs"
PAGES = {"options.md": options.page, "python-api.md": python_api.page}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages and return the exit code."""
    command = parser(
        "studies.reference",
        "Write the pages of the reference that follow from the code: the options of conf, and the "
        "signatures and docstrings of the Python interface.",
    )
    command.add_argument("--out", type=Path, default=DOCS, metavar="FOLDER", help="default: docs")
    chosen = command.parse_args(arguments)
    return code_of(lambda: _write(chosen))


def _write(chosen: argparse.Namespace) -> None:
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        path = chosen.out / name
        path.write_text(page(), encoding="utf-8")
        print(f"written: {path}")


if __name__ == "__main__":
    sys.exit(main())
