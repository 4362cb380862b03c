"""The project as a whole: versions that agree, systems that it can be imported on, the wheel."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import yaml

from eval.__main__ import main as commands
from tests.eval.conftest import cache

ROOT = Path(__file__).parents[1]
POSIX = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "posix_ipc")
EXTRAS = ("mcp", "mcp_types", "neo4j", "qdrant_client", "qdrant_edge")
IMPORTED = (
    *("eval.cli", "eval.run.composing", "eval.records.folder", "memsys.llm.recording"),
    *("memsys.service.__main__", "memsys.service.rest.app"),
)
STORES = """
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
FaissVectors(), NetworkxRelations()
"""


def _python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], "MIT")


def test_commands_service_and_default_stores_do_without_extras_and_modules_of_posix():
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "eval").rglob("__main__.py"))
    ]
    code = f"import sys; sys.modules.update(dict.fromkeys({POSIX + EXTRAS}))\n"
    code += "".join(f"import {name}\n" for name in (*IMPORTED, *modules)) + STORES
    ended = _python("-c", code)
    assert ended.returncode == 0, ended.stderr


def test_help_and_refusals_import_nothing_that_only_runs_need():
    code = """
import sys
from eval.run.composing import main
sys.argv = ["python -m eval.run"]
for arguments in (["--help"], ["--cfg", "job"], ["k=0"]):
    try:
        main(arguments)
    except SystemExit:
        pass
print(*sys.modules, file=sys.stderr)
"""
    ended = _python("-c", code)
    imported = ended.stderr.splitlines()[-1].split()
    own = [name for name in imported if name.partition(".")[0] in {"eval", "baselines", "memsys"}]
    assert "eval.run.composing" in own
    assert len(own) <= 20, own
    assert len(imported) <= 550, imported
    assert not {*imported} & {"faiss", "numpy", "pandas", "scipy", "sqlite3", "tqdm"}


RUN_NEEDS_NOT = (
    *("eval.datasets.beir", "eval.datasets.synthetic", "jsonschema", "matplotlib", "networkx"),
    *("onnxruntime", "pandas", "pyarrow", "scipy.sparse", "scipy.stats"),
)


def test_a_run_imports_no_other_data_sets_and_no_library_that_it_does_not_need(tmp_path):
    code = f"""
import sys
from eval.run.composing import main
assert main(["strategy=no_memory", "questions=2", {f"hydra.run.dir={tmp_path / 'run'}"!r}]) == 0
print(*sys.modules)
"""
    ended = _python("-c", code)
    assert ended.returncode == 0, ended.stderr
    imported = ended.stdout.splitlines()[-1].split()
    assert [name for name in RUN_NEEDS_NOT if name in imported] == []
    assert len(imported) <= 950


def test_a_command_finds_the_modules_of_the_working_folder_last(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["memsys"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    for _ in range(2):
        assert commands() == 0
        assert sys.path.index(str(tmp_path)) == len(sys.path) - 1
    assert "run" in capsys.readouterr().out


@pytest.mark.parametrize(("program", "first"), [("eval", "cli"), ("eval/run", "run.composing")])
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(program, first, monkeypatch):
    class Interrupted:
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, f"eval.{first}", Interrupted())
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / program / "__main__.py"), run_name="__main__")
    assert ended.value.code == 130


def test_make_help_lists_every_target_that_a_user_names():
    command = ["make", "--no-print-directory", "help"]  # make test may have started this
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    listed = {line.split()[0] for line in process.stdout.splitlines()}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = next(line for line in makefile.splitlines() if line.startswith(".PHONY: "))
    assert listed == set(phony.split()[1:])


def test_the_devcontainer_the_hooks_and_what_an_image_leaves_out_are_valid():
    json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in hooks["repos"][0]["hooks"]} >= {"ruff", "ruff-format", "mypy"}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    unversioned = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    fetched = {line for line in unversioned if line.startswith("data/")}
    assert fetched  # data that may not be redistributed
    assert fetched <= set(ignored)


def test_every_installation_is_announced_and_shows_its_progress():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    steps = [number for number, line in enumerate(lines) if line.startswith("\t@$(INSTALL)")]
    steps += [number for number, line in enumerate(lines) if "bin/python .ci/install -" in line]
    assert len(steps) >= 6
    for number in steps:
        before = "\n".join(lines[number - 2 : number])
        assert '@echo "Installing ' in before, lines[number]
    assert not any("pip install --quiet" in line for line in lines)


def test_an_installation_ends_with_the_code_and_the_error_of_pip(tmp_path):
    ended = _python(ROOT / ".ci" / "install", tmp_path / "missing.whl")
    assert ended.returncode == 1
    assert "missing.whl" in ended.stderr


__all__ = ["cache"]  # a fixture
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "conf", "data", "results")
FETCHED = "answer_key_errors.json"  # a name that the user's copy of a data set has
LEAST = (77, 0)  # of setuptools: pyproject.toml requires it

try:
    _FOUND = tuple(int(part) for part in version("setuptools").split(".")[:2])
except PackageNotFoundError:
    _FOUND = (0,)
needs_setuptools = pytest.mark.skipif(_FOUND < LEAST, reason="pip install 'setuptools>=77'")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of this project; of git's files only the package's are taken."""
    place = tmp_path_factory.mktemp("wheel")
    leave = shutil.ignore_patterns("__pycache__", "runs")
    for name in (*SOURCES, "memsys", "baselines", "eval"):
        source, target = ROOT / name, place / "copy" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=leave)
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)
    (place / "copy" / "data" / FETCHED).write_text("[]")
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--quiet"]
    command += ["--wheel-dir", str(place), str(place / "copy")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (found,) = place.glob("memsys-*.whl")
    return found


@needs_setuptools
def test_it_contains_the_files_that_commands_read_and_no_fetched_data(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("conf", "data/sample", "data/overlays", "data/evidence", "results/expected"):
        here = {path for path in (ROOT / folder).rglob("*.*") if "py" not in path.suffix}
        shipped = {f"memsys/shipped/{path.relative_to(ROOT).as_posix()}" for path in here}
        assert shipped
        assert shipped <= names, folder
    assert "memsys/shipped/data/sources.yaml" in names
    assert any(name.startswith("memsys/shipped/results/tables/") for name in names)
    assert not any(FETCHED in name or "locomo10" in name for name in names)
    tops = {name.partition("/")[0].partition("-")[0] for name in names}
    assert tops == {"memsys", "eval", "baselines"}


@needs_setuptools
def test_its_commands_run_without_a_clone_beside_files_of_the_same_names(wheel, cache, tmp_path):
    site, program = tmp_path / "site", tmp_path / "memsys"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    (entries,) = site.glob("memsys-*.dist-info/entry_points.txt")
    module, name = re.search(r"^memsys = (.+):(.+)$", entries.read_text(), re.MULTILINE).groups()
    program.write_text(f"import sys\nfrom {module} import {name}\nsys.exit({name}())\n")
    ended = subprocess.run(
        [sys.executable, ROOT / ".ci" / "try-wheel", sys.executable, program],
        env=os.environ | {"PYTHONPATH": str(site), "MEMSYS_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "complete without a clone" in ended.stdout, ended.stdout
