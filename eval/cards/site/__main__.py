"""`python -m eval site CARDS [CARDS ...] --out FOLDER`: a static site of score cards."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cards.site.build import build
from eval.cards.site.cards import read_entries
from eval.cli import code_of, parser
from eval.datasets.answer_key import KEYS
from eval.metrics.protocols import PROTOCOLS


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the site; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _write(options))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "site",
        "Write a static site of score cards: tables of comparable systems by protocol and answer "
        "key, and a page for each card with the command that verifies it.",
    )
    add = command.add_argument
    add("cards", nargs="+", type=Path, metavar="CARDS", help="score card, or folder of them")
    add("--out", type=Path, required=True, metavar="FOLDER", help="the site is written there")
    first = "of the first page (default: %(default)s)"
    add("--protocol", choices=list(PROTOCOLS), default="mem0", help=f"protocol {first}")
    add("--key", choices=KEYS, default="original", help=f"answer key {first}")
    return command


def _write(options: argparse.Namespace) -> None:
    entries = read_entries(options.cards)
    count = build(entries, options.out, options.key, options.protocol)
    print(f"{len(entries)} cards; {count} files written to {options.out}: open index.html there")


if __name__ == "__main__":
    sys.exit(main())
