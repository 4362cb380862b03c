"""The notebooks run on the sample, and their committed outputs are clean."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib import pyplot
from nbformat import NotebookNode

from tests.docs.conftest import cache, quick
from tests.docs.test_commands_run import start
from tests.eval.commands import last_of_each

__all__ = ["cache", "quick"]  # fixtures

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "notebooks"))

from refresh import ALL, badged, clean, executed, repository, sample_alone  # noqa: E402 - a script, no package

LOCOMO = PROJECT / os.environ.get("MEMSYS_SHARED", "../shared") / "locomo" / "locomo10.json"
LARGEST = 200_000  # bytes
PROCESS = subprocess.run
SMALL = ["dataset.limit=15", "resamples=20"]  # of the sample: questions of each conversation
FEW = ["dataset.conversations=1", "dataset.sessions=4", "dataset.turns=8", "dataset.updates=1"]
# Folders of a machine; names of LoCoMo's conversations.
TELLTALE = re.compile(r"/(home|root|work|tmp|Users|var|opt|usr|mnt)/|[A-Z]:\\\\|conv-\d+")
each = pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)


def outputs(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Kind and text of every output, pictures aside."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                yield output.name, output.text
            else:
                for kind, text in output.get("data", {}).items():
                    if not kind.startswith("image/"):
                        yield kind, text


def answer(notebook: NotebookNode) -> str:
    """Text that the last cell prints."""
    return "".join(output.text for output in notebook.cells[-1].outputs)


@each
def test_it_asks_a_question_reads_shipped_results_and_computes_the_answer(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert "**Question.**" in notebook.cells[0].source
    assert notebook.cells[-2].source == "## Answer"
    assert answer(notebook).count("\n") >= 3
    tree = ast.parse(notebook.cells[-1].source)
    fixed = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = [value for value in fixed if isinstance(value, str)]
    assert not [text for text in texts if re.search(r"\d\.\d{2,}", text)]  # no figure by hand
    source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert "api.table(" in source
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).partition(".")[0])
    assert names - set(sys.stdlib_module_names) <= {"eval", "matplotlib", "pandas", "yaml"}
    # Its link to Colab is that of the repository.
    first = notebook.cells[0].source
    assert badged(notebook, path.name, repository()).cells[0].source == first
    linked = badged(notebook, path.name, "https://github.com/some/where").cells[0].source
    assert f"/github/some/where/blob/main/notebooks/{path.name})" in linked.splitlines()[0]
    assert badged(notebook, path.name, None).cells[0].source.startswith("# ")


@each
def test_what_is_committed_is_small_and_clean(path):
    assert path.stat().st_size < LARGEST
    stored = nbformat.read(path, as_version=4)
    assert json.dumps(clean(nbformat.read(path, as_version=4))) == json.dumps(stored)
    for cell in stored.cells:
        if cell.cell_type == "code":
            assert cell.execution_count
    for kind, text in outputs(stored):
        assert kind != "stderr", text
        assert not TELLTALE.search(text), text
    assert '"image/png"' in json.dumps(stored)


@each
@pytest.mark.skipif(not LOCOMO.is_file(), reason="LoCoMo is not here: set MEMSYS_SHARED")
def test_no_text_of_locomo_is_committed(path):
    shown = " ".join(text for _, text in outputs(nbformat.read(path, as_version=4))).lower()
    for sample in json.loads(LOCOMO.read_text(encoding="utf-8")):
        for asked in sample["qa"]:
            for field in ("question", "answer", "adversarial_answer"):
                text = str(asked.get(field, "")).lower()
                assert len(text) < 20 or text not in shown


def test_cleaning_takes_away_times_kernels_and_stderr():
    cell = nbformat.v4.new_code_cell("1", metadata={"execution": {"iopub.status.busy": "2024"}})
    cell.outputs = [
        nbformat.v4.new_output("stream", name="stderr", text="recorded in /mine"),
        nbformat.v4.new_output("display_data", {"text/plain": "1"}, metadata={"a": 1}),
    ]
    kernel = {"display_name": "mine", "language": "python", "name": "mine", "argv": "/usr/bin"}
    found = clean(nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel}))
    text = json.dumps(found)
    assert "2024" not in text
    assert "mine" not in text
    assert found.cells[0].outputs[0].metadata == {}


@pytest.mark.slow
@each
def test_it_runs_on_the_sample(path, monkeypatch):
    notebook = nbformat.read(path, as_version=4)
    shell = InteractiveShell()
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(subprocess, "run", in_this_process)
    for name, value in sample_alone().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MEMSYS_RUNS", raising=False)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            with capture_output() as written:
                shell.run_cell(cell.source).raise_error()
            pyplot.close("all")
            assert not written.stderr
    assert written.stdout.count("\n") >= 3


def in_this_process(command: list[str], **options: Any) -> Any:
    """Do what a cell starts as a Python process: with the modules loaded, and on small data."""
    if command[:2] != [sys.executable, "-m"]:
        return PROCESS(command, **options)
    words = command[2:]
    if words[0] == "eval.run":
        words = last_of_each([*words, *(FEW if "dataset=synthetic" in words else SMALL)])
    code, output = start(Path(options["cwd"]), words)
    assert code == 0, output
    return None


@pytest.mark.slow
def test_refresh_saves_the_outputs_of_a_kernel_under_the_given_environment(tmp_path):
    path = tmp_path / "some.ipynb"
    cell = nbformat.v4.new_code_cell("import os; print(os.environ['SOME_NAME'])")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    notebook = executed(path, sample_alone() | {"SOME_NAME": "some value"})
    assert answer(notebook) == "some value\n"
    assert [one.source for one in notebook.cells] == [cell.source]
