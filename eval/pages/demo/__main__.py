"""`python -m eval demo`: shipped runs in a browser, without a run, a key or a download."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of, parser
from eval.pages.browse import serving
from eval.pages.demo.shipped import shipped_runs, unpack_runs

_NOTE = (
    "Shipped runs on the bundled sample, whose conversations were written for this project; no "
    "model was asked. Runs of your own: python -m eval.run strategy=graph_expand, then python -m "
    "eval browse."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, or write a folder. Returns the exit code: 0, or 2 for invalid input."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _show(options))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "demo",
        "Show shipped runs on the bundled sample in a browser, as memsys browse shows yours: all "
        "questions with answers and contexts, the conversations, and the report.",
    )
    serving.add_options(command, open_it=serving.has_display())
    return command


def _show(options: argparse.Namespace) -> None:
    serving.check_port(options.port)
    with tempfile.TemporaryDirectory(prefix="memsys-demo-") as folder:
        runs = unpack_runs(shipped_runs(), Path(folder))
        if options.out is None:
            serving.serve_runs(runs, None, options.port, open_it=options.open, note=_NOTE)
        else:
            serving.write_runs(runs, None, options.out, note=_NOTE)


if __name__ == "__main__":
    sys.exit(main())
