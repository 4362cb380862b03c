"""`python notebooks/refresh.py [NOTEBOOK ...]`: execute notebooks on the sample and save them.

Only cells and outputs are saved: no times, no paths, no text of another data set. Each notebook
begins with a link that opens it in Colab, if pyproject.toml names a repository on GitHub.
"""

import argparse
import os
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
ALL = sorted(HERE.glob("*.ipynb"))
TIMEOUT_S = 900  # of a cell, on a busy machine
COLAB = "https://colab.research.google.com"
COLAB_BADGE = f"{COLAB}/assets/colab-badge.svg"
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
        coalesce_streams=True,  # else it depends on the moment how stdout is divided
    )
    client.execute(env=dict(environment))
    return clean(notebook)


def clean(notebook: NotebookNode) -> NotebookNode:
    """Remove what depends on the time and place of execution from `notebook`, and return it: also
    stderr, where runs print their progress and folders.
    """
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = NotebookNode()
    return notebook


def badged(notebook: NotebookNode, name: str, repository: str | None) -> NotebookNode:
    """Put the link to Colab of the notebook `name` above its title, in place of an earlier one;
    none if `repository` is not an address on GitHub.
    """
    first = notebook.cells[0]
    title = first.source[first.source.index("# ") :]
    _, on_github, path = (repository or "").rstrip("/").partition("https://github.com/")
    target = f"{COLAB}/github/{path}/blob/main/notebooks/{name}"
    badge = f"[![Open in Colab]({COLAB_BADGE})]({target})\n\n" if on_github else ""
    first.source = badge + title
    return notebook


def repository() -> str | None:
    """Return the address of the repository that pyproject.toml names; None if it names none."""
    text = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
    urls = tomllib.loads(text)["project"].get("urls", {})
    return next((urls[name] for name in urls if name.lower() in {"repository", "source"}), None)


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
        notebook = executed(path, sample_alone())
        nbformat.write(badged(notebook, path.name, repository()), path)
        print(f"{path.name}: {time.perf_counter() - began:.1f} s, {path.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
