"""`python -m eval.browse RUN [RUN ...]`: the report and all questions of runs, in a browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.browse.calls import RecordedCalls
from eval.browse.questions import Questions
from eval.browse.server import LOOPBACK, Site, bind
from eval.cli import add_runs, code_of
from eval.cli import parser as command_parser
from eval.report.runs import load, missing_texts
from memsys.errors import InputError
from memsys.places import cache_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C and return the exit code: 0 after Ctrl-C, 2 for invalid input."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _browse(options))


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "browse",
        description="Show runs in a browser on this machine: the report, and all questions with "
        "their answers and contexts, filtered by words, type, verdict and difference.",
    )
    add_runs(parser, compared=True)
    parser.add_argument(
        "--port", type=int, default=8750, metavar="N", help="0: any free port (default: 8750)"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder(),
        metavar="FOLDER",
        help="folder of recorded answers, whose prompts and replies the cards show (default: the "
        f"variable MEMSYS_CACHE, else {cache_folder()})",
    )
    return parser


def _browse(options: argparse.Namespace) -> None:
    if not 0 <= options.port <= 65535:
        raise InputError(f"--port {options.port}: use 0 to 65535")
    runs = load(options.runs)
    for sentence in missing_texts(runs):
        print(f"note: {sentence}")
    with bind(Site(Questions(runs, RecordedCalls(options.cache))), options.port) as server:
        print(f"http://{LOOPBACK}:{server.server_address[1]}/ (Ctrl-C stops it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()  # after the ^C of the terminal


if __name__ == "__main__":
    sys.exit(main())
