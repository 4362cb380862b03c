"""`python notebooks/refresh.py [NOTEBOOK ...]`: execute notebooks on the sample, store them clean.

Stored are cells and outputs alone: no times, no machine's paths, no text of another data set.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
ALL = sorted(HERE.glob("*.ipynb"))
TIMEOUT_S = 300  # of a cell
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def executed(path: Path, environment: Mapping[str, str]) -> NotebookNode:
    """The notebook at `path` with the outputs of a fresh kernel under `environment`, clean.

    Raises nbclient's CellExecutionError where a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(HERE)}},
        record_timing=False,
    )
    client.execute(env=dict(environment))
    return clean(notebook)


def clean(notebook: NotebookNode) -> NotebookNode:
    """The notebook without what only tells when and where it was executed."""
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = NotebookNode()
    return notebook


def sample_alone() -> dict[str, str]:
    """The environment without runs of one's own and without data outside of the project."""
    kept = {name: value for name, value in os.environ.items() if name != "MEMSYS_RUNS"}
    return kept | {"MEMSYS_SHARED": "no-data-outside-the-project"}


def main() -> int:
    """Refresh and tell the seconds that each took."""
    parser = argparse.ArgumentParser(prog="python notebooks/refresh.py", description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    for path in parser.parse_args().notebooks or ALL:
        began = time.perf_counter()
        nbformat.write(executed(path, sample_alone()), path)
        print(f"{path.name}: {time.perf_counter() - began:.1f} s, {path.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
