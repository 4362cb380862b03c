"""`python -m eval demo`: shipped runs in a browser, without a run, a key or a download."""

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of, parser
from eval.pages.browse.server import add_options, has_display, show
from eval.records.manifest import load_manifest
from memsys.core.errors import InputError, check_number
from memsys.core.files import read_bytes, shown, unpack
from memsys.core.places import MANIFEST, SHIPPED

DEMO = SHIPPED / "results" / "demo"  # run folders whose JSON lines are gzipped
_GZIPPED = ".gz"
_NOTE = (
    "Shipped runs on the bundled sample, whose conversations were written for this project; no "
    "model was asked. Runs of your own: python -m eval.run strategy=graph_expand, then python -m "
    "eval browse."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, or write a folder. Returns the exit code: 0, or 2 for invalid input."""
    command = parser(
        "demo",
        "Show shipped runs on the bundled sample in a browser, as memsys browse shows yours: all "
        "questions with answers and contexts, the conversations, and the report.",
    )
    add_options(command, open_it=has_display())
    return code_of(lambda: _show(command.parse_args(arguments)))


def _show(options: argparse.Namespace) -> None:
    check_number("--port", options.port, 0, 65535)
    with tempfile.TemporaryDirectory(prefix="memsys-demo-") as folder:
        show(options, unpack_runs(Path(folder)), None, _NOTE)


def unpack_runs(into: Path) -> list[Path]:
    """Copy the shipped runs into a folder, with unpacked files, and return their new places, the
    run begun first first; InputError if there are none.
    """
    for path in DEMO.glob("*/*"):
        target = into / path.parent.name / path.name.removesuffix(_GZIPPED)
        target.parent.mkdir(exist_ok=True)
        if path.suffix == _GZIPPED:
            target.write_bytes(unpack(read_bytes(path), path))
        else:
            shutil.copyfile(path, target)
    runs = [path.parent for path in into.glob(f"*/{MANIFEST}")]
    if not runs:
        raise InputError(f"{shown(DEMO)}: holds no runs; install memsys again")
    return sorted(runs, key=lambda folder: load_manifest(folder)["started"])
