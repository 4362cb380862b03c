"""`python -m eval browse [RUN ...]`: runs in a browser: questions, conversations and the report."""

import argparse
from collections.abc import Sequence
from functools import partial

from eval.cli import add_cache, add_runs, code_of
from eval.cli import parser as command_parser
from eval.pages.browse.server import RunList, add_options, read_site, serve, show
from memsys.core.errors import InputError, check_number
from memsys.core.places import RUNS, find_run


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, or write a folder. Returns the exit code: 0, or 2 for invalid input."""
    parser = command_parser(
        "browse",
        description="Show runs in a browser on this machine: all questions with their answers and "
        "contexts, filtered by words, type, verdict and difference; the conversations with their "
        f"turns and scores; and the report. Without RUN: a list of all runs in {RUNS}.",
    )
    add_runs(parser, compared=True, optional=True)
    add_options(parser)
    add_cache(parser, ", whose prompts and replies the cards show")
    return code_of(lambda: _browse(parser.parse_args(arguments)))


def _browse(options: argparse.Namespace) -> None:
    check_number("--port", options.port, 0, 65535)
    folders = [find_run(name) for name in options.runs]
    if folders:
        show(options, folders, options.cache)
    elif options.out is not None:
        raise InputError("--out: name the runs to write")
    else:
        read = partial(read_site, cache=options.cache, listing="/")
        serve(options, lambda: RunList(RUNS, read).answer)
