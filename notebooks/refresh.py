"""`python notebooks/refresh.py [NOTEBOOK ...]`: execute notebooks on the sample and save them.

Only cells and outputs are saved: no times, no paths, no text of another data set.
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
    """Return the notebook at `path` with the outputs of a new kernel under `environment`, cleaned.

    Raises nbclient's CellExecutionError if a cell fails.
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
    """Remove what depends on the time and place of execution from `notebook`, and return it."""
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = NotebookNode()
    return notebook


def sample_alone() -> dict[str, str]:
    """Return the environment without the user's runs and without data outside the project."""
    others = {name: value for name, value in os.environ.items() if name != "MEMSYS_RUNS"}
    return others | {"MEMSYS_SHARED": "no-data-outside-the-project"}


def main() -> int:
    """Refresh the notebooks and print the seconds of each; return the exit code."""
    parser = argparse.ArgumentParser(prog="python notebooks/refresh.py", description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    for path in parser.parse_args().notebooks or ALL:
        began = time.perf_counter()
        nbformat.write(executed(path, sample_alone()), path)
        print(f"{path.name}: {time.perf_counter() - began:.1f} s, {path.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
